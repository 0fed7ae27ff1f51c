"""Who would hear this: what would be said to somebody in some chat, what is withheld, and why."""

from dataclasses import replace
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tacit.memory import Memory
from tests.console.asking import Caller
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, BOB, CAROL, OPERATOR, TEAM, person, seed

PARTY = "Plans a party for Bob"
TEA, NUTS, LYON, RELEASE, CHESS = (
    "Prefers tea to coffee",
    "Is allergic to walnuts",
    "Lives in Lyon",
    "The release is on Thursday",
    "Bob likes chess",
)
SAID, KEPT = "Shown", "Withheld"
OF_BOB = [f"/visibility?by={BOB}", f"/visibility?room={TEAM}&by={BOB}", f"/visibility?room={TEAM}&by={ALICE}"]


def plan(memory: Memory) -> None:
    """What would be said anywhere, if it were not a surprise."""
    person(memory, ALICE).remember(
        PARTY, category="event", visibility="public_ok", sensitivity="public", withheld_from=[BOB]
    )


@pytest.fixture(scope="module")
def shared(serving: World) -> World:
    one = replace(serving, memory=serving.memory.space("hearing"))
    seed(one.memory)
    plan(one.memory)
    return one


def listed(page: Page, heading: str) -> list[str]:
    region = page.get_by_role("region", name=heading)
    return region.locator(".card a .words").all_inner_texts()


def card(page: Page, words: str) -> str:
    found: str = page.locator(".columns .card").filter(has_text=words).inner_text()
    return found


def show(page: Page) -> None:
    page.get_by_role("button", name="Preview").click()


def test_a_person_sees_what_of_theirs_would_be_said_in_a_room_and_why(look: Visit) -> None:
    page = look("/visibility", person=ALICE)
    expect(page.get_by_text("You ask in a private chat.")).to_be_visible()
    assert listed(page, SAID) == [PARTY, RELEASE, LYON, NUTS, TEA]
    assert listed(page, KEPT) == []
    page.get_by_label("Chat", exact=True).select_option(label=f"you, Bob · {TEAM}")
    show(page)
    expect(page.locator(".scene")).to_have_text(f"You ask in the group {TEAM}. Members: you and Bob.")
    assert listed(page, SAID) == [RELEASE, LYON]
    assert listed(page, KEPT) == [PARTY, NUTS, TEA]
    assert "Shown because its owner asks and lets it be said G2b" in card(page, LYON)
    assert "Withheld because it is sensitive, and others are listening GS" in card(page, NUTS)
    assert "Withheld because it is withheld from a person who is or may be here D3" in card(page, PARTY)
    assert CHESS not in page.content()
    page.get_by_label("Requester").select_option(label=f"Bob · {BOB}")
    show(page)
    expect(page.locator(".scene")).to_contain_text(f"Bob ({BOB}) asks in the group")
    assert listed(page, SAID) == [RELEASE]
    assert "Withheld because no rule allows this group to see it G0" in card(page, LYON)


def surprises(caller: Caller, path: str) -> tuple[bool, bool]:
    """Whether it would be said, and whether it is withheld there."""
    answer = caller.get(path)
    assert answer.status_code == 200
    said, _, kept = answer.text.partition('id="withheld"')
    return PARTY in said, PARTY in kept


def test_a_surprise_stays_withheld_wherever_bob_is(anywhere: World) -> None:
    plan(anywhere.memory)
    alice = Caller(anywhere, anywhere.cookie(person=ALICE))
    operator = Caller(anywhere, anywhere.cookie(operator=OPERATOR))
    for path in (f"/visibility?by={BOB}", f"/visibility?room={TEAM}", f"/visibility?room={TEAM}&by={BOB}"):
        assert surprises(alice, path) == (False, True)
    for path in OF_BOB:
        assert surprises(operator, path) == (False, True)
        assert surprises(operator, f"{path}&question=party") == (False, True)
    assert surprises(operator, f"/visibility?by={ALICE}") == (True, False)
    assert surprises(operator, f"/visibility?by={ALICE}&question=party") == (True, False)


