"""What the pages of the tests are about: Alice and Bob in a room, each with things of their own."""

from tacit.memory import Memory
from tacit.records.request import Chat, Requester

ALICE, BOB, CAROL = "telegram:1001", "telegram:2002", "telegram:3003"
TEAM = "telegram:-100"
OPERATOR = "ops"
NAMES = {ALICE: "Alice", BOB: "Bob", CAROL: "Carol"}


def person(memory: Memory, key: str):  # type: ignore[no-untyped-def]
    """In private."""
    return memory.view(Requester(key, name=NAMES.get(key)), Chat.private(key))


def in_the_room(memory: Memory, key: str):  # type: ignore[no-untyped-def]
    here = [Requester(one, name=NAMES[one]) for one in (ALICE, BOB)]
    chat = Chat.group(TEAM, here, complete=True)
    return memory.view(Requester(key, name=NAMES.get(key)), chat)


def seed(memory: Memory) -> None:
    alice = person(memory, ALICE)
    alice.remember("Prefers tea to coffee", category="preference")
    alice.remember("Is allergic to walnuts", category="profile", sensitivity="sensitive")
    alice.pin(alice.remember("Lives in Lyon", category="profile", visibility="public_ok").id)
    in_the_room(memory, ALICE).remember(
        "The release is on Thursday", category="project", visibility="room", sensitivity="public"
    )
    person(memory, BOB).remember("Plans a surprise for Alice", category="event")
    in_the_room(memory, BOB).remember("Bob likes chess", category="preference", visibility="room", sensitivity="public")
