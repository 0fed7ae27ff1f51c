"""What waits for a yes: answered on its page, and by the person who is asked alone."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import expect

import tacit
from tacit import Message
from tacit.memory import Memory
from tests.console.asking import Caller
from tests.console.conftest import Visit, World, unhurried
from tests.console.seeding import ALICE, BOB, person
from tests.console.watching import faults
from tests.server.http_server import served


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Where everything is asked about."""
    settings = unhurried()
    settings = replace(settings, learn=replace(settings.learn, confirm="always"))
    path = tmp_path_factory.mktemp("console") / "tacit.db"
    with tacit.open(f"sqlite:///{path}", embedder=None, settings=settings) as memory, served(memory, settings) as url:
        yield World(memory, url)


def say(memory: Memory, *said: str) -> None:
    for text in said:
        person(memory, ALICE).learn([Message("user", text)])
    memory.jobs.wait_for_learning()


def test_a_yes_keeps_it_in_the_place_of_what_it_replaces(world: World, visiting: Callable[[World], Visit]) -> None:
    say(world.memory, "Remember that I live in Lisbon", "I live in Porto now")
    page = visiting(world)("/review", person=ALICE)
    card = page.get_by_role("listitem").filter(has_text="Porto")
    expect(card.locator("del")).to_contain_text("Lisbon")
    expect(card.locator("ins")).to_contain_text("Porto")
    expect(card).to_contain_text("everything is asked about here")
    assert faults(page) == []
    card.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("Approved")
    expect(page.get_by_text("Nothing to review.")).to_be_visible()
    (kept,) = person(world.memory, ALICE).list()
    assert "Porto" in kept.content


def test_a_no_keeps_nothing(world: World, visiting: Callable[[World], Visit]) -> None:
    say(world.memory, "I'm allergic to peanuts")
    page = visiting(world)("/review", person=ALICE, scripts=False)
    page.get_by_role("button", name="Decline").click()
    expect(page.get_by_role("status").first).to_contain_text("not be proposed again")
    alice = person(world.memory, ALICE)
    assert (alice.proposals.list(), alice.list().items) == ([], ())


def test_it_is_said_when_a_yes_lets_others_hear_it(world: World, visiting: Callable[[World], Visit]) -> None:
    alice = person(world.memory, ALICE)
    alice.put("preference", "drink", "<i>green</i> tea")
    alice.proposals.propose_public("preference", "drink")
    page = visiting(world)("/review", person=ALICE, phone=True, dark=True)
    expect(page.get_by_text("More people could see it")).to_be_visible()
    expect(page.locator("main i")).to_have_count(0)
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_text("Nothing to review.")).to_be_visible()
    found = alice.get("preference", "drink")
    assert found is not None
    assert found.visibility == "public_ok"


def test_what_is_settled_or_not_theirs_is_answered_alike(world: World) -> None:
    say(world.memory, "I'm allergic to peanuts")
    alice, bob = (Caller(world, world.cookie(person=one)) for one in (ALICE, BOB))
    (asked,) = person(world.memory, ALICE).proposals.list()
    theirs = bob.do(f"/review/{asked.id}/approve")
    absent = bob.do("/review/AAAAAAAA/approve")
    assert (theirs.status_code, theirs.headers["location"]) == (303, "/review")
    assert (absent.status_code, absent.headers["location"]) == (303, "/review")
    assert "peanuts" not in bob.get("/review").text
    assert len(person(world.memory, ALICE).proposals.list()) == 1
    assert "peanuts" in alice.get("/review").text
    alice.do(f"/review/{asked.id}/decline")
    again = alice.do(f"/review/{asked.id}/decline")
    assert "settled" in again.headers["set-cookie"]
