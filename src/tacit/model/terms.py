"""Words as both databases index them and questions ask for them: one way to split and spell text.

Neither database's own parser is used: they differ on diacritics, hosts, paths and numbers, and a
memory must be found by the same words on both. Scripts without spaces are kept as whole runs.
"""

from __future__ import annotations

import re
import unicodedata

from tacit import limits

_WORD = re.compile(r"[^\W_]+")


def terms(text: str) -> list[str]:
    """The words of a text in order, without case, accents and typographic variants."""
    bare = text.lower() if text.isascii() else _bare(text)
    return [word for word in _WORD.findall(bare) if len(word) <= limits.RECALL_WORD_MAX_CHARS]


def _bare(text: str) -> str:
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))
