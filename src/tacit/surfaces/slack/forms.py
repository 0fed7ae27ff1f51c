"""What is said, in Slack's form: as rich text, in which nothing that somebody wrote has a meaning
of its own, with plain text for notifications."""

from __future__ import annotations

from typing import Any

from tacit import limits
from tacit.surfaces.chat.paging import parts
from tacit.surfaces.chat.say import Button, Say, Span
from tacit.surfaces.slack.taking import BUTTON
from tacit.surfaces.slack.words import escaped

Message = dict[str, Any]

COMMAND = "/tacit"  # Slack keeps what begins with a slash to itself: ours stand behind this one

_STYLES = {"strong": {"bold": True}, "code": {"code": True}}
_ROW_MAX_COUNT = 25  # buttons in one row
_ROWS_MAX_COUNT = 20
_LABEL_MAX_CHARS = 75


def messages(say: Say) -> list[Message]:
    """One for each part of a long text; the buttons stand under the last."""
    spans = map(_typed, say.spans)
    cut = parts(spans, limits.SLACK_PART_MAX_CHARS, lambda span: len(span.text))
    found = [_message(one) for one in cut]
    if found and say.buttons:
        rows = say.buttons[:_ROWS_MAX_COUNT]
        found[-1]["blocks"] += [_row(number, row) for number, row in enumerate(rows)]
    return found


def _typed(span: Span) -> Span:
    if span.style != "command":
        return span
    return Span(f"{COMMAND} {span.text.removeprefix('/')}")


def _message(spans: tuple[Span, ...]) -> Message:
    shown = [_element(span) for span in spans]
    section = {"type": "rich_text_section", "elements": shown}
    text = "".join(span.text for span in spans)
    return {
        "text": escaped(text),
        "blocks": [{"type": "rich_text", "elements": [section]}],
    }


def _element(span: Span) -> Message:
    if span.style == "link":
        return {"type": "link", "url": span.text}
    styled = {"style": _STYLES[span.style]} if span.style in _STYLES else {}
    return {"type": "text", "text": span.text, **styled}


def _row(number: int, row: tuple[Button, ...]) -> Message:
    return {
        "type": "actions",
        "elements": [
            {
                "type": "button",
                "action_id": f"{BUTTON}:{number}:{place}",
                "text": {"type": "plain_text", "text": button.label[:_LABEL_MAX_CHARS]},
                "value": button.data,
            }
            for place, button in enumerate(row[:_ROW_MAX_COUNT])
        ],
    }
