"""Long text in parts that a channel takes: cut where people would pause, never inside a character.

Nothing is lost between two parts but the white space at the cut.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

from tacit.surfaces.chat.say import Span

# How much of a channel's room a span takes, whatever is counted there: characters, UTF-16 units,
# bytes once it is escaped. Longer text takes more, and each character takes at least one.
Measure = Callable[[Span], int]

_PARAGRAPH, _LINE, _WORD = "\n\n", "\n", " "
_JOINER = "\u200d"
_PICTURE_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_FLAG_TAGS = range(0xE0020, 0xE0080)
_HANGUL_VOWELS_AND_FINALS = range(0x1160, 0x1200)


def parts(spans: Iterable[Span], most: int, measure: Measure) -> list[tuple[Span, ...]]:
    """What is said, in parts of at most `most` each: ended at a paragraph, else at a line, else at
    a word, and only where one word is too long for a part, between two of its characters."""
    whole = _Whole(spans, measure)
    found: list[tuple[Span, ...]] = []
    start = whole.after_white_space(0, _LINE)
    while start < len(whole.text):
        room = whole.room(start, most)
        end, then = (room, room) if room == len(whole.text) else whole.cut(start, room)
        cut = whole.spans(start, end)
        if any(span.text.strip() for span in cut):
            found.append(cut)
        start = then
    return found


class _Whole:
    """All spans as one text, and where each of them stands in it."""

    def __init__(self, spans: Iterable[Span], measure: Measure) -> None:
        self._measure = measure
        self._given = [span for span in spans if span.text]
        self.text = "".join(span.text for span in self._given)

    def spans(self, start: int, end: int) -> tuple[Span, ...]:
        found, at = [], 0
        for span in self._given:
            text = span.text[max(0, start - at) : max(0, end - at)]
            if text:
                found.append(Span(text, span.style))
            at += len(span.text)
            if at >= end:
                break
        return tuple(found)

    def room(self, start: int, most: int) -> int:
        """How far a part that begins here may go. One character at least, or it would never end."""
        low, high = start + 1, min(len(self.text), start + most)
        while low < high:
            middle = (low + high + 1) // 2
            if sum(map(self._measure, self.spans(start, middle))) <= most:
                low = middle
            else:
                high = middle - 1
        return low

    def cut(self, start: int, room: int) -> tuple[int, int]:
        """Where this part ends, and where the next one begins. A pause near the beginning would
        leave most of the room empty: then the next smaller kind of pause is taken."""
        for pause in (_PARAGRAPH, _LINE, _WORD):
            at = self.text.rfind(pause, start + (room - start) // 3, room + len(pause))
            if at > start:
                return self._before_white_space(start, at), self.after_white_space(at, pause)
        end = room
        while end > start + 1 and _belong_together(self.text, end):
            end -= 1
        if _belong_together(self.text, end):
            end = room  # one character with so many marks that it fits nowhere
        return end, end

    def after_white_space(self, at: int, pause: str) -> int:
        """Empty lines at a cut are dropped; how far the next line is set in is not."""
        drop = _LINE if _LINE in pause else _WORD
        while at < len(self.text) and self.text[at] in drop:
            at += 1
        return at

    def _before_white_space(self, start: int, at: int) -> int:
        while at > start and self.text[at - 1].isspace():
            at -= 1
        return at


def _belong_together(text: str, at: int) -> bool:
    """Whether what stands before and after this place is read as one character."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if _JOINER in (before, after) or (before, after) == ("\r", "\n"):
        return True
    number = ord(after)
    if number in _FLAG_LETTERS:
        return _flag_letters_before(text, at) % 2 == 1
    return (
        unicodedata.category(after) in ("Mn", "Me", "Mc")
        or number in _PICTURE_TONES
        or number in _FLAG_TAGS
        or number in _HANGUL_VOWELS_AND_FINALS
    )


def _flag_letters_before(text: str, at: int) -> int:
    count = 0
    while at > count and ord(text[at - count - 1]) in _FLAG_LETTERS:
        count += 1
    return count
