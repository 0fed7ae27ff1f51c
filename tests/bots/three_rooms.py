"""The story of three rooms, asserted on every prompt that a model was sent.

Alice and Bob each talk with the bot in private, and both are in the team. A second group, without
Bob, plans a surprise for him; then he joins it.
"""

from collections.abc import Sequence

from tests.bots.chats import ALICE, BOB, CAROL, FAMILY, TEAM, Driver, Listening, Scenario, alone, view
from tests.bots.scripted import Called, Prompt, Spoken

HERS, HIS = alone(ALICE), alone(BOB)
# Each word is said by one person in one room, and nowhere else by a person.
ALICE_ALONE, BOB_ALONE, THE_TEAMS, SURPRISE = "zeppelins", "bassoon", "9:30", "surprise party"
ASKED_FOR = ("collections", "party", "music", "standup", "planned in March")


def _curious(prompt: Prompt) -> Spoken:
    """A model that looks for everything, with every tool that reads, in every turn."""
    if prompt.results:
        return "I see."
    return [
        Called("memory_list", {}),
        Called("memory_query", {"query": " ".join(ASKED_FOR), "top_k": 20}),
        Called("search_memories", {"query": "party", "limit": 20}),
    ]


def _holds(word: str, prompts: Sequence[Prompt]) -> bool:
    return any(word in prompt.text for prompt in prompts)


def _private_words(room: Listening) -> None:
    room.say(ALICE, HERS, f"Remember that I collect {ALICE_ALONE}")
    room.say(BOB, HIS, f"Remember that I play the {BOB_ALONE}")
    for who, where in ((ALICE, TEAM), (BOB, TEAM)):
        room.say(who, where, "What do I collect, and which instrument do I play?")
    assert _holds(ALICE_ALONE, room.say(ALICE, HERS, "What do I collect?"))
    assert _holds(BOB_ALONE, room.say(BOB, HIS, "Which instrument do I play?"))


def _group_words(room: Listening) -> None:
    room.say(ALICE, TEAM, f"Remember that our standup is at {THE_TEAMS}", to_bot=False)
    assert _holds(f"standup is at {THE_TEAMS}", room.say(BOB, TEAM, "When do we meet?")[-1:])
    assert _holds(f"standup is at {THE_TEAMS}", room.say(BOB, HIS, "When is our standup?"))


def _surprise(driver: Driver, room: Listening) -> None:
    """Known to those who were there, and to nobody else; and not where Bob could read it."""
    mine = view(driver, ALICE)
    his_key = driver.requester(BOB).key
    mine.remember("Alice rides a green tandem", visibility="public_ok")
    flamingos = f"The {SURPRISE} has flamingos"
    mine.remember(flamingos, visibility="public_ok", withheld_from=[his_key])
    words = f"Don't tell Bob, but remember that we have a {SURPRISE} for Bob on 7 March"
    room.say(ALICE, FAMILY, words, to_bot=False)
    assert _holds(f"a {SURPRISE}", room.say(ALICE, HERS, "What is planned in March?"))
    assert _holds("flamingos", room.of(HERS))
    assert _holds(f"a {SURPRISE}", room.say(CAROL, FAMILY, "When is it again?")), "just said there"
    assert _holds("green tandem", room.say(ALICE, TEAM, "Is a party planned for Bob in March?"))
    for where in (TEAM, HIS):
        room.say(BOB, where, "Is a party planned for me in March?")

    driver.join(BOB, FAMILY)
    seen = len(room.of(FAMILY))
    for who in (ALICE, CAROL, BOB):
        room.say(who, FAMILY, "What did we say about the party in March?")
    assert not _holds(SURPRISE, room.of(FAMILY)[seen:]), "Bob reads along from here on"
    room.say(BOB, HIS, "What is planned in March?")


def _told(driver: Driver) -> None:
    room = Listening(driver)
    for who, where in ((ALICE, TEAM), (BOB, TEAM), (ALICE, FAMILY), (CAROL, FAMILY)):
        driver.join(who, where)
    _private_words(room)
    _group_words(room)
    _surprise(driver, room)

    in_groups = room.of(TEAM, FAMILY)
    assert len(in_groups) > 10
    for word in (ALICE_ALONE, BOB_ALONE):
        assert not _holds(word, in_groups), "what is said in private does not reach a group"
    assert not _holds(ALICE_ALONE, room.of(HIS))
    assert not _holds(BOB_ALONE, room.of(HERS))
    carols = room.of(FAMILY, who=CAROL)
    assert len(carols) > 1
    assert not _holds(THE_TEAMS, carols), "the team's words are not for who was not there"
    # Whatever is asked of a model on Bob's behalf, or where he reads: also by learning.
    bobs = [*room.of(TEAM, HIS), *room.learned_in(TEAM, HIS)]
    for word in (SURPRISE, "flamingos"):
        assert not _holds(word, bobs)


THREE_ROOMS = Scenario("three rooms, and a surprise", _told, _curious)
