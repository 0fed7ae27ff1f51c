"""Count tokens: exactly with a tokenizer file, otherwise by an estimate or an upper bound."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from tacit.errors import InvalidInput, MissingExtra

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
