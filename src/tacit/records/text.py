"""Fold, split and stem text for search, show keys as words, and count tokens."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

from Stemmer import Stemmer

from tacit import limits
from tacit.errors import InvalidInput, MissingExtra
from tacit.unicode import normalize_unicode

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
_PIECE = re.compile(rf"[{_CJK_WIDE}]+|[^\W_{_CJK_WIDE}]+|[{_EMOJI}]")
_IS_CJK = re.compile(rf"[{_CJK_WIDE}]")
_PLAIN = re.compile(r"[a-z]+\Z")


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
    return [one[:_WORD_MAX_CHARS] for one in _PIECE.findall(fold_text(text))]


def stem_words(text: str) -> list[str]:
    """Return the index terms of a text in order, repetitions included."""
    found: list[str] = []
    for piece in _PIECE.findall(fold_text(text)):
        if piece in STOP_WORDS:
            continue
        if piece.isascii() or not _IS_CJK.match(piece):
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
_SCRIPT_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
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
        if not word.isascii() and _IS_UNSPACED.search(word):
            pieces += _split_unspaced(word)
    return whole + pieces[:_PIECES_MAX_COUNT]


def parse_prefix_terms(text: str) -> tuple[str, ...]:
    """Return the prefixes in a typed query; a text matches if each prefix begins one of its terms."""
    found: list[str] = []
    for word in _split_folded(text):
        cut = word[: limits.RECALL_WORD_MAX_CHARS]
        if cut.isascii() or not _IS_UNSPACED.search(cut):
            found.append(cut)
            continue
        for run in _SCRIPT_RUN.findall(cut):
            step = _PIECE_CHARS if _IS_UNSPACED.match(run) else len(run)
            found += [run[at : at + step] for at in range(0, len(run), step)]
    return tuple(dict.fromkeys(found))


def _split_unspaced(word: str) -> Iterator[str]:
    for run in _SCRIPT_RUN.findall(word):
        if not _IS_UNSPACED.match(run):
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


# Token counts: exact with a tokenizer file, otherwise an estimate or an upper bound.

TokenCounter = Callable[[str], int]
_FORMS: Final = ("NFC", "NFKC")
_NORMALIZED_CHARS: Final = 256

# Parameters of `estimate_tokens`, fitted to the byte-pair vocabulary o200k_base.
_UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de"
_LOWER = "a-z\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff"
_LATIN_WORD = re.compile(rf"[{_UPPER}]?[{_LOWER}]+|[{_UPPER}]+")
_ENDING = re.compile(r"(?<=[a-z])['\u2019](?:s|t|m|d|re|ve|ll)\b")
_DIGITS = re.compile(r" ?[0-9]{1,3}")  # a space before digits is a token of its own
_BLANKS = re.compile(r"[^\S\n]{2,}|\t|(?<=[\w ])\n")
_MARKS = re.compile(
    r"([!-/:-@\[-`{-~\u00a1-\u00bf\u00d7\u00f7\u2010-\u2027\u2030-\u205e]+)"
    r"(?:(?<!\")(?=([^\W\d_])))?"
)
_OTHER_SCRIPT = re.compile(r"[\u0250-\u1dff\u1f00-\u200f\u2028-\u202f\u205f-\U0010ffff]")
# Words and letters that mark a line as not English.
_FOREIGN = re.compile(
    r"(?i:\b(?:als|auf|aus|das|dem|den|der|die|ein|eine|einen|f\u00fcr|hat|ich|im|ist|mein|meine|"
    r"mit|nach|nicht|noch|seit|sind|und|vom|von|wie|wir|zu|zum|dans|des|du|est|et|je|les|pour|une|"
    r"con|el|las|los|para|por|que|una|che|da|della|di|il|nel|sono|em|uma|een|het|ik|niet|van|att|"
    r"ett|jag|och|som|jako|jest|na|od|bir|ve)\b)|[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]"
)
_FOREIGN_SHARE: Final = 0.17  # share of such words in a line that is wholly in another language
_ONE_TOKEN_CHARS: Final = 9  # up to here an English word is one token
_ONE_TOKEN_FOREIGN_CHARS: Final = 4.7
_TOKENS_PER_LETTER: Final = 0.12  # tokens for each further letter
_TOKENS_PER_FOREIGN_LETTER: Final = 0.27
# Tokens for a character of another script: (first code point after it, tokens).
_SCRIPTS: Final = (
    (0x0900, 0.37),  # Greek, Cyrillic, Hebrew, Arabic
    (0x0E00, 0.3),  # Indic
    (0x0F00, 0.46),  # Thai, Lao
    (0x2000, 0.6),
    (0x2E80, 1.4),  # symbols
    (0x3040, 0.9),  # CJK punctuation
    (0x3100, 0.8),  # kana
    (0xA000, 0.86),  # Han
    (0xAC00, 1.0),
    (0xD7B0, 0.7),  # Hangul
    (0xF900, 1.5),
    (0xFE00, 0.9),
    (0xFE10, 0.8),  # variation selectors
    (0x10000, 0.9),  # full-width forms
    (0x110000, 1.8),  # emoji
)
_SCRIPT_ENDS: Final = [end for end, _ in _SCRIPTS]


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a current byte-pair tokenizer.

    Within 20 % of o200k_base on ordinary text of twenty tokens or more. Each line is estimated
    alone, because the language of a line decides how many of its words are one token.
    """
    if not text:
        return 0
    return max(1, round(sum(map(_estimate_line, text.splitlines(keepends=True)))))


