"""One clause, its dates marked, against the forms of a language: what it states, or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from typing import Literal

from tacit.learn.facts import Mention, Statement
from tacit.learn.needed import Pieces, low, needed
from tacit.learn.reading.forms import Form
from tacit.learn.reading.mentions import Subject, mention, possessive, subject, turned
from tacit.learn.reading.order import lowered, reordered
from tacit.learn.reading.person import one_of_many, third
from tacit.learn.reading.places import acceptable, filled, frame, normal
from tacit.learn.reading.setting import Setting
from tacit.learn.reading.tongue import tongue as tongue_of
from tacit.learn.reading.when import When, spelled
from tacit.records.memory import Kind

Group = Literal["does", "owns", "wholes", "plain", "plain_of"]  # of a tongue's forms
Match = Callable[[str], re.Match[str] | None]
_OR = " | "
_YES = "yes"
_SPACES = re.compile(r"\s+")
_DATE = re.compile(r",? ?(⟦[dt]\d⟧)")


class Clause:
    """A clause with its dates marked, on the way to a statement."""

    def __init__(
        self, text: str, quote: str, whens: list[When], setting: Setting, last: Subject | None
    ) -> None:
        self.quote, self.whens, self.setting = quote, whens, setting
        self.tongue = setting.locale
        self.text = reordered(text, self.tongue)
        self.last = last
        self.subject: Subject | None = None
        self.reported = False

    def statement(self) -> Statement | None:
        whole = Subject(who="self", words=self.setting.speaker)
        made = self._first("wholes", [self.text], [self.text], whole)
        if made:
            self.subject = whole
            return made
        made = self._of_somebody(self.text)
        if made is None and self._serious() and not self._of_a_person():
            made = self._first("plain", [self.text], [self.text], whole)
        return made

    def _serious(self) -> bool:
        return self.setting.explicit or self.setting.weighty

    def _of_a_person(self) -> bool:
        return self.subject is not None and not self.subject.owns

    def _of_somebody(self, text: str) -> Statement | None:
        parsed = subject(text, self.setting.speaker, self.tongue, self.last)
        if parsed is None:
            return None
        found, rest = parsed
        if self.reported and found.speaks:
            return None
        told = None if found.owns else self.tongue.patterns["reports"].match(rest)
        if told and not self.reported:
            return self._told(found, rest[told.end() :])
        self.subject = found
        if found.owns:
            ways = _ways(rest)
            return self._first("owns", ways, [rest] * len(ways), found)
        matched, said = self._predicate(found, rest)
        ways = _ways(matched)
        saying = [said] * len(ways)  # in the order it was said in
        plain = [self._without_adverb(way) for way in ways]
        made = self._first("does", [*ways, *plain], [*saying, *saying], found)
        if made is None and self._serious():
            made = self._first("plain_of", ways, saying, found)
        return made

    def _without_adverb(self, predicate: str) -> str:
        first, _, rest = predicate.partition(" ")
        return rest if first.casefold() in self.tongue.words["passing_adverbs"] else predicate

    def _predicate(self, found: Subject, rest: str) -> tuple[str, str]:
        """What follows the subject, as forms know it and as content says it."""
        if found.speaks:
            matched = self._singular(found, rest)
            return matched, rest if found.plural else matched
        own = self.tongue.patterns["own"]
        whose = possessive(found.words, self.tongue)
        said = own.sub(lambda _: whose, rest)
        return own.sub(self.tongue.texts["my"], self._singular(found, rest)), said

    def _singular(self, found: Subject, rest: str) -> str:
        if found.speaks and not found.plural:
            return third(rest, self.tongue)
        return one_of_many(rest, self.tongue) if found.plural else rest

    def _told(self, teller: Subject, rest: str) -> Statement | None:
        """What somebody said of themselves, or of a third: hearsay, never the speaker's fact."""
        if self.reported or teller.plural or teller.through:
            return None
        self.reported = True
        self.last = None if teller.speaks else teller
        return self._of_somebody(reordered(rest, self.tongue))

    def _first(
        self, group: Group, texts: list[str], said: list[str], found: Subject
    ) -> Statement | None:
        ways = dict.fromkeys(zip(texts, said, strict=True))  # most read alike
        seen = [(text, low(text), content) for text, content in ways]
        forms = _forms(self.tongue.code, group, found.who, self.setting.laughing)
        for form, needs, matched in forms:
            for text, held, content in seen:
                for piece in needs:  # as `may_match`, without a call for each of hundreds
                    if piece in held:
                        break
                else:
                    continue
                match = matched(text)
                if match and self._fits(form, found) and self._holds(form, match):
                    return self._made(form, match, content, found)
        return None

    def _fits(self, form: Form, found: Subject) -> bool:
        """Whether the form is one for somebody like the subject."""
        if "joint" in form.tags and not (found.speaks and found.mentions):
            return False
        return "through" not in form.tags or found.through

    def _holds(self, form: Form, match: re.Match[str]) -> bool:
        if "weekly" in form.tags and not any(when.weekly for when in self.whens):
            return False
        if "undated" in form.tags and self.whens:
            return False  # "in Paris this week" is no home
        if "ahead" in form.tags and not any(map(self._ahead, self.whens)):
            return False
        if form.dated and not any(when.full or when.at for when in self.whens):
            return False
        if form.dated and all(when.today for when in self.whens if when.at):
            return False
        return all(
            acceptable(group, match[name], self.tongue, lower=self.setting.lower)
            for name, group in form.types.items()
            if match[name] and group in self.tongue.captures
        )

    def _ahead(self, when: When) -> bool:
        return when.at is not None and when.at > self.setting.said_at

    def _made(self, form: Form, match: re.Match[str], said: str, found: Subject) -> Statement:
        content = self._content(form, match, said, found)
        slot, value = (None, None) if found.through else self._slot(form, match, found)
        joint = "relation" in form.tags and not (found.owns and found.who == "name")
        thing = "thing" in form.tags
        # What somebody does with what is the speaker's is the speaker's own word as well.
        near = not (found.speaks or self.reported) and self.tongue.has("speaker_within", said)
        about = self._related(form, match, found) if joint else found.mentions
        about = (*about, *self._people(form, match, found))
        dated = next((when for when in self.whens if when.at), None)
        at = dated.at if dated and (dated.relative or not form.recurs) else None
        kind = form.kind
        future = at is not None and at > self.setting.said_at and not form.recurs
        if kind is Kind.IDENTITY and form.slot is None and dated and self._passes(dated):
            kind = Kind.EVENT  # "I broke my wrist last week": it has a day, and is over some day
        if kind is Kind.CONTEXT and any(when.weekly for when in self.whens):
            kind = Kind.IDENTITY  # what comes back does not pass
        if slot and future and kind in (Kind.IDENTITY, Kind.RELATIONSHIP):
            # What is still to come does not yet replace what is: "I turn 40 in May".
            slot, value, kind = None, None, Kind.EVENT
        slot = self._qualified(slot, form)
        if slot and form.value == _YES and form.kind is not Kind.PREFERENCE:
            slot, value = self._scheduled(slot, value)
        if slot is None and form not in (*self.tongue.plain, *self.tongue.plain_of):
            slot, value = frame(said, self.whens, self.tongue)
        return Statement(
            content=content,
            quote=self.quote,
            explicit=self.setting.explicit or "order" in form.tags,
            kind=kind,
            about_speaker=(found.speaks and not thing) or joint or near,
            about=tuple(dict.fromkeys(about)),
            hearsay=not (found.speaks or joint or near) or self.reported,
            slot=slot,
            value=value,
            negated=form.negated,
            observed_at=at,
            withheld_from=(),
            hold=None,
        )

    def _passes(self, when: When) -> bool:
        """Whether a thing has a day, other than that of its beginning: "since May" lasts."""
        opening = when.text.split()[0].casefold()
        return (when.full or when.relative) and opening not in self.tongue.words["backward"]

    def _scheduled(self, slot: str, value: str | None) -> tuple[str, str | None]:
        """ "Plays squash on Tuesdays" tells when, where "plays squash" tells that."""
        weekly = [when for when in self.whens if when.weekly]
        if len(weekly) != 1:
            return slot, value
        return f"schedule:{slot.partition(':')[2]}", normal(weekly[0].text, self.tongue)

    def _qualified(self, slot: str | None, form: Form) -> str | None:
        """ "Tea in the mornings" leaves room for coffee after lunch: the hour is part of the slot,
        where it is not its value."""
        hours = [when for when in self.whens if when.hour]
        said_once = form.value is not None and "{at}" in form.value
        if slot is None or not hours or (said_once and len(hours) == 1):
            return slot
        if said_once:
            return None  # "closes at 8 on Saturdays" is one of several hours
        if form.kind is not Kind.PREFERENCE:
            return slot
        return f"{slot}, {normal(hours[0].text, self.tongue)}"

    def _content(self, form: Form, match: re.Match[str], said: str, found: Subject) -> str:
        speaker, tongue = self.setting.speaker, self.tongue
        if form.say:
            captures = {k: turned(v or "", speaker, tongue) for k, v in match.groupdict().items()}
            for inside in ("order", "deed"):  # these stand within a sentence now
                captures[inside] = lowered(captures.get(inside, ""))
            whose = possessive(found.words, tongue)
            content = form.say.format(who=found.words, whose=whose, **captures)
            for when in self.whens:
                if when.mark in match[0] and when.mark not in content:
                    content += f" {when.mark}"
        elif form in tongue.wholes or form in tongue.plain:
            content = turned(said, speaker, tongue)
        elif found.owns:
            content = f"{possessive(found.words, tongue)} {turned(said, speaker, tongue)}"
        else:
            content = f"{found.words} {turned(said, speaker, tongue)}"
        content = _SPACES.sub(" ", spelled(content, self.whens, as_said=form.recurs)).strip(" ,")
        if content.count("(") > content.count(")"):
            content += ")"  # it was taken for a part of the sentence's end: "a new job (finally!)"
        return content[:1].upper() + content[1:]

    def _slot(
        self, form: Form, match: re.Match[str], found: Subject
    ) -> tuple[str | None, str | None]:
        if form.slot is None:
            return None, None
        values = filled(match, form, self.whens, self.tongue)
        if found.kin and found.kin.slot:
            values["kin_slot"] = found.kin.slot
        if found.mentions:
            values["subject"] = normal(
                found.mentions[0].name or found.mentions[0].text, self.tongue
            )
        # Several ways to name a slot are tried in turn: the first whose places are all filled.
        ways = zip_longest(form.slot.split(_OR), (form.value or "").split(_OR), fillvalue="")
        for slot, value in ways:
            try:
                return slot.format(**values), value.format(**values) or None
            except KeyError:
                continue
        return None, None

    def _related(self, form: Form, match: re.Match[str], found: Subject) -> tuple[Mention, ...]:
        """Somebody's name and what they are to the speaker, which the form puts together."""
        groups = match.groupdict()
        kin = self.tongue.kin.get((groups.get("kin") or "").casefold())
        if not found.mentions or form.people:
            return found.mentions
        first = found.mentions[0]
        named = mention(first.text, kin, groups.get("who"))
        joined = replace(
            first,
            name=first.name or named.name,
            relation=first.relation or named.relation,
            username=first.username or named.username,
        )
        return (joined, *found.mentions[1:])

    def _people(self, form: Form, match: re.Match[str], found: Subject) -> list[Mention]:
        # What somebody is to a third is no relation of the speaker's.
        word = (match.groupdict().get("kin") or "") if found.who == "self" else ""
        kin = self.tongue.kin.get(word.casefold())
        listed = self.tongue.patterns["listed"]
        names = [name for group in form.people for name in listed.split(match[group] or "")]
        return [mention(name, kin, name) for name in names if name]


@cache
def _forms(
    code: str, group: Group, who: str, laughing: bool
) -> tuple[tuple[Form, Pieces, Match], ...]:
    """Those of a language that may be said of somebody."""
    listed: tuple[Form, ...] = getattr(tongue_of(code), group)
    return tuple(
        (form, needed(form.match.pattern), form.match.match)
        for form in listed
        if who in form.who and not (laughing and not form.firm)
    )


def _ways(text: str) -> list[str]:
    """A predicate as it was said, and with its dates at the end."""
    dates = _DATE.findall(text)
    moved = f"{_DATE.sub('', text)} {' '.join(dates)}"
    return [text, moved] if dates and moved != text else [text]
