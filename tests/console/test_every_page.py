"""Every page, also those that come later: whatever people wrote is text, and nobody is kept out."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from tacit.console.app import PAGE_GROUPS
from tacit.console.labels import excerpt
from tacit.console.site import PageAccess
from tests.console.asking import Caller
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, BOB, OPERATOR, TEAM, person, seed
from tests.console.watching import faults, is_wider_than_its_window

ODD = (
    "<script>document.title='owned'</script>",
    '<img src=x onerror="document.title=1"><iframe src="https://elsewhere.example"></iframe>',
    "<b class=live>bold</b> **bold** [here](https://elsewhere.example) {{ 7 * 7 }} {% raw %}",
    "\u202egnp.exe\u202c \u2067right to left\u2069 \u05e9\u05dc\u05d5\u05dd",
    "w" * 2_000,
    "</ul></main><form action=https://elsewhere.example><input name=words>",
)
ODD_NAME = "<img src=x onerror=document.title=1>&amp;" + "w" * 80
LIVE = "main script, main img, iframe, b, .live, [action*=elsewhere], [href*=elsewhere]"
DRAWN = ".canvas:not([aria-busy])[data-drawn]"
# Further addresses of pages that show more when asked.
QUERIES = {
    "/": ["?state=any&words=script"],
    "/visibility": [f"?room={TEAM}", f"?room={TEAM}&by={ALICE}", f"?by={BOB}&question=script"],
    "/prompt": ["?query=script"],
    "/memories/{id}/visibility": ["?visibility=public_ok"],
    "/people/{id}": ["/merge?into={other}"],
}


@pytest.fixture(scope="module")
def odd(serving: World) -> World:
    """Where everything is called and worded so that it could break a page."""
    one = replace(serving, memory=serving.memory.space("odd"))
    seed(one.memory)
    alice = person(one.memory, ALICE)
    for words in ODD:
        alice.remember(words, category="fact", visibility="public_ok", tags=["<b class=live>"])
    alice.remember(f"Dora is {ODD_NAME}", category="fact", about=["Dora"])
    for who in (BOB, "Dora"):
        alice.people.name(who, ODD_NAME)
    alice.put("preference", "drink", ODD[1])
    alice.proposals.propose_public("preference", "drink")
    id = alice.remember("Something else", category="fact").id
    alice.update(id, "\n".join(ODD))
    one.memory.operator("<b>ada</b>").show(id)
    one.memory.keys.create("<b>bot</b> & co", scopes=["read", "act-as"])
    return one


def addresses(world: World, *, operator: bool) -> list[str]:
    """Of all pages that the visitor may open."""
    alice = person(world.memory, ALICE)
    dora, other = (
        next(one.id for one in alice.people.list() if name in {n.text for n in one.names}) for name in ("Dora", "Bob")
    )
    memory = next(one.id for one in alice.list() if ODD[0] in one.content)
    key = world.memory.keys.list()[0].id
    refused = PageAccess.PERSON if operator else PageAccess.OPERATOR
    found = []
    for page in (page for group in PAGE_GROUPS for page in group.routes):
        if page.method == "GET" and page.who is not refused:
            id = {"people": dora, "keys": key}.get(page.path.split("/")[1], memory)
            paths = [page.path, *(page.path + more for more in QUERIES.get(page.path, ()))]
            found += [path.replace("{id}", id).replace("{other}", other) for path in paths]
    return found


@pytest.mark.parametrize("phone", [False, True], ids=["desk-light", "phone-dark"])
@pytest.mark.parametrize("operator", [False, True], ids=["person", "operator"])
def test_every_page_shows_text_and_keeps_nobody_out(
    odd: World, visiting: Callable[[World], Visit], phone: bool, operator: bool
) -> None:
    whose = {"operator": OPERATOR} if operator else {"person": ALICE}
    page = visiting(odd)("/sign-in", **whose, phone=phone, dark=phone)  # type: ignore[arg-type]
    for path in addresses(odd, operator=operator):
        page.goto(path)
        if path == "/graph":
            page.wait_for_selector(DRAWN)
        assert page.title().endswith(" · Tacit"), path
        assert page.locator(LIVE).count() == 0, path
        assert faults(page) == [], path
        assert not is_wider_than_its_window(page), path
        if phone and page.locator(".columns").count():
            shown, kept = (page.get_by_role("region", name=name).bounding_box() for name in ("Shown", "Withheld"))
            assert shown is not None
            assert kept is not None
            assert kept["y"] >= shown["y"] + shown["height"], path
        if path.startswith(("/memories/", "/activity", "/graph")):
            assert ODD[0] in (page.locator("main").text_content() or ""), path


def test_whatever_people_wrote_is_listed_whole(odd: World, visiting: Callable[[World], Visit]) -> None:
    page = visiting(odd)(person=ALICE)
    for one in ODD:
        shown = page.locator(".words").get_by_text(excerpt(one), exact=True).first
        expect(shown).to_have_text(excerpt(one))
    id = next(one.id for one in person(odd.memory, ALICE).list() if one.version == 2)
    page.goto(f"/memories/{id}")
    expect(page.locator(".timeline ins")).to_have_text("\n".join(ODD))
    listed = Caller(odd, odd.cookie(person=ALICE)).do("/chosen", act="erase", id=id).text
    assert "&lt;script&gt;document" in listed
    assert "<script>document" not in listed
