"""Claims as a model makes them, held against a message that Alice writes."""

from datetime import UTC, datetime
from typing import Any

from tacit.identity import RawRequest
from tacit.learning.claim_wording import Fact
from tacit.learning.claims import ClaimJudge, RefusedClaim, find_stated_spans
from tacit.learning.extraction.locale import guess_locale, load_locale
from tacit.learning.facts import StatedFact
from tacit.learning.turns import QueuedTurn
from tacit.records.conversation import Role
from tacit.records.memory import ChatKind

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)  # a Sunday


def turn(text: str) -> QueuedTurn:
    asking = RawRequest(
        subject="ext:x:1",
        chat="x:1",
        kind=ChatKind.PRIVATE,
        participants=frozenset({"ext:x:1"}),
        complete=True,
        names=(("ext:x:1", "name", "Alice"),),
    )
    return QueuedTurn(
        text=text,
        role=Role.USER,
        said_at=NOON,
        message=None,
        agent=None,
        asking=asking,
        present=frozenset({"ext:x:1"}),
        confidential=False,
    )


def claim(content: str, quote: str, **more: Any) -> Fact:
    usual: dict[str, Any] = {
        "about_speaker": True,
        "about": [],
        "kind": "knowledge",
        "sensitivity": "public",
        "stated": True,
    }
    return Fact(content=content, quote=quote, **{**usual, **more})


def judge(text: str, speaker: str = "Alice") -> ClaimJudge:
    own = load_locale(guess_locale(text))
    return ClaimJudge(turn(text), speaker, own, find_stated_spans(text, own))


def judged(text: str, fact: Fact, speaker: str = "Alice") -> StatedFact | RefusedClaim:
    return judge(text, speaker).judged(fact)


def taken(text: str, content: str, quote: str | None = None, **more: Any) -> StatedFact:
    found = judged(text, claim(content, text if quote is None else quote, **more))
    assert isinstance(found, StatedFact), found
    return found


def refused(text: str, content: str, quote: str | None = None, **more: Any) -> str:
    found = judged(text, claim(content, text if quote is None else quote, **more))
    assert isinstance(found, RefusedClaim), found
    return found.reason
