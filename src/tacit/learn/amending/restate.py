"""Other ways to say a change, put into the words that the rules read: "packed in the job" is
"quit the job"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from tacit.learn.needed import Rewrite, rewrite, rewritten

_FOLDER = "amendments"
_PART = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Restated:
    said: tuple[Rewrite, ...]  # of a message
    known: tuple[Rewrite, ...]  # of what is known


def restated(text: str, code: str) -> str:
    """A message in the words that the rules read."""
    return rewritten(rewrites(code).said, text)


def restated_known(content: str, code: str) -> str:
    """What is known, likewise: its places are those of the text that comes back."""
    return rewritten(rewrites(code).known, content)


@cache
def rewrites(code: str) -> Restated:
    """Those of one language; none where it has no file."""
    path = files("tacit.learn.amending").joinpath(_FOLDER).joinpath(f"{code}_restated.yaml")
    if not path.is_file():
        return Restated(said=(), known=())
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    parts: dict[str, str] = {}

    def written_out(pattern: str) -> str:
        return _PART.sub(lambda match: parts[match[1]], pattern)

    for name, pattern in document["parts"].items():
        parts[name] = written_out(pattern)

    def compiled(name: str) -> tuple[Rewrite, ...]:
        try:
            return tuple(
                rewrite(re.compile(written_out(pattern), re.IGNORECASE), new)
                for pattern, new in document[name]
            )
        except (re.error, KeyError) as wrong:
            raise ValueError(f"{path.name}: {name} cannot be read: {wrong}") from wrong

    return Restated(said=compiled("said"), known=compiled("known"))
