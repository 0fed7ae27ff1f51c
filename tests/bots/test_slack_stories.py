"""What only Slack tells of, from the request to what is remembered: edits, deletions, workspaces
that share a channel, messages that are passed on."""

from collections.abc import Iterator

import pytest

from tacit import Chat, Requester
from tests.bots.chats import Stage, bot_of
from tests.bots.slack_api import BOT, TEAM, direct
from tests.bots.slack_side import Json, Slack, quiet, slack, until

ALICE, BOB, CHANNEL = "U1001", "U2002", "C100"
HER_OWN = direct(ALICE)
pytestmark = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)


@pytest.fixture
def stage(database_url: str) -> Iterator[Stage]:
    with quiet(database_url) as stage:
        yield stage


@pytest.fixture
def there(stage: Stage) -> Iterator[Slack]:
    with slack(stage.memory, bot_of(stage), stage.clock) as there:
        there.api.workspace.named(ALICE, "Alice")
        there.api.workspace.named(BOB, "Bob")
        yield there


def known(stage: Stage, user: str = ALICE, team: str = TEAM) -> list[str]:
    """What somebody finds who looks after their own memories."""
    stage.settle()
    view = stage.memory.view(Requester(f"slack:{team}:{user}"), Chat.private("desk:1"))
    return sorted(one.content for one in view.list())


def changed(message: Json, text: str) -> Json:
    edited = {**message, "text": text, "edited": {"user": message["user"]}}
    return {
        "type": "message",
        "subtype": "message_changed",
        "channel": message["channel"],
        "channel_type": message["channel_type"],
        "ts": "1999999999.000001",
        "message": edited,
        "previous_message": message,
    }


def test_a_preview_of_a_link_is_no_edit_and_a_stone_in_its_place_is_a_deletion(stage: Stage, there: Slack) -> None:
    first = there.message(ALICE, HER_OWN, "My favourite tea is oolong.")
    there.event(first)
    before = known(stage)
    assert len(before) == 1
    # A link that Slack unfolds below is no edit.
    there.event(changed({**first, "attachments": [{"from_url": "https://x.example"}]}, first["text"]))
    assert known(stage) == before
    # A message below which a thread began leaves a stone behind.
    stone = changed(first, "This message was deleted.")
    stone["message"] = {"subtype": "tombstone", "user": "USLACKBOT", "ts": first["ts"]}
    there.event(stone)
    assert known(stage) == []


def test_the_same_user_of_two_workspaces_is_two_people(stage: Stage, there: Slack) -> None:
    def shared(user_team: str | None, channel: str, text: str) -> None:
        message = there.message(ALICE, channel, text, team=user_team, user_team=user_team)
        there.event(message, is_ext_shared_channel=True)

    shared(TEAM, "C100", "I work as a gardener.")
    shared("T9", "C101", "I work as a baker.")
    shared("E9", "C100", "I work as a pilot.")  # an organisation: who knows which workspace
    shared(None, "C100", "I work as a judge.")
    assert "gardener" in " ".join(known(stage))
    assert "baker" in " ".join(known(stage, team="T9"))
    told = " ".join(known(stage) + known(stage, team="T9") + known(stage, team="E9"))
    assert [word in told for word in ("pilot", "judge")] == [False, False]
    assert "baker" not in " ".join(known(stage))
    assert "gardener" not in " ".join(known(stage, team="T9"))
    # What happens in a workspace that the token is not for is neither kept nor answered.
    there.event(there.message(ALICE, HER_OWN, "I live in Rome."), team="T9")
    assert "Rome" not in " ".join(known(stage) + known(stage, team="T9"))
    assert stage.memory.inbox.pending("slack") == []


def test_a_channel_that_gets_another_id_keeps_what_was_said_in_it(stage: Stage, there: Slack) -> None:
    there.event({"type": "member_joined_channel", "user": ALICE, "channel": "G1"})
    there.event(there.message(ALICE, "G1", "Our standup is at nine."))
    stage.settle()
    there.event({"type": "channel_id_changed", "old_channel_id": "G1", "new_channel_id": "C2"})
    there.event(there.message(ALICE, "C2", f"<@{BOT}> When is our standup?"))
    assert "nine" in there.api.workspace.posts[-1].text


def test_a_slash_command_is_answered_to_the_one_who_typed_it(stage: Stage, there: Slack) -> None:
    there.event(there.message(ALICE, HER_OWN, "remember that I like green tea"))
    stage.settle()
    assert there.command(ALICE, CHANNEL, "memory") == (200, "")
    there.done()
    post = there.api.workspace.posts[-1]
    assert (post.channel, post.only) == (CHANNEL, ALICE)
    assert "tea" not in post.text
    assert there.command(ALICE, HER_OWN, "/memory") == (200, "")
    there.done()
    post = there.api.workspace.posts[-1]
    assert (post.channel, post.only) == (HER_OWN, ALICE)
    assert "tea" in post.text
    assert there.command(ALICE, HER_OWN, "") == (200, "")
    there.done()
    told = there.api.workspace.posts[-1].text
    assert "/tacit memory delete <id>" in told, "as people type it there"
    assert "\n/memory" not in told


def test_a_busy_slack_gets_the_answer_later_and_once(stage: Stage, there: Slack) -> None:
    there.api.workspace.limited = [1]
    there.event(there.message(ALICE, HER_OWN, "remember that I like green tea"))
    assert there.lines.of("not sent") == [{"channel": "slack", "for_good": False, "wait_seconds": 1.0}]
    until(lambda: not stage.memory.inbox.pending("slack"))
    assert len(there.api.workspace.posts) == 1
    assert len(known(stage)) == 1
