"""What the page says that people sign in on."""

from tests.console.asking import Caller
from tests.console.conftest import World
from tests.console.seeding import ALICE


def test_who_signs_out_is_told_so(world: World) -> None:
    alice = Caller(world, world.cookie(person=ALICE))
    to = alice.do("/sign-out").headers["location"]
    told = Caller(world).get(to).text
    assert "You are signed out." in told
    assert "Signed in already?" not in told
    assert "You are signed out." not in Caller(world, world.cookie(person=ALICE)).get(to).text


def test_bots_that_send_no_links_are_not_named(world: World) -> None:
    assert "<code>/console</code>" not in Caller(world).get("/sign-in").text


def test_who_finds_nothing_is_told_as_whom_they_are_signed_in(world: World) -> None:
    told = Caller(world, world.cookie(person=ALICE)).get("/").text
    nothing = told.partition("No memories yet.")[2]
    assert f"signed in as <bdi>{ALICE}</bdi>" in nothing
    assert "tacit console --for KEY" in nothing
