"""Words as both databases index them and questions ask for them: one way to split and spell text.

Neither database's own parser is used: they differ on diacritics, hosts, paths and numbers, and a
memory must be found by the same words on both. Scripts without spaces are kept as whole runs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from tacit import limits
from tacit.unicode_forms import normalize

_WORD = re.compile(r"[^\W_]+")
# Han, kana, Thai, Lao, Myanmar, Khmer: written without spaces, so that a word may begin anywhere.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
)
_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_PIECE_CHARS = 8  # of a run without spaces that is compared at once
_PIECES_MAX_COUNT = 2_000  # of one memory: what is longer is found by its beginning


def terms(text: str) -> list[str]:
    """The words of a text in order, without case, accents and typographic variants."""
    return [word for word in _words(text) if len(word) <= limits.RECALL_WORD_MAX_CHARS]


def said(text: str) -> list[str]:
    """What a text is indexed by: its words in order, long ones cut; in scripts without spaces also
    what begins at each character."""
    whole = [word[: limits.RECALL_WORD_MAX_CHARS] for word in _words(text)]
    pieces: list[str] = []
    for word in whole:
        if not word.isascii() and _IS_UNSPACED.search(word):
            pieces += _pieces(word)
    return whole + pieces[:_PIECES_MAX_COUNT]


def begun(text: str) -> tuple[str, ...]:
    """What somebody has typed so far, as beginnings: a text is meant where each of them begins
    something that it is indexed by."""
    found: list[str] = []
    for word in _words(text):
        cut = word[: limits.RECALL_WORD_MAX_CHARS]
        if cut.isascii() or not _IS_UNSPACED.search(cut):
            found.append(cut)
            continue
        for run in _RUN.findall(cut):
            step = _PIECE_CHARS if _IS_UNSPACED.match(run) else len(run)
            found += [run[at : at + step] for at in range(0, len(run), step)]
    return tuple(dict.fromkeys(found))


def _pieces(word: str) -> Iterator[str]:
    for run in _RUN.findall(word):
        if not _IS_UNSPACED.match(run):
            yield run
            continue
        for at in range(len(run)):
            yield run[at : at + _PIECE_CHARS]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower() if text.isascii() else _bare(text))


def _bare(text: str) -> str:
    plain = normalize("NFKD", normalize("NFKC", text).casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))
