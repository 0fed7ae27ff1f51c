"""Fold, split and stem text for search, show keys as words, and count tokens."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from tacit import limits
from tacit.errors import InvalidInput, MissingExtra
from tacit.unicode import normalize_unicode

# Words as recall compares them: folded, split, stop words dropped, English endings removed.
#
# Any script passes through: runs of Han, kana and Hangul become single characters and pairs.

_WORD_MAX_CHARS = 64
_CACHED_WORDS_COUNT = 65_536
_ACCENT_CLASS_MIN = 200

# Function words of questions and chat. Kept short of content: "no", "more", "first" stay out of it.
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
_EMOJI = "\u2600-\u27bf\U0001f300-\U0001faff"  # an emoji says something by itself
_PIECE = re.compile(rf"[{_CJK_WIDE}]+|[^\W_{_CJK_WIDE}]+|[{_EMOJI}]")
_IS_CJK = re.compile(rf"[{_CJK_WIDE}]")
_PLAIN = re.compile(r"[a-z]+\Z")


def fold_text(text: str) -> str:
    """Lower case without accents, so that 'Café' and 'cafe' are one word."""
    if text.isascii():
        return text.lower()
    parts = normalize_unicode("NFKD", text.casefold())
    # Only marks above and below letters go: voiced kana and Indic vowels are other letters.
    bare = "".join(one for one in parts if unicodedata.combining(one) < _ACCENT_CLASS_MIN)
    return normalize_unicode("NFC", bare)


def split_words(text: str) -> list[str]:
    """The folded words of a text in order, stop words and all; a run of CJK is one word."""
    return [one[:_WORD_MAX_CHARS] for one in _PIECE.findall(fold_text(text))]


def stem_words(text: str) -> list[str]:
    """The terms of a text in order, repeated as often as they are said."""
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
    """An English word without its ending, after Porter (1980); anything else as it is."""
    if len(word) <= 2 or not _PLAIN.match(word):
        return word
    word = _strip_plural(word)
    word = _strip_past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_ending(word, _DOUBLE_ENDINGS)
    word = _replace_ending(word, _FULL_ENDINGS)
    word = _strip_last_ending(word)
    return _strip_final_e(word)


_DOUBLE_ENDINGS = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_FULL_ENDINGS = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_LAST_ENDINGS = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti",
    "ous", "ive", "ize", "al", "er", "ic", "ou",
)  # fmt: skip


def _shape(part: str) -> str:
    """Consonants as c, vowels as v; y is a vowel after a consonant."""
    shape = ""
    for at, letter in enumerate(part):
        vowel = letter in "aeiou" or (letter == "y" and at > 0 and shape[-1] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(part: str) -> int:
    """How many times a vowel is followed by a consonant: roughly, the syllables closed."""
    return _shape(part).count("vc")


def _has_vowel(part: str) -> bool:
    return "v" in _shape(part)


def _ends_short(part: str) -> bool:
    """Consonant, vowel, consonant at the end, as in 'hop', where an e may have been dropped."""
    return _shape(part).endswith("cvc") and part[-1] not in "wxy"


def _ends_double(part: str) -> bool:
    return len(part) > 1 and part[-1] == part[-2] and _shape(part)[-1] == "c"


def _strip_plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _strip_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        part = word[: -len(ending)]
        if word.endswith(ending) and _has_vowel(part):
            return _restore_stem(part)
    return word


def _restore_stem(part: str) -> str:
    """What is left of 'hoping' and 'hopping' once the ending is off."""
    if part.endswith(("at", "bl", "iz")):
        return part + "e"
    if _ends_double(part) and part[-1] not in "lsz":
        return part[:-1]
    if _measure(part) == 1 and _ends_short(part):
        return part + "e"
    return part


def _replace_ending(word: str, endings: dict[str, str]) -> str:
    for size in range(min(7, len(word) - 1), 1, -1):
        ending = word[-size:]
        if ending in endings:
            part = word[:-size]
            return part + endings[ending] if _measure(part) > 0 else word
    return word


def _strip_last_ending(word: str) -> str:
    for ending in _LAST_ENDINGS:
        if word.endswith(ending):
            part = word[: -len(ending)]
            if ending == "ion" and not part.endswith(("s", "t")):
                return word
            return part if _measure(part) > 1 else word
    return word


def _strip_final_e(word: str) -> str:
    if word.endswith("e"):
        part = word[:-1]
        size = _measure(part)
        if size > 1 or (size == 1 and not _ends_short(part)):
            word = part
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


# Words as both databases index them and questions ask for them: one way to split and spell text.
#
# Neither database's own parser is used: they differ on diacritics, hosts, paths and numbers, and a
# memory must be found by the same words on both. Scripts without spaces are kept as whole runs.

_TERM = re.compile(r"[^\W_]+")
# Han, kana, Thai, Lao, Myanmar, Khmer: written without spaces, so that a word may begin anywhere.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
)
_SCRIPT_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_PIECE_CHARS = 8  # of a run without spaces that is compared at once
_PIECES_MAX_COUNT = 2_000  # of one memory: what is longer is found by its beginning


def split_terms(text: str) -> list[str]:
    """The words of a text in order, without case, accents and typographic variants."""
    return [word for word in _split_folded(text) if len(word) <= limits.RECALL_WORD_MAX_CHARS]


def index_terms(text: str) -> list[str]:
    """What a text is indexed by: its words in order, long ones cut; in scripts without spaces also
    what begins at each character."""
    whole = [word[: limits.RECALL_WORD_MAX_CHARS] for word in _split_folded(text)]
    pieces: list[str] = []
    for word in whole:
        if not word.isascii() and _IS_UNSPACED.search(word):
            pieces += _split_unspaced(word)
    return whole + pieces[:_PIECES_MAX_COUNT]


def parse_prefix_terms(text: str) -> tuple[str, ...]:
    """What somebody has typed so far, as beginnings: a text is meant where each of them begins
    something that it is indexed by."""
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


# The key of a memory as text: shown with its value, and part of what the value is found by.

# Keys that a program makes up, such as `users/1//prefs`, are no words of anybody.
_GENERATED_KEY = re.compile(r"[|%]|//|^/")
_CAMEL_CASE_BOUNDARY = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_KEY_WORD = re.compile(r"[^\W_]+")
_LAST_PART = re.compile(r"[^:/]+$")


def show_with_key(key: str | None, content: str) -> str:
    """A value for people and models to read: `timezone: Europe/Lisbon`."""
    return f"{key}: {content}" if key is not None and _adds_information(key, content) else content


def text_to_embed(key: str | None, content: str) -> str:
    """The text that is embedded: `preferred name: Nina`."""
    words = key_words(key)
    return (
        f"{' '.join(words)}: {content}"
        if key and words and _adds_information(key, content)
        else content
    )


def key_words(key: str | None) -> list[str]:
    """The words of a key: `preferred_name` and `preferredName` are both "preferred name"."""
    if key is None or _GENERATED_KEY.search(key):
        return []
    return _KEY_WORD.findall(_CAMEL_CASE_BOUNDARY.sub(" ", key))


def split_key(key: str) -> str:
    """Return a key with a space between its words, made up or not: to look for words in it."""
    return " ".join(_KEY_WORD.findall(_CAMEL_CASE_BOUNDARY.sub(" ", key)))


def join_neighbors(words: list[str]) -> list[str]:
    """Each two neighbors as one word: "time zone" is asked for as "timezone" too."""
    return [one + other for one, other in pairwise(words)]


def _adds_information(key: str, content: str) -> bool:
    """Not where the content begins with the key: `node:Apollo` of "Apollo is a project"."""
    name = _LAST_PART.search(key)
    if _GENERATED_KEY.search(key) or name is None:
        return False
    said, rest = content[: len(name[0])], content[len(name[0]) : len(name[0]) + 1]
    return said.casefold() != name[0].casefold() or rest not in (" ", ":")


# Counting tokens: with a tokenizer's own file exactly, without one by an estimate or a bound.

TokenCounter = Callable[[str], int]
_FORMS: Final = ("NFC", "NFKC")
_NORMALIZED_CHARS: Final = 256

# What `estimate` goes by, fitted to the byte-pair vocabulary o200k_base.
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
# Words and letters by which a line is known to be in a language other than English.
_FOREIGN = re.compile(
    r"(?i:\b(?:als|auf|aus|das|dem|den|der|die|ein|eine|einen|f\u00fcr|hat|ich|im|ist|mein|meine|"
    r"mit|nach|nicht|noch|seit|sind|und|vom|von|wie|wir|zu|zum|dans|des|du|est|et|je|les|pour|une|"
    r"con|el|las|los|para|por|que|una|che|da|della|di|il|nel|sono|em|uma|een|het|ik|niet|van|att|"
    r"ett|jag|och|som|jako|jest|na|od|bir|ve)\b)|[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]"
)
_FOREIGN_SHARE: Final = 0.17  # of its words, in a line that is wholly in such a language
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
    """About as many tokens as a current byte-pair tokenizer makes of the text.

    Within 20 % of o200k_base on ordinary text of some twenty tokens or more. Each line counts by
    itself, because the language of a line decides how many of its words are one token.
    """
    if not text:
        return 0
    return max(1, round(sum(map(_estimate_line, text.splitlines(keepends=True)))))


def _estimate_line(line: str) -> float:
    plain, endings = _ENDING.subn("", line)
    lengths = [len(word) for word in _LATIN_WORD.findall(plain)]
    digits = _DIGITS.findall(plain)
    tokens: float = len(lengths) + 0.25 * endings + len(digits) + len(_BLANKS.findall(plain))
    tokens += _TOKENS_PER_LETTER * sum(
        size - _ONE_TOKEN_CHARS for size in lengths if size > _ONE_TOKEN_CHARS
    )
    tokens += sum(part[0] == " " for part in digits)
    for marks, letter in _MARKS.findall(plain):
        # A mark right before a word is often one token with it: "_id", ".com", "(see".
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
    """How many more tokens a word of this length has in another language than in English."""
    english = _TOKENS_PER_LETTER * max(0, size - _ONE_TOKEN_CHARS)
    return max(0.0, _TOKENS_PER_FOREIGN_LETTER * (size - _ONE_TOKEN_FOREIGN_CHARS) - english)


def token_upper_bound(text: str) -> int:
    """No fewer tokens than any byte-level or byte-fallback tokenizer makes of the text.

    Such a tokenizer knows each byte as a token, so that the worst it can do is one token for each.
    Some normalise first, which can lengthen a text: the longest form counts. Some put a space
    before it: one more. Tokens that a chat template adds are not in the text and not counted.
    """
    if not text:
        return 0
    if text.isascii():
        return len(text) + 1
    # In parts: a part that is normalised alone is never shorter, and a long run of marks is slow.
    parts = [text[at : at + _NORMALIZED_CHARS] for at in range(0, len(text), _NORMALIZED_CHARS)]
    forms = (text, *("".join(unicodedata.normalize(form, one) for one in parts) for form in _FORMS))
    return max(len(form.encode("utf-8", "surrogatepass")) for form in forms) + 1


def load_token_counter(path: str) -> TokenCounter:
    """Counts as the tokenizer in a `tokenizer.json` does, without what a chat template adds."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtra("embeddings", "counting tokens with a tokenizer file") from None
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as problem:  # the library raises nothing narrower
        raise InvalidInput(
            "tokenizer", f"{path} is no readable tokenizer.json ({problem}); check the path"
        ) from problem
    # A file may say that texts are cut or filled to one length: either would miscount.
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count


def count_parts_within(
    parts: Sequence[str],
    budget: int,
    count: TokenCounter,
    *,
    join: Callable[[Sequence[str]], str] = "\n".join,
) -> int:
    """How many of the parts, from the first on, fit the budget when joined.

    The joined text itself is counted, because tokens do not add up. A tokenizer for which a
    longer text is at times fewer tokens may make this a few parts short, never too many.
    """
    fits, too_many = 0, len(parts) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if count(join(parts[:middle])) <= budget:
            fits = middle
        else:
            too_many = middle
    return fits
