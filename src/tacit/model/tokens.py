"""Counting tokens: exactly, with a tokenizer's own file, or by a bound that never undercounts."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from tacit.errors import InvalidInput, MissingExtra

Count = Callable[[str], int]


def at_most(text: str) -> int:
    """No fewer tokens than any byte-level or byte-fallback tokenizer makes of the text.

    Such a tokenizer knows each byte as a token, so that the worst it can do is one token for each.
    Some normalise first, which can lengthen a text: the longest form counts. Some put a space
    before it: one more. Tokens that a chat template adds are not in the text and not counted.
    """
    if not text:
        return 0
    if text.isascii():
        return len(text) + 1
    forms = (text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFKC", text))
    return max(len(form.encode("utf-8", "surrogatepass")) for form in forms) + 1


def counter(path: str) -> Count:
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


def within(
    parts: Sequence[str],
    budget: int,
    count: Count,
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
