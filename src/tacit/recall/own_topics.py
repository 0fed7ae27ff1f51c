"""What a person asks about themselves: their home, work, family. A fact that tells it of the person
who asks answers such a question, whatever its words are; what it tells of a friend does not."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from tacit.records.text import fold_text, key_words, split_words, stem_word

_ADVERBS = "currently|now|still|actually|usually|really|even|also|been|just|have|am|to|mostly"
_LEAD = (
    r"^\W*(?:(?:so|and|hey|hi|hello|ok|okay|please|sorry|wait|say|btw|by the way|tell me|remind me)"
    r"\b\W*|(?:can|could|do|would|will) you (?:please |still |even )?"
    r"(?:tell me|remind me|know|remember|recall|say)(?: again)?\W+)*"
)
_WHAT = r"(?:(?:what|who|which|when|where|how)(?:'s|s| is| are| was| were| again is)? |of |about )*"
_END = (
    r"(?: (?:again|please|now|currently|right now|these days|at the moment|called|then|is|are))*"
    r"\W*$"
)
_LEAD_DE = r"^\W*(?:(?:und|hey|hallo|ok|sag mal|bitte|weißt du(?: noch)?|sag mir)\b\W*)*"
_WHAT_DE = r"(?:(?:was|wer|wie|wann|wo|welche\w*)(?: (?:ist|sind|war|lautet|heißt|heißen))? )?"
_END_DE = r"(?: (?:nochmal|noch mal|eigentlich|denn|jetzt|gerade|ist|sind))*\W*$"
# The questions of each language, around the words of a topic.
_ASKED = {
    "en": {
        "i": r"\b(?:do|did|am|was|have|where|what|who|whom|whether|if|how long|since when"
        rf"|(?:which|what) \w+) i(?:'m|'ve)?(?: (?:{_ADVERBS})){{0,2}} (?:<topic>)\b",
        "my": rf"{_LEAD}{_WHAT}(?:the name of )?my (?:(?:current|new|own|exact|present) )*"
        rf"(?:<topic>){_END}",
    },
    "de": {
        "i": r"\b(?:wo|was|wer|wie|woher|wogegen|als was|bei wem|für wen|seit wann"
        r"|(?:in )?welche\w* \w+) (?:[\w ]{0,20}? )?(?:<topic>) ich\b"
        r"|\b(?:wo|was|woher|als was|bei wem|ob) ich (?:\w+ )?(?:<topic>)\b"
        r"|\b(?:wo|als was|wogegen) bin ich (?:\w+ )?(?:<topic>)\b",
        "my": rf"{_LEAD_DE}{_WHAT_DE}mein(?:e[nmrs]?)? (?:<topic>){_END_DE}",
    },
}
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|ich|mein\w*)\b")
# What a fact begins with: the person, something of theirs, or somebody else.
_SELF = re.compile(r"(?:i|we|ich|wir|(?:the )?(?:user|speaker))\b(?!['\u2019]s\b)", re.IGNORECASE)
_OWNED = re.compile(
    r"(?:(?P<mine>my|our|mein\w*|unser\w*|(?:the )?(?:user|speaker)['\u2019]s)"
    r"|(?P<name>\w+)['\u2019]s)"
    r" (?:(?:new|current|home|full|first|native|favou?rite) )?(?P<what>\w+)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\n")
# Such questions are short, and a message that holds one ends with it or soon after it.
_SENTENCES_MAX_COUNT = 5
_SENTENCE_MAX_CHARS = 120
_OPENING_MAX_CHARS = 64
_SELF_WORD = "i"
_MINE = "my"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One thing that people ask about themselves."""

    slots: frozenset[str]
    content_stems: frozenset[str]  # stems
    name_stems: frozenset[str]  # stems
    search_words: frozenset[str]  # the words of both, for an index without stems
    question_pattern: re.Pattern[str]


def own_topics(question: str) -> tuple[Topic, ...]:
    """What the question asks about the person who asks it; nothing for almost every question."""
    plain = question.lower().replace("\u2019", "'")
    asked = [
        " ".join(sentence.split())
        for sentence in _SENTENCE_END.split(plain)[-_SENTENCES_MAX_COUNT:]
        if len(sentence) <= _SENTENCE_MAX_CHARS and _FIRST_PERSON.search(sentence)
    ]
    if not asked:
        return ()
    return tuple(
        topic for topic in _topics().values() if any(map(topic.question_pattern.search, asked))
    )


@cache
def known_slots() -> frozenset[str]:
    return frozenset().union(*(topic.slots for topic in _topics().values()))


def opening(content: str, key: str | None) -> str:
    """Of whom or what a memory speaks first, as a word that `openings` holds where it is the
    person. A value speaks of what its key names."""
    named = split_words(" ".join(key_words(key))) if key is not None else []
    if named:
        return f"{_MINE} {stem_word(named[-1])}"
    if _SELF.match(content):
        return _SELF_WORD
    owned = _OWNED.match(content)
    if owned is not None:
        of = _MINE if owned["mine"] else fold_text(owned["name"])
        return f"{of} {stem_word(fold_text(owned['what']))}"
    first = split_words(content[:_OPENING_MAX_CHARS])[:1]
    return first[0] if first else ""


def openings(topic: Topic, names: Collection[str]) -> frozenset[str]:
    """How facts begin that tell this of a person of these names."""
    called = {one for name in names for one in split_words(name)[:1]}
    owned = {f"{of} {what}" for of in {_MINE, *called} for what in topic.name_stems}
    return frozenset({_SELF_WORD, *called, *owned})


@cache
def _topics() -> Mapping[str, Topic]:
    import yaml

    text = files("tacit.recall").joinpath("own_topics.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return {name: _topic(entry) for name, entry in yaml.load(text, Loader=loader).items()}


def _topic(entry: Mapping[str, Any]) -> Topic:
    patterns = []
    for code, forms in _ASKED.items():
        given = entry.get(code, {})
        patterns += [forms[form].replace("<topic>", given[form]) for form in forms if form in given]
        patterns += given.get("ask", ())
    said, named = entry["says"].split(), entry["names"].split()
    return Topic(
        slots=frozenset(entry["slots"].split()),
        content_stems=frozenset(map(stem_word, map(fold_text, said))),
        name_stems=frozenset(map(stem_word, map(fold_text, named))),
        search_words=frozenset([*said, *named, *(f"{word}s" for word in said)]),
        question_pattern=re.compile("|".join(f"(?:{one})" for one in patterns)),
    )
