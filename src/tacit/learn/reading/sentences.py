"""A message cut into sentences and clauses that keep their place in it; what is not the speaker's
own plain word (quotes, code, what somebody else wrote) is blanked out first."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from tacit.learn.reading.tongue import Tongue

LOOKED_AT_MAX_CHARS = 2_000
SENTENCES_MAX_COUNT = 40
CLAUSES_MAX_COUNT = 8
CLAUSE_MAX_CHARS = 300
# Stands for what was blanked out: no form has a place for it.
BLANK = "▒"

_STRAIGHT = {"’": "'", "‘": "'", "ʼ": "'", "`": "'", "“": '"', "”": '"', "„": '"', "«": '"'}
_STRAIGHT |= {"»": '"', "‟": '"', "–": "-", "—": "-", "‐": "-", "‑": "-", "…": "."}
_FENCE = re.compile(r"```.{0,2000}?(?:```|\Z)", re.DOTALL)
_TICKS = re.compile(r"`[^`\n]{1,200}`")
_DOUBLE = re.compile(r'"[^"\n]{1,400}(?:"|$)')
_SINGLE = re.compile(r"(?<!\w)'[^'\n]{2,300}'(?!\w)|(?<!\w)'[^\n]{2,300}[.!?,]'(?!\w)")
_GAP = re.compile(r"\s{9,}")
_PICTURE = "\ue000"
_SMILEY = re.compile(r"(?<=\s)[:;=]-?[()DPp](?=\s)")
_PICTURES = re.compile(f"{_PICTURE}[{_PICTURE} ]*(?=[^?!.,;:){_PICTURE} ])")
_EMPHASIS = re.compile(r'[*~"`]+|(?<!\w)_+|_+(?!\w)')
_SPACES = re.compile(r"[^\S\n]+")
_ADORNMENTS = ("*", "~", '"', "`", "_", "  ", "\t", "\r", "\xa0")
_LINK = re.compile(r"\b(?:https?://|www\.)\S{1,300}")
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\|).*$", re.MULTILINE)
_CODE_LINE = re.compile(
    r"^.*(?:[{}]|;[ \t]*$|==|=>|\+=|</|/>|\w\(.{0,80}\)[ \t]*[:;{]?[ \t]*$|^\s*[$#] \w"
    r"|^\s*(?:def|import|class|const|let|var|function|select|insert|return) .{0,80}[(){}=;*]"
    r"|\w = \S|\"\w+\": ).*$",
    re.MULTILINE | re.IGNORECASE,
)
_SPOKEN_LINE = re.compile(
    r"^[ \t]*(?:\[[^\]\n]{1,40}\][ \t]*)?(@?\w[\w .-]{0,30}):[ \t]", re.MULTILINE
)
_END = re.compile(r"[.!?]{1,10}[\")]{0,2}(?=\s|$)|\n+|;(?=\s)|$")
_LAST_WORD = re.compile(r"[\w.]+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of the message: `text` is what the rules read, with the same length."""

    start: int
    end: int
    text: str
    asked: bool = False  # it ends with a question mark
    opened: bool = True  # it begins a sentence


def squeezed(text: str) -> str:
    """The message with gaps as people write them: rules go back over a long one again and again."""
    return _GAP.sub(lambda gap: "\n\n" if "\n" in gap[0] else " ", text)


def blanked(text: str, tongue: Tongue) -> str:
    """The message with everything that is not the speaker's own plain word blanked out."""
    seen = text[:LOOKED_AT_MAX_CHARS]
    # Straight quotes come after backticks, which mean code in pairs and an apostrophe alone.
    for pattern in (_FENCE, _TICKS):
        seen = pattern.sub(_blank, seen)
    if seen.isascii():  # then there is but one of them to straighten, and no picture
        seen = seen.replace("`", "'")
    else:
        seen = "".join(_STRAIGHT.get(char, char) for char in seen)
        seen = "".join(_PICTURE if _picture(char) else char for char in seen)
    seen = _SMILEY.sub(lambda match: _PICTURE * len(match[0]), seen)
    # A picture ends a sentence, where nothing else does.
    seen = _PICTURES.sub(lambda match: "." + " " * (len(match[0]) - 1), seen)
    seen = seen.replace(_PICTURE, " ")
    for pattern in (_QUOTED_LINE, _CODE_LINE, _DOUBLE, _SINGLE, _LINK):
        seen = pattern.sub(_blank, seen)
    return _without_other_speakers(seen, tongue)


