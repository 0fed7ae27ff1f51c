"""What the tests of notes and language models share: a conversation, and a model over the wire."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from tacit.learning.extraction.locale import Locale, load_locale
from tacit.llm.endpoint import EndpointModel
from tacit.notes.drafts import EndedConversation
from tacit.records.conversation import ParsedMessage, Role
from tests.llm.endpoint import Endpoint

NOON = datetime(2026, 2, 5, 12, tzinfo=UTC)


def said(content: str, role: Role = Role.USER, name: str | None = None) -> ParsedMessage:
    return ParsedMessage(role=role, content=content, name=name, at=None, id=None)


def answered(content: str) -> ParsedMessage:
    return said(content, Role.ASSISTANT)


def conversation(messages: Sequence[ParsedMessage], locale: Locale | None = None) -> EndedConversation:
    """Alice's, at noon."""
    chosen = locale or load_locale("en")
    return EndedConversation(messages=messages, speaker="Alice", at=NOON, locale=chosen)


@contextmanager
def asking(endpoint: Endpoint) -> Iterator[EndpointModel]:
    """A model that asks the endpoint, and does not wait between two tries."""
    model = EndpointModel(
        "openai",
        "tiny",
        base_url=endpoint.url,
        api_key="sk-very-secret-0123456789",
        timeout_seconds=20.0,
        pause=lambda _: None,
        clock=lambda: NOON,
    )
    try:
        yield model
    finally:
        endpoint.free.set()
        model.close()


def material(endpoint: Endpoint) -> str:
    """What the model was given to read, of the last request."""
    told = json.loads(endpoint.seen[-1].said)
    return "\n".join(str(one["content"]) for one in told[1] if one["role"] == "user")