def test_nothing_of_another_is_on_a_persons_page_whatever_they_ask(shared: World) -> None:
    bob = Caller(shared, shared.cookie(person=BOB))
    paths = [
        "/visibility",
        f"/visibility?room={TEAM}",
        f"/visibility?by={ALICE}",
        f"/visibility?room={TEAM}&by={ALICE}",
        f"/visibility?state=any&owner={ALICE}",
    ]
    for path in paths:
        for ending in ("", "&question=party+tea+Lyon+release", "&words=party"):
            answer = bob.get(f"{path}{'' if '?' in path else '?'}{ending}")
            assert answer.status_code == 200
            assert not any(words in answer.text for words in (PARTY, TEA, NUTS, LYON, RELEASE))


def test_what_a_person_would_be_asked_is_in_the_order_of_their_own_mind(seeded: World, visit: Visit) -> None:
    alice = person(seeded.memory, ALICE)
    alice.remember("Drinks tea in Lyon", category="preference", visibility="public_ok")
    query = "Which tea is there in Lyon?"
    order = [one.memory.content for one in alice.recall(query, top_k=20)]
    mine = [one for one in order if one in (TEA, LYON, "Drinks tea in Lyon")]
    assert len(mine) == 3
    page = visit(f"/visibility?room={TEAM}&question={quote(query)}", person=ALICE)
    would = "Recalled and shown"
    assert listed(page, would) == [one for one in mine if one != TEA]
    assert listed(page, KEPT) == [TEA]
    assert "Recalled: It shares the word" in card(page, TEA)
    expect(page.get_by_text("memories of other people may come first")).to_be_visible()
    expect(page.get_by_label("Question")).to_have_value(query)


def test_an_operator_sees_the_space_and_each_look_is_noted(seeded: World, visit: Visit) -> None:
    operator = seeded.memory.operator(OPERATOR)
    page = visit("/visibility", operator=OPERATOR)
    assert {one.word for one in operator.audit.access_log()} == {"rooms", "people"}
    expect(page.locator(".columns")).to_have_count(0)
    assert page.locator("#preview-groups option").all_inner_texts() == [f"Alice, Bob · {TEAM}"]
    page.get_by_label("Chat", exact=True).fill(TEAM)
    page.get_by_label("Requester").fill(BOB)
    show(page)
    assert listed(page, SAID) == [CHESS, RELEASE]
    assert listed(page, KEPT) == ["Plans a surprise for Alice", LYON, NUTS, TEA]
    assert f"Owner: {ALICE}" in card(page, TEA)
    page.goto(f"/visibility?by={BOB}")
    expect(page.locator(".scene")).to_contain_text("asks in a private chat")
    assert listed(page, SAID) == [CHESS, "Plans a surprise for Alice", RELEASE]
    page.goto(f"/visibility?room={TEAM}&by={BOB}")
    page.get_by_label("Question").fill("When is the release?")
    show(page)
    assert listed(page, "Recalled and shown")[0] == RELEASE
    assert "Shown because it is public and was said in this very group G1a" in card(page, RELEASE)
    assert {"hearing", "recalled"} <= {one.word for one in operator.audit.access_log()}
    told = person(seeded.memory, ALICE).audit.access_log().items
    assert {"hearing", "recalled"} <= {one.word for one in told}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("room=telegram:-999", "room"),
        (f"by={CAROL}", "by"),
        (f"room={TEAM}&by={CAROL}", "by"),
        ("question=" + "w" * 3_000, "question"),
        ("category=nonsense", "category"),
    ],
)
def test_what_is_wrong_is_said_of_its_field(shared: World, query: str, field: str) -> None:
    answer = Caller(shared, shared.cookie(person=ALICE)).get(f"/visibility?{query}")
    assert answer.status_code == 422
    assert f'id="{field}-problem"' in answer.text
    assert TEA not in answer.text