def _estimate_line(line: str) -> float:
    plain, endings = _ENDING.subn("", line)
    lengths = [len(word) for word in _LATIN_WORD.findall(plain)]
    digits = _DIGITS.findall(plain)
    tokens: float = len(lengths) + 0.25 * endings + len(digits) + len(_BLANKS.findall(plain))
    tokens += _TOKENS_PER_LETTER * sum(size - _ONE_TOKEN_CHARS for size in lengths if size > _ONE_TOKEN_CHARS)
    tokens += sum(part[0] == " " for part in digits)
    for marks, letter in _MARKS.findall(plain):
        # A mark before a word is often one token with it: "_id", ".com", "(see".
        tokens += 0.7 + 0.3 * len(marks) - (0.6 if letter else 0.0)
    foreign = len(_FOREIGN.findall(plain)) if lengths else 0
    if foreign:
        share = min(1.0, foreign / (_FOREIGN_SHARE * len(lengths)))
        tokens += share * sum(map(_further_tokens, lengths))
    if not plain.isascii():
        found = _OTHER_SCRIPT.findall(plain)
        tokens += sum(_SCRIPTS[bisect_right(_SCRIPT_ENDS, ord(char))][1] for char in found)
    return tokens


def _further_tokens(size: int) -> float:
    """Return how many more tokens a word of this length has in another language than in English."""
    english = _TOKENS_PER_LETTER * max(0, size - _ONE_TOKEN_CHARS)
    return max(0.0, _TOKENS_PER_FOREIGN_LETTER * (size - _ONE_TOKEN_FOREIGN_CHARS) - english)


def token_upper_bound(text: str) -> int:
    """Return an upper bound for every byte-level or byte-fallback tokenizer.

    Such a tokenizer makes at most one token per byte. Some normalize first, which can lengthen a
    text: the longest form counts. Some prepend a space: one more. Tokens of a chat template are
    not counted.
    """
    if not text:
        return 0
    if text.isascii():
        return len(text) + 1
    # In parts: normalizing a part alone never makes it shorter, and a long run of marks is slow.
    parts = [text[at : at + _NORMALIZED_CHARS] for at in range(0, len(text), _NORMALIZED_CHARS)]
    forms = (text, *("".join(unicodedata.normalize(form, one) for one in parts) for form in _FORMS))
    return max(len(form.encode("utf-8", "surrogatepass")) for form in forms) + 1


def load_token_counter(path: str) -> TokenCounter:
    """Return a counter that uses a `tokenizer.json`; a chat template's tokens are not counted."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtra("embeddings", "counting tokens with a tokenizer file") from None
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as problem:  # the library raises nothing narrower
        raise InvalidInput(
            "tokenizer", f"{path} is not a readable tokenizer.json ({problem}); check the path"
        ) from problem
    # A file may enable truncation or padding, and both would give a wrong count.
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count


def count_parts_within(
    parts: Sequence[str], budget: int, count: TokenCounter, *, join: Callable[[Sequence[str]], str] = "\n".join
) -> int:
    """Return how many parts, from the first on, fit the budget when joined.

    Counts the joined text, because token counts do not add up. With a tokenizer whose count does
    not always grow with the text, the result may be a few parts too small, never too large.
    """
    fits, too_many = 0, len(parts) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if count(join(parts[:middle])) <= budget:
            fits = middle
        else:
            too_many = middle
    return fits
