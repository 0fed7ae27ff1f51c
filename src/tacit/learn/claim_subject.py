"""Whom or what a sentence begins with; and pronouns in it that can stand for nobody else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacit.learn.reading.mentions import is_name, possessive
from tacit.learn.reading.tongue import Tongue

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SUBJECT_MAX_WORDS = 5
_VERBS = (
    "verbs_being",
    "verbs_having",
    "verbs_denying",
    "verbs_able",
    "verbs_to_come",
    "verbs_needing",
    "verbs_helping",
    "verbs_of_things",
)
_PEOPLE = ("kin", "jobs", "someone", "titles")
_NO_PEOPLE = ("months", "weekdays", "places", "languages", "nationalities")
_NEGATED_END = "n't"
_IS_END = "'s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """The subject of a sentence."""

    words: str
    person: bool
    plural: bool = False
    gender: str | None = None


def finite(word: str, tongue: Tongue) -> bool:
    """Whether a word is a verb with a subject, as far as the lists know it."""
    folded = word.lower().replace("’", "'")
    tags = tongue.frames.get(folded, frozenset())
    return (
        any(folded in tongue.words[name] for name in _VERBS)
        or folded in tongue.verbs.irregular.values()
        or folded.endswith(_NEGATED_END)
        or any(tag.endswith((":now", ":past")) for tag in tags)
    )


def _bare(word: str, tongue: Tongue) -> bool:
    tags = tongue.frames.get(word.lower(), frozenset())
    return any(tag.endswith(":bare") for tag in tags)


def before_verb(text: str, tongue: Tongue) -> str | None:
    """The words that come before the first verb, up to a comma; None where there is no verb, and
    "" where the verb comes first."""
    found = list(_WORD.finditer(text.partition(",")[0]))[: _SUBJECT_MAX_WORDS + 1]
    for position, match in enumerate(found):
        word = match[0].replace("’", "'")
        if position and word.lower().endswith(_IS_END) and position == len(found) - 1:
            break  # "the dog's": a thing of its follows, or nothing
        if finite(word, tongue) or (not position and _bare(word, tongue)):
            return text[: match.start()].strip()
    return None


def lead(content: str, speaker: str, tongue: Tongue) -> Lead | None:
    """Whom a content is about: the speaker, a thing or somebody of theirs, or "the" thing."""
    folded, whose = content.lower(), possessive(speaker, tongue)
    owned = folded.startswith(f"{whose.lower()} ")
    if folded.startswith(f"{speaker.lower()} ") and not owned:
        return _with_another(content, speaker, tongue)
    words = before_verb(content, tongue)
    if words is None:
        return None
    named = [m[0] for m in _WORD.finditer(words[len(whose) :] if owned else words)]
    if not named or {one.lower() for one in named} & tongue.words["conjunctions"]:
        return None
    kin = next((tongue.kin[w.lower()] for w in named if w.lower() in tongue.kin), None)
    if owned and kin:
        return Lead(words=words, person=True, plural=kin.plural, gender=kin.gender)
    if owned or named[0].lower() in tongue.words["definite"]:
        return None if kin else Lead(words=words, person=_somebody(words, tongue))
    alone = len(named) == 1 and named[0].lower() in tongue.words["first_names"]
    return Lead(words=words, person=True) if alone else None


def _with_another(content: str, speaker: str, tongue: Tongue) -> Lead | None:
    """The speaker alone, or with one other who has a name."""
    itself = content[: len(speaker)]
    first, _, rest = content[len(speaker) :].lstrip().partition(" ")
    if first.lower() not in tongue.words["conjunctions"]:
        return Lead(words=itself, person=True)
    other = _WORD.match(rest)
    if other is None or not is_name(other[0], tongue):
        return None
    return Lead(words=f"{itself} {first} {other[0]}", person=True, plural=True)


def resolved(content: str, text: str, speaker: str, tongue: Tongue) -> str:
    """The content with "his" as "Bob's", where Bob is the only one whom it can mean: the sentence
    begins with him and names nobody else before it."""
    subject = lead(content, speaker, tongue)
    if subject is None:
        return content
    reach = _Reach(content, subject, _group(content, text, subject, speaker, tongue), text, tongue)
    made, last = subject.words, len(subject.words)
    for match in _WORD.finditer(content, last):
        said = reach.named(match)
        if said:
            made, last = f"{made}{content[last : match.start()]}{said}", match.end()
    return made + content[last:]


def _group(content: str, text: str, subject: Lead, speaker: str, tongue: Tongue) -> frozenset[str]:
    """The pronouns that a sentence may use for its subject; none where two sorts of people are
    spoken of, or where the message itself speaks of somebody so: a speaker says I."""
    words = tongue.words
    if not subject.person or subject.plural:
        return words["pronouns_they" if subject.plural else "pronouns_it"]
    used = {m[0].lower().replace("’", "'").partition("'")[0] for m in _WORD.finditer(content)}
    heard = {m[0].lower() for m in _WORD.finditer(text)}
    sorts = {one: words[f"pronouns_{one}"] for one in ("he", "she")}
    spoken = [one for one, own in sorts.items() if used & own]
    if len(spoken) != 1 or (subject.gender and subject.gender != spoken[0]):
        return frozenset()
    own = sorts[spoken[0]]
    itself = subject.words.lower() == speaker.lower()
    return frozenset() if itself and heard & own else own


class _Reach:
    """How far the subject of a sentence reaches: to the next that may be meant instead."""

    def __init__(
        self, content: str, subject: Lead, group: frozenset[str], text: str, tongue: Tongue
    ) -> None:
        self.content, self.subject, self.group = content, subject, group
        self.text, self.tongue = text, tongue
        first, _, rest = subject.words.partition(" ")
        the = first.lower() in tongue.words["definite"]
        self.words = f"{first.lower()} {rest}" if the else subject.words

    def named(self, match: re.Match[str]) -> str | None:
        """What a word stands for; None for words that stand for nothing, or for who knows whom."""
        word, _, contracted = match[0].lower().replace("’", "'").partition("'")
        if word not in self.group or self._others(match.start(), own=self._owns(word, match)):
            return None
        if contracted:
            is_it = contracted == "s"
            return f"{self.words} {self.tongue.texts['is']}" if is_it else None
        if self._owns(word, match):
            return None if self._anothers(match) else self._possessive()
        if word in self.tongue.words["pronouns_own"] | self.tongue.words["pronouns_object"]:
            # "Bob likes him" is of another: whom somebody meets is not themselves.
            between = self.content[len(self.subject.words) : match.start()]
            parts = set(between.lower().split()) & self.tongue.words["conjunctions"]
            return self.words if parts or "," in between else None
        return self.words

    def _owns(self, word: str, match: re.Match[str]) -> bool:
        """Whether a thing follows: "her jackets", not "met her"."""
        words = self.tongue.words
        after = re.match(r" ([^\W_]+)", self.content[match.end() :])
        before = self.content[: match.start()].lower().split()[-1:]
        small = after is None or after[1].lower() in words["small"]
        if word in words["pronouns_object"] and set(before) & words["verbs_of_giving"]:
            return False  # "makes her nervous", "gave her roses"
        return word in words["pronouns_own"] and not small

    def _possessive(self) -> str | None:
        declined = self.words != self.subject.words and self.tongue.texts["names"] != "capital"
        return None if declined else possessive(self.words, self.tongue)

    def _anothers(self, match: re.Match[str]) -> bool:
        """Whether the message has the thing with another word before it: "the garden"."""
        after = _WORD.search(self.content, match.end())
        others = self.tongue.words["articles"] | self.tongue.words["definite"]
        if after is None or not self.subject.person:
            return False
        found = re.findall(rf"(\w+) {re.escape(after[0])}\b", self.text, re.IGNORECASE)
        return any(
            one.lower() in others and not self.tongue.patterns["mine"].match(f"{one} x")
            for one in found
        )

    def _others(self, end: int, *, own: bool) -> bool:
        between = [m[0] for m in _WORD.finditer(self.content[len(self.subject.words) : end])]
        folded = {one.lower() for one in between}
        words = self.tongue.words
        if not self.subject.person:
            return bool(folded & (words["articles"] | words["definite"] | words["where"]))
        if any(folded & words[name] for name in (*_PEOPLE, "first_names")):
            return True
        if self.subject.plural and (
            folded & words["numbers"] - words["articles"] or any(map(self._many, folded))
        ):
            return True
        known = frozenset().union(*(words[name] for name in _NO_PEOPLE))
        mine = {m[0].lower() for m in _WORD.finditer(self.subject.words)}
        capital = any(w[0].isupper() and w.lower() not in known | mine for w in between)
        # Where all nouns have a capital, only "sie" may mean things as well.
        return capital and (self.tongue.texts["names"] == "capital" or not own)

    def _many(self, word: str) -> bool:
        """Whether a word may stand for several things, and "they" for them."""
        return word.endswith("s") and not finite(word, self.tongue)


def _somebody(words: str, tongue: Tongue) -> bool:
    listed = {m[0].lower() for m in _WORD.finditer(words)}
    return any(listed & tongue.words[name] for name in _PEOPLE)
