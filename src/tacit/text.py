"""Normalize, fold, split and stem text, undo disguises, and show keys as words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal

from Stemmer import Stemmer

from tacit import limits

# The standard library sorts a run of combining marks by insertion: half a million marks in one
# request would take minutes. No writing system puts more than a few marks on a letter, so marks
# after the 64th of a run are dropped before normalization. This applies to text that is compared,
# searched or shown; stored text stays as written.

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]
COMBINING_MARKS_MAX_COUNT = 64  # in a row, counted after decomposition
# `re` treats no combining mark as a letter or digit, except two that become marks when normalized.
# A mark decomposes into at most two, so a run of half the limit cannot exceed the limit.
_MARK_RUN = re.compile(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{COMBINING_MARKS_MAX_COUNT // 2 + 1},}}")


def normalize_unicode(form: NormalForm, text: str) -> str:
    """Normalize like `unicodedata.normalize`, keeping at most 64 combining marks in a row."""
    if text.isascii():
        return text
    return unicodedata.normalize(form, _MARK_RUN.sub(_limit_marks, text))


def _limit_marks(run: re.Match[str]) -> str:
    kept: list[str] = []
    count = 0
    for char in run[0]:
        parts = unicodedata.normalize("NFKD", char)
        if not unicodedata.combining(parts[0]):
            count = 0
        elif (count := count + len(parts)) > COMBINING_MARKS_MAX_COUNT:
            continue
        kept.append(char)
    return "".join(kept)


# Text as a reader sees it, used by checks and never stored.

# Controls, soft hyphen, joiners, direction marks, tags, fillers and variation selectors.
INVISIBLE_CHARS = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20e3\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff"
)
_INVISIBLE_RUN = re.compile(f"[{INVISIBLE_CHARS}]+")
_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")
# NFKC does not map these characters to the ones that they look like.
_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2236\ua789\u02d0", ":"),
        **dict.fromkeys("\u2044\u2215", "/"),
        "\u2800": " ",
        # Ligatures of a whole sentence: NFKC would expand them to 18 and 8 letters.
        "\ufdfa": "\u0635",
        "\ufdfb": "\u062c",
        "\u2028": "\n",
        "\u2029": "\n",
    }
)
_LATIN = re.compile(r"[A-Za-z]")
_LETTERS = re.compile(r"[^\W\d_]+")
_HOMOGLYPHS = str.maketrans(
    "\u0430\u0410\u0412\u0441\u0421\u0435\u0415\u041d\u0456\u0406\u0458\u0408\u041a\u043a\u041c"
    "\u043e\u041e\u0440\u0420\u0455\u0405\u0422\u0445\u0425\u0443\u0423\u04bb\u0501\u051b\u051d"
    "\u03b1\u0391\u0392\u0395\u0397\u0399\u03b9\u039a\u03ba\u039c\u039d\u03bf\u039f\u03a1\u03c1"
    "\u03a4\u03a7\u03a5\u03bd\u0131",
    "aABcCeEHiIjJKkMoOpPsSTxXyYhdqwaABEHIiKkMNoOPpTXYvi",
)


def strip_invisible(text: str) -> str:
    """Remove invisible characters."""
    return _INVISIBLE_RUN.sub("", text)


def list_readings(text: str) -> tuple[str, ...]:
    """Return the text as a reader sees it, in two variants if invisible characters may split words.

    One variant removes the invisible characters, the other replaces them by spaces.
    """
    if text.isascii() and not _INVISIBLE_RUN.search(text):
        return (text,)
    joined = _normalize_reading(_INVISIBLE_RUN.sub("", text))
    parted = _normalize_reading(_INVISIBLE_RUN.sub(" ", text))
    return (joined,) if joined == parted else (joined, parted)


def _normalize_reading(text: str) -> str:
    text = normalize_unicode("NFKC", text.translate(_LOOKALIKES))
    text = _FOREIGN_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
    return _LETTERS.sub(_unify_script, text)


def _unify_script(word: re.Match[str]) -> str:
    """Map homoglyphs to Latin in a word that mixes scripts; a wholly Cyrillic word stays."""
    letters = word[0]
    if letters.isascii() or not _LATIN.search(letters):
        return letters
    return letters.translate(_HOMOGLYPHS)


# Terms of the in-memory index: folded, split, without stop words, English words stemmed. Runs of
# Han, kana and Hangul become single characters and pairs.

_WORD_MAX_CHARS = 64
_CACHED_WORDS_COUNT = 65_536
_ACCENT_CLASS_MIN = 200
_EXPANSION_MAX = 3  # folded characters for each of the text

# Function words only: "no", "more" and "first" carry content and are not listed.
STOP_WORDS = frozenset(
    """
    a about above after again against all am an and any are as at be because been before being
    below between both but by can could did do does doing down during each few for from further had
    has have having he her here hers herself him himself his how i if in into is it its itself just
    me most my myself of off on once only or other our ours ourselves out over own same she should
    so some such than that the their theirs them themselves then there these they this those
    through to too under until up us very was we were what when where which while who whom whose
    why will with would you your yours yourself yourselves s t d m re ve ll don didn doesn isn aren
    wasn weren hasn haven hadn won wouldn couldn shouldn
    """.split()  # noqa: SIM905 (a list of words reads better as one)
)

_CJK = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_WIDE = _CJK + "\U00020000-\U0003134f"
_EMOJI = "\u2600-\u27bf\U0001f300-\U0001faff"
_PIECE = rf"[{_CJK_WIDE}]+|[^\W_{_CJK_WIDE}]+|[{_EMOJI}]"
_IS_CJK = rf"[{_CJK_WIDE}]"
_PLAIN = re.compile(r"[a-z]+\Z")


@cache
def _pattern(source: str) -> re.Pattern[str]:
    """Compile at the first use: classes of Han characters take milliseconds, and every import pays."""
    return re.compile(source)


def fold_case(text: str) -> str:
    """Return the text without the case that patterns do not see."""
    return text.casefold().replace("ı", "i").replace("i\u0307", "i")


def fold_text(text: str) -> str:
    """Return the text in lower case without accents: 'Café' and 'cafe' are one word."""
    if text.isascii():
        return text.lower()
    # Only a text made of ligatures expands further (one of them to 18 characters): cut it, so that
    # its cost goes by its length. Hangul needs three characters a syllable before it is composed.
    parts = normalize_unicode("NFKD", text.casefold())[: _EXPANSION_MAX * len(text)]
    return normalize_unicode("NFC", _accents().sub("", parts))


@cache
def _accents() -> re.Pattern[str]:
    """Match marks above and below letters; voiced kana and Indic vowels are distinct letters."""
    marks = (chr(code) for code in range(0x300, 0x1F000))
    return re.compile(f"[{''.join(m for m in marks if unicodedata.combining(m) >= _ACCENT_CLASS_MIN)}]+")


def split_words(text: str) -> list[str]:
    """Return the folded words of a text in order, stop words included; a CJK run is one word."""
    return [one[:_WORD_MAX_CHARS] for one in _pattern(_PIECE).findall(fold_text(text))]


def stem_words(text: str) -> list[str]:
    """Return the index terms of a text in order, repetitions included."""
    found: list[str] = []
    for piece in _pattern(_PIECE).findall(fold_text(text)):
        if piece in STOP_WORDS:
            continue
        if piece.isascii() or not _pattern(_IS_CJK).match(piece):
            found.append(stem_word(piece[:_WORD_MAX_CHARS]))
        else:
            found.extend(piece)
            found.extend(piece[at : at + 2] for at in range(len(piece) - 1))
    return found


@lru_cache(maxsize=_CACHED_WORDS_COUNT)
def stem_word(word: str) -> str:
    """Strip the ending of an English word (Porter's algorithm); return any other word as it is."""
    if len(word) <= 2 or not _PLAIN.match(word):
        return word
    # A stemmer object is not safe to share between threads, and is cheap to make.
    stem: str = Stemmer("porter", 0).stemWord(word)
    return stem


# Terms of the full-text index, the same on both databases: their own parsers differ on diacritics,
# hosts, paths and numbers. Scripts without spaces are kept as whole runs.

_TERM = re.compile(r"[^\W_]+")
# Han, kana, Thai, Lao, Myanmar, Khmer: a word may begin at any character.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
)
_SCRIPT_RUN = f"[{_UNSPACED}]+|[^{_UNSPACED}]+"
_IS_UNSPACED = f"[{_UNSPACED}]"
_PIECE_CHARS = 8  # length of an indexed piece of a run without spaces
_PIECES_MAX_COUNT = 2_000  # per memory; the rest of a longer text is not indexed


