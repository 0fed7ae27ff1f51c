"""Nobody reaches somebody else's memory by any address or form; whatever stands in one is text."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tacit.console.app import PAGE_GROUPS
from tests.console.asking import Caller
from tests.console.conftest import Visit, World
from tests.console.seeding import ALICE, BOB, in_the_room, person
from tests.console.test_frame import LIVE, ODD
from tests.console.test_memory import memory_that_says
from tests.console.watching import faults, is_wider_than_its_window

OF_ONE = [one for topic in PAGE_GROUPS for one in topic.routes if "/memories/{id}" in one.path]
FIELDS = {
    "word": "erase",
    "content": "Changed by a stranger",
    "version": "1",
    "visibility": "public_ok",
    "who": ALICE,
}
BOBS = ("Plans a surprise for Alice", "Bob likes chess")  # Alice hears the second one, in the room


def test_somebody_elses_memory_is_not_there(seeded: World) -> None:
    alice = Caller(seeded, seeded.cookie(person=ALICE))
    before = person(seeded.memory, BOB).list(state="active").items
    absent = alice.get("/memories/AAAAAAAA")
    sent = {**FIELDS, "csrf": alice.token()}
    assert absent.status_code == 404
    for words in BOBS:
        id = memory_that_says(seeded, words, BOB).id
        for page in OF_ONE:
            path = page.path.replace("{id}", id)
            found = alice.get(path) if page.method == "GET" else alice.post(path, sent)
            assert (found.status_code, found.text) == (404, absent.text), (page.method, path)
    assert person(seeded.memory, BOB).list(state="active").items == before


@pytest.mark.parametrize("act", ["forget", "restore", "pin", "unpin", "visibility"])
def test_somebody_elses_memory_is_left_out_of_what_is_done_to_many(seeded: World, act: str) -> None:
    alice = Caller(seeded, seeded.cookie(person=ALICE))
    id = memory_that_says(seeded, BOBS[1], BOB).id
    before = person(seeded.memory, BOB).show(id)
    theirs = alice.do("/chosen", act=act, to="private_only", id=id)
    nobodys = alice.do("/chosen", act=act, to="private_only", id="AAAAAAAA")
    assert theirs.text == nobodys.text
    assert "It no longer exists" in theirs.text
    assert person(seeded.memory, BOB).show(id) == before


def test_somebody_elses_memory_is_neither_erased_with_many_nor_undone(seeded: World) -> None:
    alice, bob = Caller(seeded, seeded.cookie(person=ALICE)), person(seeded.memory, BOB)
    id = memory_that_says(seeded, BOBS[1], BOB).id
    bob.pin(id)
    in_the_room(seeded.memory, BOB).update(id, "Bob likes go")
    asked = alice.do("/chosen", act="erase", id=id)
    assert "chess" not in asked.text
    assert "It no longer exists" in alice.do("/chosen/erase", word="erase", id=id).text
    marks = {
        "pinned": id,
        "forgotten": id,
        "restored": id,
        "visibility": f"{id}-public_ok-room",
        "reworded": f"{id}-2",
    }
    for what, mark in marks.items():
        assert alice.do(f"/undo/{what}", id=mark).status_code == 303
    found = bob.show(id)
    assert (found.content, found.state, found.pinned) == ("Bob likes go", "active", True)


@pytest.mark.parametrize("mark", ["", "AAAAAAAA", "-", "AAAAAAAA-x-y", "AAAAAAAA-room-room-room"])
def test_a_mark_that_is_none_of_ours_undoes_nothing(seeded: World, mark: str) -> None:
    alice = Caller(seeded, seeded.cookie(person=ALICE))
    for what in ("forgotten", "visibility", "reworded"):
        assert alice.do(f"/undo/{what}", id=mark).status_code in (303, 404)
    assert alice.do("/undo/everything", id=mark).status_code == 404


def test_more_than_a_page_holds_is_refused_kindly(world: World) -> None:
    alice = Caller(world, world.cookie(person=ALICE))
    found = alice.do("/chosen", act="forget", id=[f"A{number:07}" for number in range(101)])
    assert found.status_code == 422
    assert "Select at most 100 at once" in found.text


def test_whatever_a_memory_says_is_text_on_each_of_its_pages(
    world: World, visiting: Callable[[World], Visit]
) -> None:
    words = "\n".join(ODD)
    alice = person(world.memory, ALICE)
    id = alice.remember("Something else", category="fact", tags=["<b class=live>"]).id
    alice.update(id, words)
    in_the_room(world.memory, BOB).remember("Here", visibility="room")
    alice.people.name(BOB, "<img src=x>")
    page = visiting(world)(f"/memories/{id}", person=ALICE, phone=True)
    for end in ("", "/edit", "/visibility?visibility=public_ok", "/withhold", "/erase"):
        page.goto(f"/memories/{id}{end}")
        assert ODD[0] in (page.locator("main").text_content() or ""), end
        assert page.title().endswith(" · Tacit")
        assert page.locator(LIVE).count() == 0, end
        assert not is_wider_than_its_window(page), end
    listed = Caller(world, world.cookie(person=ALICE)).do("/chosen", act="erase", id=id).text
    assert "&lt;script&gt;document" in listed
    assert "<script>document" not in listed
    page.goto(f"/memories/{id}")
    expect(page.locator(".timeline ins")).to_have_text(words)
    assert faults(page) == []
