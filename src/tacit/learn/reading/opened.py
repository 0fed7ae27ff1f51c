"""A clause that no form knows, tried as an open frame: of somebody, or of a thing."""

from __future__ import annotations

import re
from functools import cache

from tacit.learn.facts import Statement
from tacit.learn.reading.days import Days, days
from tacit.learn.reading.forms import Form
from tacit.learn.reading.frames import Predicate
from tacit.learn.reading.mentions import Subject, possessive, subject
from tacit.learn.reading.person import within
from tacit.learn.reading.statements import Clause
from tacit.learn.reading.things import Thing
from tacit.records.memory import Kind

_NOTHING = re.compile("")
_THING = "thing"


@cache
def _form(kind: Kind, thing: bool) -> Form:
    """The form that an open frame stands for: it has a kind, and no place of its own."""
    return Form(
        name="open",
        match=_NOTHING,
        types={},
        kind=kind,
        who=frozenset(),
        slot=None,
        value=None,
        say=None,
        negated=False,
        dated=False,
        recurs=False,
        firm=False,
        people=(),
        tags=frozenset({"open", _THING} if thing else {"open"}),
    )


class OpenClause(Clause):
    """A clause on the way to a statement by the class of its verb alone."""

    def opened(self) -> Statement | None:
        tongue = self.tongue
        if not tongue.frames or self.setting.laughing or tongue.has("open_veto", self.text):
            return None
        if tongue.has("unsure", self.quote):
            return None
        if tongue.has("momentary", self.quote) and not any(when.at for when in self.whens):
            return None
        self.subject, self.reported = None, False
        self.when: Days = days(self.whens, self.setting.said_at, tongue)
        parsed = subject(self.text, self.setting.speaker, tongue, self.last)
        if parsed is None:
            return self._of_thing(self.text, None)
        found, rest = parsed
        if found.owns:
            return self._of_thing(rest, found)
        told = tongue.patterns["reports"].match(rest)
        if told:
            return self._told_openly(found, rest[told.end() :])
        if not rest or rest.split()[0].lower() in tongue.words["after_verbs"]:
            return None  # "my kids to dust" has its verb from another clause
        return self._of_person(found, rest)

    def _told_openly(self, teller: Subject, rest: str) -> Statement | None:
        """What somebody said of themselves: hearsay, as where a form knows it."""
        if teller.plural or teller.speaks or teller.through:
            return None
        self.reported = True
        parsed = subject(rest, self.setting.speaker, self.tongue, teller)
        if parsed is None or parsed[0].speaks or parsed[0].owns or not parsed[1]:
            return None
        return self._of_person(*parsed)

    @property
    def _noted(self) -> bool:
        return self._serious() or self.setting.noted

    def _of_person(self, found: Subject, rest: str) -> Statement | None:
        matched, said = self._predicate(found, rest)
        if found.who == "name" and not self._surely_somebody(found, matched):
            return self._of_thing(self.text, None)
        own = found.speaks and not found.mentions
        kind = Predicate(matched, self.when, self.tongue, noted=self._noted, own=own).kind()
        if kind is None:
            return None
        self.subject = found
        if kind is Kind.IDENTITY and not found.speaks and self.tongue.has("speaker_within", said):
            kind = Kind.KNOWLEDGE  # "has my spare key" is no trait of theirs
        return self._stated(_form(kind, False), said, found)

    def _surely_somebody(self, found: Subject, predicate: str) -> bool:
        """A word with a capital that opens a sentence may name a thing: "Docker uses …"."""
        first = found.mentions[0]
        name = first.name or ""
        known = name.split()[:1] and name.split()[0].casefold() in self.tongue.words["first_names"]
        sure = first.username or known or len(name.split()) > 1 or found.through or found.plural
        return bool(sure) or self.tongue.has("somebody_does", predicate)

    def _of_thing(self, text: str, owner: Subject | None) -> Statement | None:
        thing = Thing(text, self.when, self.tongue, owned=owner is not None, noted=self._noted)
        kind = thing.kind() or self._effect(text, owner)
        if kind is None:
            return None
        if owner is None:
            self.subject = Subject(who="self", words=self.setting.speaker, owns=True)
            return self._stated(_form(kind, True), text, None)
        self.subject = owner
        return self._stated(_form(kind, False), text, owner)

    def _effect(self, text: str, owner: Subject | None) -> Kind | None:
        """What a thing does to the speaker: "gluten wrecks my stomach"."""
        words = set(text.casefold().split())
        vague = words & (self.tongue.words["open_never"] | self.tongue.words["open_talk"])
        if owner is not None or vague or not self.tongue.has("effect", text):
            return None
        return Kind.PREFERENCE

    def _stated(self, form: Form, said: str, found: Subject | None) -> Statement | None:
        match = _NOTHING.match("")
        if match is None:
            return None
        if found is None:
            return self._made(form, match, said, Subject(who="self", words=""))
        if found.owns and not found.speaks:
            whose = possessive(found.words, self.tongue)
            said = self.tongue.patterns["own"].sub(lambda _: whose, said)
        return self._made(form, match, said, found)

    def _content(self, form: Form, match: re.Match[str], said: str, found: Subject) -> str:
        said = within(said, self.setting.speaker, self.tongue) if "open" in form.tags else said
        return super()._content(form, match, said, found)