def split_terms(text: str) -> list[str]:
    """Return the words of a text in order, without case, accents and typographic variants."""
    return [word for word in _split_folded(text) if len(word) <= limits.RECALL_WORD_MAX_CHARS]


def index_terms(text: str) -> list[str]:
    """Return the terms to index: words in order, long ones cut.

    In scripts without spaces also the piece that begins at each character.
    """
    whole = [word[: limits.RECALL_WORD_MAX_CHARS] for word in _split_folded(text)]
    pieces: list[str] = []
    for word in whole:
        if not word.isascii() and _pattern(_IS_UNSPACED).search(word):
            pieces += _split_unspaced(word)
    return whole + pieces[:_PIECES_MAX_COUNT]


def parse_prefix_terms(text: str) -> tuple[str, ...]:
    """Return the prefixes in a typed query; a text matches if each prefix begins one of its terms."""
    found: list[str] = []
    for word in _split_folded(text):
        cut = word[: limits.RECALL_WORD_MAX_CHARS]
        if cut.isascii() or not _pattern(_IS_UNSPACED).search(cut):
            found.append(cut)
            continue
        for run in _pattern(_SCRIPT_RUN).findall(cut):
            step = _PIECE_CHARS if _pattern(_IS_UNSPACED).match(run) else len(run)
            found += [run[at : at + step] for at in range(0, len(run), step)]
    return tuple(dict.fromkeys(found))


