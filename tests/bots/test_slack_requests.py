"""What Slack sends is taken in once, if Slack signed it just now, and otherwise not at all."""

import json
import logging
import time
from collections.abc import Iterator

import pytest

from tests.bots.chats import Stage, bot_of
from tests.bots.slack_api import BOT, TEAM, direct
from tests.bots.slack_side import Slack, quiet, slack, until

ALICE, CHANNEL = "U1001", "C100"
HER_OWN = direct(ALICE)
TEA = "remember that I like green tea"


@pytest.fixture
def stage() -> Iterator[Stage]:
    with quiet("sqlite://") as stage:
        yield stage


@pytest.fixture
def there(stage: Stage) -> Iterator[Slack]:
    with slack(stage.memory, bot_of(stage), stage.clock) as there:
        there.api.workspace.named(ALICE, "Alice")
        yield there


def posted(there: Slack) -> list[str]:
    return [post.text for post in there.api.workspace.posts]


def test_warnings_of_the_library_are_logged_beside_bolt(there: Slack) -> None:
    """Bolt gives its own loggers, and one named like the app, the level of the logger it is given."""
    there.knock(json.dumps({"type": "url_verification", "challenge": "3eZbrw1a", "token": "old"}))
    for name in ("tacit", "tacit.retrieval.retriever"):
        assert logging.getLogger(name).isEnabledFor(logging.WARNING)
        assert not logging.getLogger(name).disabled


def test_slack_is_told_that_this_is_the_address(there: Slack) -> None:
    asked = json.dumps({"type": "url_verification", "challenge": "3eZbrw1a", "token": "old"})
    status, answer = there.knock(asked)
    assert (status, json.loads(answer)) == (200, {"challenge": "3eZbrw1a"})
    assert there.knock(asked, secret="another one")[0] == 401


def test_what_slack_did_not_sign_just_now_is_refused_and_nothing_is_kept(there: Slack, stage: Stage) -> None:
    body = there.envelope(there.message(ALICE, HER_OWN, TEA))
    odd = [
        {"X-Slack-Signature": ""},
        {"X-Slack-Signature": "v0=ä"},
        {"X-Slack-Request-Timestamp": "tomorrow"},
        {"X-Slack-Request-Timestamp": "-1"},
    ]
    refused = [
        there.knock(body, secret="somebody else's"),
        there.knock(body, at=time.time() - 400),
        there.knock(body, at=time.time() + 400),
        *(there.knock(body, headers=headers) for headers in odd),
    ]
    assert {status for status, _ in refused} == {401}
    there.done()
    assert stage.memory.inbox.pending("slack") == []
    assert posted(there) == []
    # It was the signature alone: the same, signed as it should be, is taken in and answered.
    assert there.knock(body) == (200, "")
    there.done()
    assert len(posted(there)) == 1


def test_what_cannot_be_read_is_turned_away_however_it_is_signed(there: Slack, stage: Stage) -> None:
    for body in ("", "[]", "{", '"x"', "payload=[1]", "[" * 50_000, "payload=x", '{"a": "\\ud800"}'):
        assert there.knock(body)[0] in (200, 401), body[:20]
        assert there.knock(body, secret="wrong")[0] == 401
    assert there.knock("x" * 1_048_577)[0] == 413
    assert stage.memory.inbox.pending("slack") == []


def test_events_of_any_shape_do_no_harm(there: Slack, stage: Stage) -> None:
    odd: list[dict[str, object]] = [
        {"type": "message"},
        {"type": "message", "user": "U1", "channel": "C1", "ts": "now", "text": {}},
        {"type": "message", "user": "U1", "channel": "../C", "ts": "1.1", "text": "x"},
        {"type": "message", "subtype": "message_changed", "message": [], "channel": CHANNEL},
        {"type": "message", "subtype": "message_deleted", "channel": CHANNEL},
        {"type": "member_joined_channel", "user": None},
        {"type": "channel_id_changed"},
        {"type": "reaction_added", "user": ALICE},
        there.message(ALICE, HER_OWN, "\ud83d half of a character, \x00 and nothing"),
        there.message(ALICE, "X1", "in a place of a kind that nobody knows", channel_type="new"),
        there.message(ALICE, HER_OWN, "9" * 100_000, attachments=[{"is_share": True}] * 50),
    ]
    for event in odd:
        there.event(event)
    assert stage.memory.inbox.pending("slack") == []
    assert there.lines.of("update failed") == []


def test_an_event_that_slack_sends_again_is_answered_once(there: Slack) -> None:
    body = there.envelope(there.message(ALICE, HER_OWN, TEA))
    assert there.knock(body) == (200, "")
    there.done()
    once = posted(there)
    assert len(once) == 1
    again = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}
    assert there.knock(body, headers=again) == (200, "")
    there.done()
    assert posted(there) == once


def test_what_bots_say_is_not_answered(there: Slack) -> None:
    there.api.workspace.named("U8", "Robot", is_bot=True)
    others = (
        there.message("U7", HER_OWN, TEA, bot_id="B7"),
        there.message("U7", HER_OWN, TEA, subtype="bot_message"),
        there.message("USLACKBOT", HER_OWN, TEA),
        there.message("U8", HER_OWN, TEA),
    )
    for message in others:
        there.event(message)
    assert posted(there) == []
    there.event(there.message(ALICE, HER_OWN, TEA))
    assert len(posted(there)) == 1


def test_only_chats_that_are_allowed_are_listened_to_and_ids_are_told_anywhere(stage: Stage) -> None:
    allowed = (f"slack:{TEAM}:{CHANNEL}", f"slack:{TEAM}:{ALICE}")
    with slack(stage.memory, bot_of(stage), stage.clock, allowed=allowed) as there:
        there.event(there.message(ALICE, "C900", f"<@{BOT}> {TEA}"))
        there.event(there.message("U2002", direct("U2002"), TEA))
        assert there.command("U2002", "C900", "help") == (200, "")
        there.done()
        assert posted(there) == []
        status, answer = there.command("U2002", "C900", "id")
        told = json.loads(answer)
        assert (status, told["response_type"]) == (200, "ephemeral")
        assert f"slack:{TEAM}:C900" in told["text"]
        assert f"slack:{TEAM}:U2002" in told["text"]
        there.event(there.message(ALICE, HER_OWN, TEA))
        there.event(there.message(ALICE, CHANNEL, f"<@{BOT}> {TEA}"))
        assert [post.channel for post in there.api.workspace.posts] == [HER_OWN, CHANNEL]


def test_a_wrong_token_is_told_in_one_line_and_tried_again_while_everything_is_kept(stage: Stage) -> None:
    wrong = "xoxb-not-the-right-one"
    with slack(stage.memory, bot_of(stage), stage.clock, token=wrong, wait=False) as there:
        assert there.knock(there.envelope(there.message(ALICE, HER_OWN, TEA))) == (200, "")
        until(lambda: len(there.api.workspace.calls) > 2)
        assert set(there.api.workspace.methods()) == {"auth.test"}
        problem = "Slack rejects the token (invalid_auth)"
        ((event, what),) = there.lines.told
        assert (event, what["problem"]) == ("slack waits", problem)
        assert what["again_in_seconds"] == 0.05
        assert len(stage.memory.inbox.pending("slack")) == 1
        # The operator of the workspace mends it: what was said meanwhile is answered.
        there.api.workspace.token = wrong
        until(lambda: bool(posted(there)))
        there.done()
        assert len(posted(there)) == 1
    assert wrong not in repr(there.lines.told)
