"""Who is known: by which names, and what is remembered about them."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.console.asking import Caller
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, BOB, CAROL, OPERATOR, person

BOBS_PAGE = "/people/ext%3Atelegram%3A2002"


def test_those_whom_a_person_knows_are_found_as_they_type(look: Visit) -> None:
    page = look("/people", person=ALICE)
    expect(page.locator(".card")).to_have_count(2)
    expect(page.locator(".card").filter(has_text="Alice")).to_contain_text("You")
    page.get_by_label("Search by name").fill("bo")
    expect(page.locator(".card")).to_have_count(1)
    expect(page).to_have_url("/people?name=bo")
    page.get_by_label("Search by name").fill("nobody")
    expect(page.locator("[data-telling]")).to_have_text("No people with that name.")
    page.get_by_label("Search by name").fill("telegram:2002")
    page.get_by_role("link", name="Bob").click()
    expect(page.get_by_role("heading", name="Bob", level=1)).to_be_visible()


def test_what_is_remembered_about_somebody_tells_who_said_it(seeded: World, visit: Visit) -> None:
    alice = person(seeded.memory, ALICE)
    alice.remember("Bob plays the cello", category="fact", about=["Bob"])
    page = visit(BOBS_PAGE, person=ALICE)
    own = page.locator(".card").filter(has_text="cello")
    expect(own).to_contain_text("Said by you in private")
    heard = page.locator(".card").filter(has_text="Bob likes chess")
    expect(heard).to_contain_text("Said by Bob")
    expect(heard.get_by_role("link")).to_have_count(0)
    expect(page.locator("dt:text-is('Your memories about them') + dd")).to_have_text("1")
    own.get_by_role("link").click()
    expect(page.locator(".wording")).to_have_text("Bob plays the cello")


def test_another_name_is_for_their_own_ears(seeded: World, visit: Visit) -> None:
    page = visit(BOBS_PAGE, person=ALICE, scripts=False)
    page.get_by_label("Name", exact=True).fill("the tall one")
    page.get_by_label("Kind of name").select_option("relation")
    page.get_by_role("button", name="Add name").click()
    expect(page.get_by_role("status").first).to_contain_text("Only you and operators")
    expect(page.get_by_text("the tall one", exact=True)).to_be_visible()
    bob = Caller(seeded, seeded.cookie(person=BOB))
    assert "the tall one" not in bob.get("/people").text
    assert "the tall one" not in bob.get(BOBS_PAGE).text


def test_a_page_says_truly_that_operators_see_what_somebody_is_called(seeded: World) -> None:
    person(seeded.memory, ALICE).people.name(BOB, "my brother", "relation")
    alice = Caller(seeded, seeded.cookie(person=ALICE))
    operator = Caller(seeded, seeded.cookie(operator=OPERATOR))
    assert "Only you and operators of this space see" in alice.get(BOBS_PAGE).text
    assert "relation to you" in alice.get(BOBS_PAGE).text
    for path in ("/people", BOBS_PAGE):
        shown = operator.get(path).text
        assert "my brother" in shown
        assert "relation to another person" in shown
        assert "relation to you" not in shown
    assert "people" in {one.word for one in person(seeded.memory, ALICE).audit.access_log()}


def test_whom_they_do_not_know_is_as_if_not_there(shared: World) -> None:
    bob = Caller(shared, shared.cookie(person=BOB))
    person(shared.memory, CAROL).remember("Zoe is my sister", category="fact", about=["Zoe"])
    (zoe,) = [one.id for one in person(shared.memory, CAROL).people.list() if one.id.startswith("person:")]
    pages = [bob.get(f"/people/{id}") for id in (zoe, "person:AAAAAAAA", "ext:telegram:3003", "x")]
    assert {page.status_code for page in pages} == {404}
    assert len({page.text for page in pages}) == 1
    assert bob.do(f"/people/{zoe}/name", name="Mine", kind="alias").status_code == 404
    assert "Zoe" not in bob.get("/people").text


def know_twice(world: World) -> None:
    """Alice knows one person by two names."""
    alice = person(world.memory, ALICE)
    alice.remember("Nan bakes bread", category="fact", about=["Nan"])
    alice.remember("Anna is 80", category="fact", about=["Anna"])


def id_of(world: World, name: str) -> str:
    known = person(world.memory, ALICE).people.list()
    (found,) = [one.id for one in known if any(other.text == name for other in one.names)]
    return str(found)


def test_a_person_merges_two_whom_they_named_and_takes_it_back(
    seeded: World, visiting: Callable[[World], Visit]
) -> None:
    know_twice(seeded)
    nan = id_of(seeded, "Nan")
    page = visiting(seeded)(f"/people/{nan}", person=ALICE)
    page.get_by_role("link", name="Merge").click()
    expect(page.locator("#found")).not_to_contain_text("Bob")
    page.get_by_label("Search by name").fill("an")
    page.get_by_role("link", name="Anna").click()
    expect(page.get_by_text("Is Nan the same person as Anna?")).to_be_visible()
    expect(page.get_by_text("applies to you only")).to_be_visible()
    page.get_by_role("button", name="Merge").click()
    expect(page.get_by_text("Nan bakes bread")).to_be_visible()
    expect(page.get_by_text("Anna is 80")).to_be_visible()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("merge was undone")
    expect(page.get_by_text("Anna is 80")).to_have_count(0)
    page.goto(f"/people/{nan}/merge?into={id_of(seeded, 'Anna')}")
    page.get_by_role("button", name="Merge").click()
    page.get_by_role("button", name="Undo merge").click()
    expect(page.get_by_role("status").first).to_contain_text("merge was undone")
    assert len({id_of(seeded, one) for one in ("Nan", "Anna")}) == 2


def test_an_operator_says_who_somebody_is_to_everybody(seeded: World, visiting: Callable[[World], Visit]) -> None:
    person(seeded.memory, ALICE).remember("Robbie sings", category="fact", about=["Robbie"])
    page = visiting(seeded)("/people", operator=OPERATOR)
    page.get_by_label("Search by name").fill("rob")
    page.get_by_role("link", name="Robbie").click()
    expect(page.get_by_text("Robbie sings")).to_be_visible()
    expect(page.get_by_text("Owner: telegram:1001")).to_be_visible()
    page.get_by_role("link", name="Merge").click()
    page.get_by_label("Search by name").fill("telegram:2002")
    page.get_by_role("link", name="Bob").click()
    expect(page.get_by_text("to all people in the space")).to_be_visible()
    page.get_by_role("button", name="Merge").click()
    expect(page.get_by_role("status").first).to_contain_text("Merged")
    expect(page.get_by_role("heading", name="Bob", level=1)).to_be_visible()
    expect(page.get_by_text("Robbie sings")).to_be_visible()
    (link,) = seeded.memory.admin.links("telegram:2002")
    assert (link.holds, link.actor) == (True, f"operator:{OPERATOR}")
    page.get_by_role("button", name="Undo merge").click()
    (link,) = seeded.memory.admin.links("telegram:2002")
    assert not link.holds
    looked = {one.word for one in person(seeded.memory, ALICE).audit.access_log()}
    assert "about" in looked