def _split_unspaced(word: str) -> Iterator[str]:
    for run in _pattern(_SCRIPT_RUN).findall(word):
        if not _pattern(_IS_UNSPACED).match(run):
            yield run
            continue
        for at in range(len(run)):
            yield run[at : at + _PIECE_CHARS]


def _split_folded(text: str) -> list[str]:
    return _TERM.findall(text.lower() if text.isascii() else _fold_accents(text))


def _fold_accents(text: str) -> str:
    plain = normalize_unicode("NFKD", normalize_unicode("NFKC", text).casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))


# Keys of memories as text. Keys that a program generates, such as `users/1//prefs`, have no words.
_GENERATED_KEY = re.compile(r"[|%]|//|^/")
_CAMEL_CASE_BOUNDARY = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_KEY_WORD = re.compile(r"[^\W_]+")
_LAST_PART = re.compile(r"[^:/]+$")


def show_with_key(key: str | None, content: str) -> str:
    """Return the content with its key, for display: `timezone: Europe/Lisbon`."""
    return f"{key}: {content}" if key is not None and _adds_information(key, content) else content


def text_to_embed(key: str | None, content: str) -> str:
    """Return the text to embed: `preferred name: Nina`."""
    words = key_words(key)
    if key and words and _adds_information(key, content):
        return f"{' '.join(words)}: {content}"
    return content


def key_words(key: str | None) -> list[str]:
    """Return the words of a key: `preferred_name` and `preferredName` are both "preferred name"."""
    if key is None or _GENERATED_KEY.search(key):
        return []
    return split_key(key).split()


def split_key(key: str) -> str:
    """Return a key with a space between its words, also if a program generated it."""
    return " ".join(_KEY_WORD.findall(_CAMEL_CASE_BOUNDARY.sub(" ", key)))


def join_neighbors(words: list[str]) -> list[str]:
    """Join each two neighbors into one word, so that "time zone" also matches "timezone"."""
    return [one + other for one, other in pairwise(words)]


def _adds_information(key: str, content: str) -> bool:
    """Whether the key adds to the content. `node:Apollo` does not to "Apollo is a project"."""
    name = _LAST_PART.search(key)
    if _GENERATED_KEY.search(key) or name is None:
        return False
    start, following = content[: len(name[0])], content[len(name[0]) : len(name[0]) + 1]
    return start.casefold() != name[0].casefold() or following not in (" ", ":")
