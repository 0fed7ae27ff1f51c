"""What pages call things is true of them."""

from tests.console.asking import Caller
from tests.console.conftest import World
from tests.console.seeding import ALICE, person

ROOM, WHERE_YOU_ARE = "This group", "Shareable"


def test_what_was_said_in_private_is_for_no_room(world: World) -> None:
    own = person(world.memory, ALICE)
    done = own.remember("Lives in Ulm")
    own.set_visibility(done.id, "room")
    alice = Caller(world, world.cookie(person=ALICE))
    shown = alice.get(f"/memories/{done.id}").text
    assert ROOM not in shown
    assert "Private" in shown
    choices = alice.get(f"/memories/{done.id}/visibility").text
    assert ROOM not in choices
    assert WHERE_YOU_ARE in choices
    assert "Current visibility." in choices
    assert "as if you asked there" in choices
