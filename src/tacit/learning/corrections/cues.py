"""The words of change of one language, loaded from learning/locales/corrections."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from tacit.errors import InvalidInput
from tacit.learning.regex_prefilter import (
    Literals,
    Rewrite,
    apply_rewrites,
    find_required_literals,
    fold_case,
    make_rewrite,
    may_match,
)

# How a language says that something known has changed, read from the data files in
# `amendments/`.

_FOLDER = "locales/corrections"
_PARTS = ("", "_patterns", "_topics")
_STEM_MIN_CHARS = 3
_STEMS_MAX_COUNT = 20_000
_LIST = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionTopic:
    """A field of a life with one value at a time: how it is known, and how a change is said."""

    name: str
    known: re.Pattern[str]
    said: re.Pattern[str]
    needs: Literals  # of what is said
    named: bool  # who is named has to be the same one: "Theo and I broke up"
    thing: bool  # what it is about has to be named again: "renewed the passport"
    opposite: bool  # it undoes what is known: "out of hospital"
    plain: bool  # it needs no word of change: who is married is not single


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionCues:
    """The words of change of one language. Compare by code: there is one object for each."""

    code: str
    words: Mapping[str, frozenset[str]]
    patterns: Mapping[str, re.Pattern[str]]
    needs: Mapping[str, Literals]  # of each pattern
    exchanges: tuple[re.Pattern[str], ...]  # old and new in one breath: "swapped tea for coffee"
    endings: tuple[tuple[re.Pattern[str], Literals], ...]  # what is over: "sold the boat"
    topics: tuple[CorrectionTopic, ...]
    irregular: Mapping[str, str]
    suffix: re.Pattern[str]  # a stem, and what is cut off
    stems: dict[str, str]  # those that were asked for
    unions: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)  # likewise

    def among(self, *lists: str) -> frozenset[str]:
        """The words of several lists."""
        found = self.unions.get(lists)
        if found is None:
            found = self.unions[lists] = frozenset().union(*(self.words[name] for name in lists))
        return found

    def stem(self, word: str) -> str:
        """What a word has in common with its other forms; only good for comparing."""
        known = self.stems.get(word)
        if known is None:
            known = self._stemmed(self.irregular.get(word, word))
            if len(self.stems) < _STEMS_MAX_COUNT:
                self.stems[word] = known
        return known

    def _stemmed(self, word: str) -> str:
        match = self.suffix.match(word)
        word = match[1] if match else word
        return word[:-1] if len(word) > _STEM_MIN_CHARS and word[-1] == word[-2] else word

    def has(self, pattern: str, text: str) -> bool:
        return may_match(self.needs[pattern], fold_case(text)) and bool(
            self.patterns[pattern].search(text)
        )


@cache
def load_cues(code: str) -> CorrectionCues:
    folder = files("tacit.learning").joinpath(_FOLDER)
    if not folder.joinpath(f"{code}.yaml").is_file():
        raise InvalidInput("language", f"no words of change for {code!r}; add {code}.yaml")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document: dict[str, Any] = {}
    for part in _PARTS:  # a language may keep all of it in one file
        path = folder.joinpath(f"{code}{part}.yaml")
        if path.is_file():
            document |= yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    return _read(code, document)


def _read(code: str, document: dict[str, Any]) -> CorrectionCues:
    listed = document["words"].items()
    words = {name: frozenset(str(value or "").casefold().split()) for name, value in listed}

    def compiled(pattern: str) -> re.Pattern[str]:
        def listed(match: re.Match[str]) -> str:
            known = sorted(words[match[1]], key=lambda word: (-len(word), word))
            return "(?:" + "|".join(map(re.escape, known)) + ")"

        folded = pattern.replace("\n", "")  # a long alternation goes over several lines
        try:
            return re.compile(_LIST.sub(listed, folded), re.IGNORECASE)
        except (re.error, KeyError) as wrong:
            raise ValueError(f"{code}.yaml: cannot read {pattern!r}: {wrong}") from wrong

    patterns = {name: compiled(value) for name, value in document["patterns"].items()}
    made = CorrectionCues(
        code=code,
        words=words,
        patterns=patterns,
        needs={name: find_required_literals(one.pattern) for name, one in patterns.items()},
        exchanges=tuple(map(compiled, document["exchanges"])),
        endings=tuple(
            (one, find_required_literals(one.pattern)) for one in map(compiled, document["endings"])
        ),
        topics=tuple(
            CorrectionTopic(
                name=name,
                known=compiled(one["known"]),
                said=compiled(one["said"]),
                needs=find_required_literals(compiled(one["said"]).pattern),
                named=one.get("named", False),
                thing=one.get("thing", False),
                opposite=one.get("opposite", False),
                plain=one.get("plain", False),
            )
            for name, one in document["topics"].items()
        ),
        irregular={
            str(word).casefold(): str(kept).casefold()
            for word, kept in document["irregular"].items()
        },
        suffix=re.compile(f"(.{{{_STEM_MIN_CHARS},}}?){document['suffix']}$"),
        stems={},
    )
    # Verbs and nouns are compared by their stems.
    for name in document["stemmed"]:
        words[name] = frozenset(map(made.stem, words[name]))
    words["verbs"] = words["verbs"].union(*(words[name] for name in document["verb_lists"]))
    return made


# Other ways to say a change, put into the words that the rules read: "packed in the job" is
# "quit the job".

_PART = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Restatements:
    said: tuple[Rewrite, ...]  # of a message
    known: tuple[Rewrite, ...]  # of what is known


def restate_message(text: str, code: str) -> str:
    """A message in the words that the rules read."""
    return apply_rewrites(load_restatements(code).said, text)


def restate_known(content: str, code: str) -> str:
    """What is known, likewise: its places are those of the text that comes back."""
    return apply_rewrites(load_restatements(code).known, content)


@cache
def load_restatements(code: str) -> Restatements:
    """Those of one language; none where it has no file."""
    path = files("tacit.learning").joinpath(_FOLDER).joinpath(f"{code}_restated.yaml")
    if not path.is_file():
        return Restatements(said=(), known=())
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
                make_rewrite(re.compile(written_out(pattern), re.IGNORECASE), new)
                for pattern, new in document[name]
            )
        except (re.error, KeyError) as wrong:
            raise ValueError(f"{path.name}: {name} cannot be read: {wrong}") from wrong

    return Restatements(said=compiled("said"), known=compiled("known"))