def unadorned(text: str) -> str:
    """The text without what only its look is made of: typographic quotes and dashes, pictures,
    emphasis, marks without a width, spaces in a row. Its length may change."""
    if not text.isascii():
        text = "".join(_STRAIGHT.get(char, char) for char in text)
        text = "".join("" if _is_invisible(char) else char for char in text)
        text = "".join("." if _picture(char) else char for char in text)
    if any(mark in text for mark in _ADORNMENTS):
        text = _SPACES.sub(" ", _EMPHASIS.sub("", text))
    return text


def _is_invisible(char: str) -> bool:
    return char > "\x7f" and (unicodedata.category(char) == "Cf" or "︀" <= char <= "️")


def _blank(match: re.Match[str]) -> str:
    return BLANK * len(match[0])


def _picture(char: str) -> bool:
    return char > "\x7f" and (unicodedata.category(char) in ("So", "Sk", "Cf") or "︀" <= char <= "️")


def _without_other_speakers(text: str, tongue: Tongue) -> str:
    """A line that opens with a name and a colon is pasted from somebody else's talk."""
    cuts = []
    for match in _SPOKEN_LINE.finditer(text):
        label = match[1].split()
        named = all(word[:1].isupper() or word[:1] == "@" for word in label)
        own = {word.casefold() for word in label} & tongue.words["labels"]
        if named and len(label) <= 3 and not own:
            stop = text.find("\n", match.end())
            cuts.append((match.start(), len(text) if stop < 0 else stop))
    for start, stop in cuts:
        text = text[:start] + BLANK * (stop - start) + text[stop:]
    return text


def sentences(seen: str, tongue: Tongue) -> list[Piece]:
    found: list[Piece] = []
    start = 0
    for match in _END.finditer(seen):
        if match.start() < len(seen) and not _ends(seen, match, tongue):
            continue
        piece = _trimmed(seen, start, match.start(), asked="?" in match[0])
        if piece:
            found.append(piece)
        start = match.end()
        if len(found) == SENTENCES_MAX_COUNT:
            break
    return found


def _ends(seen: str, match: re.Match[str], tongue: Tongue) -> bool:
    """Whether a full stop ends a sentence, and not an abbreviation, an initial or an ordinal."""
    if match[0] != ".":
        return True
    before = _LAST_WORD.search(seen, max(0, match.start() - 20), match.start())
    if before is None:
        return True
    word = before[0].casefold()
    if word in tongue.words["abbreviations"]:
        return False
    after = re.match(r"\s+(\w+)", seen[match.end() : match.end() + 30])
    if word.isdecimal() and len(word) <= 2:
        return not (after and after[1].casefold() in tongue.words["months"])
    return not (len(word) == 1 and before[0].isupper() and word != tongue.texts["one_letter_word"])


def clauses(sentence: Piece, tongue: Tongue) -> list[Piece]:
    """A sentence cut where a new subject, or a verb that shares the last one, begins."""
    found: list[Piece] = []
    start = 0
    for match in tongue.patterns["joint"].finditer(sentence.text):
        before = sentence.text[start : match.start()]
        bare = tongue.patterns["bare_subject"].match(before) and not match[0].startswith(":")
        if bare or only_date(before, tongue):
            continue  # "Bob and I", "Last week, my aunt": one clause, not two
        if match[0].isspace() and tongue.has("subordinating", before):
            continue
        found.append(_clause(sentence, start, match.start(), opened=start == 0))
        start = match.end()
        if len(found) == CLAUSES_MAX_COUNT:
            break
    found.append(_clause(sentence, start, len(sentence.text), opened=start == 0))
    return [piece for piece in found if piece.text]


def only_date(text: str, tongue: Tongue) -> bool:
    text = text.strip()
    return any(form.match.fullmatch(text) for form in tongue.dates.forms)


def _clause(sentence: Piece, start: int, end: int, *, opened: bool) -> Piece:
    piece = _trimmed(sentence.text, start, end)
    if piece is None or piece.end - piece.start > CLAUSE_MAX_CHARS:
        return Piece(start=0, end=0, text="")
    return Piece(
        start=sentence.start + piece.start,
        end=sentence.start + piece.end,
        text=piece.text,
        opened=opened,
    )


def _trimmed(seen: str, start: int, end: int, *, asked: bool = False) -> Piece | None:
    while start < end and (seen[start].isspace() or seen[start] in ",:-*•)"):
        start += 1
    while start < end and (seen[end - 1].isspace() or seen[end - 1] in ",-:("):
        end -= 1
    return Piece(start=start, end=end, text=seen[start:end], asked=asked) if start < end else None
