"""Match one clause against the forms and frames of a locale."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from typing import Literal

from tacit.learning.extraction.frames import ThingClause, VerbPhrase
from tacit.learning.extraction.locale import (
    Literals,
    Locale,
    StatementForm,
    apply_rewrites,
    find_required_literals,
    load_locale,
)
from tacit.learning.extraction.mentions import (
    ClauseSubject,
    ClauseTiming,
    DateMention,
    is_name,
    make_kin,
    make_mention,
    make_possessive,
    mark_dates,
    read_subject,
    read_timing,
    replace_speaker,
    spell_dates,
)
from tacit.learning.extraction.sentences import (
    BLANK,
    MessageContext,
    TextSpan,
    is_only_date,
    lower_first_word,
    reorder_words,
    replace_inner_speaker,
    supply_subject,
    to_singular_verb,
    to_third_person,
)
from tacit.learning.facts import Mention, StatedFact
from tacit.records.memory import Kind
from tacit.text import fold_case

# What stands in the places of a form: whether it may, and how a slot says it.

_WORD = re.compile(r"[\w'-]+")
# What a person likes, hates or is allergic to, and does.
_MEANT = frozenset(["thing", "liked", "object", "allergen", "preferred", "interest", "pursuit", "subject_matter"])
_LOWER_MAX_COUNT = 4  # words of a name written small
_DIMENSION_MAX_COUNT = 3  # words
_MARK = re.compile("⟦[dt]\\d⟧")
_SLOT_VALUE_MAX_CHARS = 60
_TOKEN = re.compile(r"⟦[dt]\d⟧|[\w'-]+(?:[.:,]\d+)*")
_PLACE = "#"


def is_acceptable_capture(group: str, text: str, locale: Locale, *, lower: bool) -> bool:
    capture = locale.captures[group]
    words = [word.casefold() for word in _WORD.findall(text)]
    if _MARK.sub("", text).strip(" ,") == "":
        return False  # a date or an hour alone is no thing
    if not words or len(words) > capture.words or text != text.strip(" ,.-"):
        return False
    if words[0] in capture.never_first or any(word in capture.never for word in words):
        return False
    folded = " ".join(words)
    if group in _MEANT and folded in locale.words["jest"]:
        return False
    if group == "liked" and folded in locale.words["first_names"]:
        return False  # a person is no taste
    if capture.only is not None:
        ends = capture.ends is not None and capture.ends.search(words[-1]) is not None
        return folded in capture.only or words[-1] in capture.only or ends
    if group in ("name", "names"):
        return all(is_name(one, locale) for one in locale.patterns["listed"].split(text) if one)
    if capture.proper:
        bare = _bare(words, locale)
        known = bool(bare) and bool({" ".join(bare), bare[0], bare[-1]} & capture.known)
        return (
            known
            or any(char.isupper() for char in text)
            or (lower and not capture.strict and bare == words and len(words) < _LOWER_MAX_COUNT)
        )
    return True


def fill_captures(
    match: re.Match[str], form: StatementForm, whens: list[DateMention], locale: Locale
) -> dict[str, str]:
    """The captures of a match as slots and values write them; what is missing is left out."""
    found = {"at": " ".join(when.iso for when in whens)} if whens else {}
    for name, text in match.groupdict().items():
        if not text:
            continue
        when = next((when for when in whens if when.mark == text), None)
        if when:
            # What recurs has a day, and no year of its own unless one was said.
            found[name] = when.iso[5:] if form.recurs and when.relative else when.iso
            continue
        if _MARK.search(text):
            continue
        if name == "contact":
            found[name] = " ".join(text.casefold().split())  # every sign of it counts
            continue
        value = normalize_value(text, locale)
        if form.types.get(name) in _MEANT and set(value.split()) & locale.words["conjunctions"]:
            continue  # several at once fill no single slot
        if form.types.get(name) == "place" and text.islower() and _unnamed(value, locale):
            continue  # "the city" is a place, but the name of none
        found[name] = value
        dimension = _dimension(value, locale)
        if dimension:
            found.setdefault("dimension", dimension)
        if name == "kin" and text.casefold() in locale.kin:
            kin = make_kin(text, match.groupdict().get("mod") or "", locale)
            found["kin"] = kin.word
            if kin.slot:
                found["kin_slot"] = kin.slot
        if name == "counted":
            found["counted"] = singularize(value, locale)
        if name == "event" and match.groupdict().get("where"):
            found["event"] = normalize_value(f"{text} {match['where']}", locale)
    return found


def find_frame_slot(said: str, whens: list[DateMention], locale: Locale) -> tuple[str | None, str | None]:
    """What no form has a slot for, as the words around its only number, name or hour: "runs # km
    a week" of 30. What is said again as a change, with another in its place, is a new value."""
    found: list[str] = []
    words: list[str] = []
    texts = {when.mark: when.text for when in whens}
    for position, token in enumerate(_TOKEN.findall(said)):
        known = texts.get(token) or _counted(token, locale) or _named(token, position, locale)
        if known is None:
            words.append(token.casefold())
        elif words[-1:] == [_PLACE]:
            found[-1] += f" {known}"
        else:
            words.append(_PLACE)
            found.append(known)
    telling = any(word != _PLACE and word not in locale.words["small"] for word in words)
    if len(found) != 1 or not telling:
        return None, None
    return f"frame:{' '.join(_bare(words, locale))}", normalize_value(found[0], locale)


def _counted(token: str, locale: Locale) -> str | None:
    number = locale.dates.words["numbers"].get(token.casefold())
    if token.casefold() in locale.words["articles"]:
        return None
    return str(number) if number else token if token[:1].isdecimal() else None


def _named(token: str, position: int, locale: Locale) -> str | None:
    capital = position and token[:1].isupper() and locale.texts["names"] == "capital"
    return token if capital else None


def _unnamed(value: str, locale: Locale) -> bool:
    words = set(value.split())
    return bool(words & locale.words["somewhere"]) and not words & locale.words["places"]


def normalize_value(text: str, locale: Locale) -> str:
    words = _WORD.findall(text.casefold())
    numbers = locale.dates.words["numbers"]
    if len(words) == 1 and words[0] in numbers:
        return str(numbers[words[0]])
    return " ".join(_bare(words, locale))[:_SLOT_VALUE_MAX_CHARS].strip()


def singularize(text: str, locale: Locale) -> str:
    if text in locale.kin:
        return locale.kin[text].word
    for pattern, new in locale.singular:
        if pattern.search(text):
            return pattern.sub(new, text, count=1)
    return text


def _bare(words: list[str], locale: Locale) -> list[str]:
    """Words without the articles and the like that they open with."""
    while words and words[0] in locale.words["articles"]:
        words = words[1:]
    return words


def _dimension(value: str, locale: Locale) -> str | None:
    if value in locale.dimensions:
        return locale.dimensions[value]
    words = value.split()
    if len(words) > _DIMENSION_MAX_COUNT:
        return None  # "window seats on long flights" leaves room for another
    return next((locale.dimensions[tx] for tx in words if tx in locale.dimensions), None)


# One clause, its dates marked, against the forms of a language: what it states, or nothing.

Group = Literal["does", "owns", "wholes", "plain", "plain_of"]  # of a locale's forms
Match = Callable[[str], re.Match[str] | None]
_OR = " | "
_YES = "yes"
_SPACES = re.compile(r"\s+")
_DATE = re.compile(r",? ?(⟦[dt]\d⟧)")


class Clause:
    """A clause with its dates marked, on the way to a statement."""

    def __init__(
        self, text: str, quote: str, whens: list[DateMention], setting: MessageContext, last: ClauseSubject | None
    ) -> None:
        self.quote, self.whens, self.setting = quote, whens, setting
        self.locale = setting.locale
        self.text = reorder_words(text, self.locale)
        self.last = last
        self.subject: ClauseSubject | None = None
        self.reported = False

    def statement(self) -> StatedFact | None:
        whole = ClauseSubject(who="self", words=self.setting.speaker)
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

    def _of_somebody(self, text: str) -> StatedFact | None:
        parsed = read_subject(text, self.setting.speaker, self.locale, self.last)
        if parsed is None:
            return None
        found, rest = parsed
        if self.reported and found.speaks:
            return None
        told = None if found.owns else self.locale.patterns["reports"].match(rest)
        if told and not self.reported:
            return self._told(found, rest[told.end() :])
        self.subject = found
        if found.owns:
            ways = _date_orders(rest)
            return self._first("owns", ways, [rest] * len(ways), found)
        matched, said = self._predicate(found, rest)
        ways = _date_orders(matched)
        saying = [said] * len(ways)  # in the order it was said in
        plain = [self._without_adverb(way) for way in ways]
        made = self._first("does", [*ways, *plain], [*saying, *saying], found)
        if made is None and self._serious():
            made = self._first("plain_of", ways, saying, found)
        return made

    def _without_adverb(self, predicate: str) -> str:
        first, _, rest = predicate.partition(" ")
        return rest if first.casefold() in self.locale.words["passing_adverbs"] else predicate

    def _predicate(self, found: ClauseSubject, rest: str) -> tuple[str, str]:
        """What follows the subject, as forms know it and as content says it."""
        if found.speaks:
            matched = self._singular(found, rest)
            return matched, rest if found.plural else matched
        own = self.locale.patterns["own"]
        whose = make_possessive(found.words, self.locale)
        said = own.sub(lambda _: whose, rest)
        return own.sub(self.locale.texts["my"], self._singular(found, rest)), said

    def _singular(self, found: ClauseSubject, rest: str) -> str:
        if found.speaks and not found.plural:
            return to_third_person(rest, self.locale)
        return to_singular_verb(rest, self.locale) if found.plural else rest

    def _told(self, teller: ClauseSubject, rest: str) -> StatedFact | None:
        """What a person said of themselves, or of a third: hearsay, never the speaker's fact."""
        if self.reported or teller.plural or teller.through:
            return None
        self.reported = True
        self.last = None if teller.speaks else teller
        return self._of_somebody(reorder_words(rest, self.locale))

    def _first(self, group: Group, texts: list[str], said: list[str], found: ClauseSubject) -> StatedFact | None:
        ways = dict.fromkeys(zip(texts, said, strict=True))  # most read alike
        seen = [(text, fold_case(text), content) for text, content in ways]
        forms = _forms(self.locale.code, group, found.who, self.setting.laughing)
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

    def _fits(self, form: StatementForm, found: ClauseSubject) -> bool:
        """Whether the form is one for a person like the subject."""
        if "joint" in form.tags and not (found.speaks and found.mentions):
            return False
        return "through" not in form.tags or found.through

    def _holds(self, form: StatementForm, match: re.Match[str]) -> bool:
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
            is_acceptable_capture(group, match[name], self.locale, lower=self.setting.lower)
            for name, group in form.types.items()
            if match[name] and group in self.locale.captures
        )

    def _ahead(self, when: DateMention) -> bool:
        return when.at is not None and when.at > self.setting.said_at

    def _made(self, form: StatementForm, match: re.Match[str], said: str, found: ClauseSubject) -> StatedFact:
        content = self._content(form, match, said, found)
        slot, value = (None, None) if found.through else self._slot(form, match, found)
        joint = "relation" in form.tags and not (found.owns and found.who == "name")
        thing = "thing" in form.tags
        # What a person does with what is the speaker's is the speaker's own word as well.
        near = not (found.speaks or self.reported) and self.locale.has("speaker_within", said)
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
        if slot is None and form not in (*self.locale.plain, *self.locale.plain_of):
            slot, value = find_frame_slot(said, self.whens, self.locale)
        return StatedFact(
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

    def _passes(self, when: DateMention) -> bool:
        """Whether a thing has a day, other than that of its beginning: "since May" lasts."""
        opening = when.text.split()[0].casefold()
        return (when.full or when.relative) and opening not in self.locale.words["backward"]

    def _scheduled(self, slot: str, value: str | None) -> tuple[str, str | None]:
        """ "Plays squash on Tuesdays" tells when, where "plays squash" tells that."""
        weekly = [when for when in self.whens if when.weekly]
        if len(weekly) != 1:
            return slot, value
        return f"schedule:{slot.partition(':')[2]}", normalize_value(weekly[0].text, self.locale)

    def _qualified(self, slot: str | None, form: StatementForm) -> str | None:
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
        return f"{slot}, {normalize_value(hours[0].text, self.locale)}"

    def _content(self, form: StatementForm, match: re.Match[str], said: str, found: ClauseSubject) -> str:
        speaker, locale = self.setting.speaker, self.locale
        if form.say:
            captures = {k: replace_speaker(v or "", speaker, locale) for k, v in match.groupdict().items()}
            for inside in ("order", "deed"):  # these stand within a sentence now
                captures[inside] = lower_first_word(captures.get(inside, ""))
            whose = make_possessive(found.words, locale)
            content = form.say.format(who=found.words, whose=whose, **captures)
            for when in self.whens:
                if when.mark in match[0] and when.mark not in content:
                    content += f" {when.mark}"
        elif form in locale.wholes or form in locale.plain:
            content = replace_speaker(said, speaker, locale)
        elif found.owns:
            content = f"{make_possessive(found.words, locale)} {replace_speaker(said, speaker, locale)}"
        else:
            content = f"{found.words} {replace_speaker(said, speaker, locale)}"
        content = _SPACES.sub(" ", spell_dates(content, self.whens, as_said=form.recurs)).strip(" ,")
        if content.count("(") > content.count(")"):
            content += ")"  # it was taken for a part of the sentence's end: "a new job (finally!)"
        return content[:1].upper() + content[1:]

    def _slot(self, form: StatementForm, match: re.Match[str], found: ClauseSubject) -> tuple[str | None, str | None]:
        if form.slot is None:
            return None, None
        values = fill_captures(match, form, self.whens, self.locale)
        if found.kin and found.kin.slot:
            values["kin_slot"] = found.kin.slot
        if found.mentions:
            values["subject"] = normalize_value(found.mentions[0].name or found.mentions[0].text, self.locale)
        # Several ways to name a slot are tried in turn: the first whose places are all filled.
        ways = zip_longest(form.slot.split(_OR), (form.value or "").split(_OR), fillvalue="")
        for slot, value in ways:
            try:
                return slot.format(**values), value.format(**values) or None
            except KeyError:
                continue
        return None, None

    def _related(self, form: StatementForm, match: re.Match[str], found: ClauseSubject) -> tuple[Mention, ...]:
        """A person's name and what they are to the speaker, which the form puts together."""
        groups = match.groupdict()
        kin = self.locale.kin.get((groups.get("kin") or "").casefold())
        if not found.mentions or form.people:
            return found.mentions
        first = found.mentions[0]
        named = make_mention(first.text, kin, groups.get("who"))
        joined = replace(
            first,
            name=first.name or named.name,
            relation=first.relation or named.relation,
            username=first.username or named.username,
        )
        return (joined, *found.mentions[1:])

    def _people(self, form: StatementForm, match: re.Match[str], found: ClauseSubject) -> list[Mention]:
        # What a person is to a third is no relation of the speaker's.
        word = (match.groupdict().get("kin") or "") if found.who == "self" else ""
        kin = self.locale.kin.get(word.casefold())
        listed = self.locale.patterns["listed"]
        names = [name for group in form.people for name in listed.split(match[group] or "")]
        return [make_mention(name, kin, name) for name in names if name]


@cache
def _forms(code: str, group: Group, who: str, laughing: bool) -> tuple[tuple[StatementForm, Literals, Match], ...]:
    """Those of a language that may be said of a person."""
    listed: tuple[StatementForm, ...] = getattr(load_locale(code), group)
    return tuple(
        (form, find_required_literals(form.match.pattern), form.match.match)
        for form in listed
        if who in form.who and not (laughing and not form.firm)
    )


def _date_orders(text: str) -> list[str]:
    """A predicate as it was said, and with its dates at the end."""
    dates = _DATE.findall(text)
    moved = f"{_DATE.sub('', text)} {' '.join(dates)}"
    return [text, moved] if dates and moved != text else [text]


# A clause that no form knows, tried as an open frame: of a person, or of a thing.

_NOTHING = re.compile("")
_THING = "thing"


@cache
def _form(kind: Kind, thing: bool) -> StatementForm:
    """The form that an open frame stands for: it has a kind, and no place of its own."""
    return StatementForm(
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

    def opened(self) -> StatedFact | None:
        locale = self.locale
        if not locale.frames or self.setting.laughing or locale.has("open_veto", self.text):
            return None
        if locale.has("unsure", self.quote):
            return None
        if locale.has("momentary", self.quote) and not any(when.at for when in self.whens):
            return None
        self.subject, self.reported = None, False
        self.when: ClauseTiming = read_timing(self.whens, self.setting.said_at, locale)
        parsed = read_subject(self.text, self.setting.speaker, locale, self.last)
        if parsed is None:
            return self._of_thing(self.text, None)
        found, rest = parsed
        if found.owns:
            return self._of_thing(rest, found)
        told = locale.patterns["reports"].match(rest)
        if told:
            return self._told_openly(found, rest[told.end() :])
        if not rest or rest.split()[0].lower() in locale.words["after_verbs"]:
            return None  # "my kids to dust" has its verb from another clause
        return self._of_person(found, rest)

    def _told_openly(self, teller: ClauseSubject, rest: str) -> StatedFact | None:
        """What a person said of themselves: hearsay, as where a form knows it."""
        if teller.plural or teller.speaks or teller.through:
            return None
        self.reported = True
        parsed = read_subject(rest, self.setting.speaker, self.locale, teller)
        if parsed is None or parsed[0].speaks or parsed[0].owns or not parsed[1]:
            return None
        return self._of_person(*parsed)

    @property
    def _noted(self) -> bool:
        return self._serious() or self.setting.noted

    def _of_person(self, found: ClauseSubject, rest: str) -> StatedFact | None:
        matched, said = self._predicate(found, rest)
        if found.who == "name" and not self._surely_somebody(found, matched):
            return self._of_thing(self.text, None)
        own = found.speaks and not found.mentions
        kind = VerbPhrase(matched, self.when, self.locale, noted=self._noted, own=own).kind()
        if kind is None:
            return None
        self.subject = found
        if kind is Kind.IDENTITY and not found.speaks and self.locale.has("speaker_within", said):
            kind = Kind.KNOWLEDGE  # "has my spare key" is no trait of theirs
        return self._stated(_form(kind, False), said, found)

    def _surely_somebody(self, found: ClauseSubject, predicate: str) -> bool:
        """A word with a capital that opens a sentence may name a thing: "Docker uses …"."""
        first = found.mentions[0]
        name = first.name or ""
        known = name.split()[:1] and name.split()[0].casefold() in self.locale.words["first_names"]
        sure = first.username or known or len(name.split()) > 1 or found.through or found.plural
        return bool(sure) or self.locale.has("somebody_does", predicate)

    def _of_thing(self, text: str, owner: ClauseSubject | None) -> StatedFact | None:
        thing = ThingClause(text, self.when, self.locale, owned=owner is not None, noted=self._noted)
        kind = thing.kind() or self._effect(text, owner)
        if kind is None:
            return None
        if owner is None:
            self.subject = ClauseSubject(who="self", words=self.setting.speaker, owns=True)
            return self._stated(_form(kind, True), text, None)
        self.subject = owner
        return self._stated(_form(kind, False), text, owner)

    def _effect(self, text: str, owner: ClauseSubject | None) -> Kind | None:
        """What a thing does to the speaker: "gluten wrecks my stomach"."""
        words = set(text.casefold().split())
        vague = words & (self.locale.words["open_never"] | self.locale.words["open_talk"])
        if owner is not None or vague or not self.locale.has("effect", text):
            return None
        return Kind.PREFERENCE

    def _stated(self, form: StatementForm, said: str, found: ClauseSubject | None) -> StatedFact | None:
        match = _NOTHING.match("")
        if match is None:
            return None
        if found is None:
            return self._made(form, match, said, ClauseSubject(who="self", words=""))
        if found.owns and not found.speaks:
            whose = make_possessive(found.words, self.locale)
            said = self.locale.patterns["own"].sub(lambda _: whose, said)
        return self._made(form, match, said, found)

    def _content(self, form: StatementForm, match: re.Match[str], said: str, found: ClauseSubject) -> str:
        said = replace_inner_speaker(said, self.setting.speaker, self.locale) if "open" in form.tags else said
        return super()._content(form, match, said, found)


# A clause of a message read: stripped to what it says, and tried with and without its tail.

_LEADS_MAX_COUNT = 5
_LEADING_DATE = re.compile(r"^(⟦[dt]\d⟧(?: ⟦[dt]\d⟧)?),? (.+)$")
_COMMA = ", "


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseReading:
    """What a clause was understood as."""

    statement: StatedFact | None
    subject: ClauseSubject | None
    explicit: bool
    said: str = ""  # the clause as far as it was understood
    rest: str = ""  # what follows that


def read_clause(piece: TextSpan, quote: str, setting: MessageContext, last: ClauseSubject | None) -> ClauseReading:
    locale = setting.locale
    text, explicit = _stripped(piece.text, locale)
    setting = replace(setting, explicit=explicit or setting.explicit)
    nothing = ClauseReading(statement=None, subject=None, explicit=setting.explicit)
    if setting.meant:
        whose = make_possessive(setting.meant, locale)
        text = locale.patterns["meant_possessive"].sub(whose, text)
        text = locale.patterns["object_pronoun"].sub(setting.meant, text)
    if not text or BLANK in text or locale.has("veto", text):
        return nothing
    setting = replace(setting, noted=bool(locale.frames) and locale.has("noted", piece.text))
    ways = _supplied(_tail_variants(text, locale), locale)
    whole = [_closed(text, locale)] if locale.has("apposed", text) else []
    # What a form knows comes first, however much of the clause it takes.
    heard = _Heard(quote, setting, last)
    tries = [(way, False) for way in ways]
    if locale.patterns["topic"].match(text) is None:  # else the next clause says what it is now
        tries += [(way, True) for way in [*_supplied(whole, locale), *ways]]
    if len(ways) > 1 and locale.has("list_tail", text.partition(_COMMA)[2]):
        # A list is no remark: "a cat, two hens and a tortoise".
        tries = [(way, open_frame) for way in ways for open_frame in (False, True)]
    elif _loses_a_time(text, ways, locale):
        tries = [(text, False), (text, True), *tries]
    made = None
    for way, open_frame in tries:
        one = heard.read(way, open_frame=open_frame)
        if one.statement:
            return replace(one, said=way, rest=_rest(way, _supplied([text], locale)))
        made = made or one.subject
    return replace(nothing, subject=made)


def _rest(way: str, wholes: list[str]) -> str:
    return next((whole[len(way) :] for whole in wholes if whole.startswith(way)), "")


class _Heard:
    """The ways in which a clause may be read, each looked at for its dates once."""

    def __init__(self, quote: str, setting: MessageContext, last: ClauseSubject | None) -> None:
        self.quote, self.setting, self.last = quote, setting, last
        self.clauses: dict[str, OpenClause] = {}

    def read(self, way: str, *, open_frame: bool) -> ClauseReading:
        clause = self.clauses.get(way) or self._clause(way)
        self.clauses[way] = clause
        statement = clause.opened() if open_frame else clause.statement()
        return ClauseReading(statement=statement, subject=clause.subject, explicit=self.setting.explicit)

    def _clause(self, text: str) -> OpenClause:
        locale = self.setting.locale
        # "She told me that she is moving in May": what was told may be to come.
        told = locale.patterns["report_verb"].split(text)[-1]
        past = locale.has("past", told) and not locale.has("to_come", told)
        text, whens = mark_dates(text, self.setting.said_at, locale, past=past)
        text = _LEADING_DATE.sub(r"\2 \1", text)
        return OpenClause(text, self.quote, whens, self.setting, self.last)


def _loses_a_time(text: str, ways: list[str], locale: Locale) -> bool:
    """Whether a shorter way leaves off what has its own time: "judo on Mondays and chess on …"."""
    shortest = min(ways, key=len)
    lost = text[len(shortest) :] if text.startswith(shortest) else ""
    joined = lost.split()[:1] and lost.split()[0].lower() in locale.words["conjunctions"]
    return bool(joined) and any(form.match.search(lost) for form in locale.dates.forms if form.means == "recurring")


def _supplied(ways: list[str], locale: Locale) -> list[str]:
    own = [supply_subject(way, locale) for way in ways]
    return [*ways, *(way for way in own if way)]


def _tail_variants(text: str, locale: Locale) -> list[str]:
    """A clause as it was said, and without a remark that follows it: "I study law, third year".
    What takes back or narrows what it follows is no remark. A list is tried whole first."""
    ways = [text]
    before, comma, rest = text.partition(_COMMA)
    if comma and not locale.has("tail_binds", rest) and not is_only_date(rest, locale):
        cut = _closed(before, locale)
        listed = locale.has("list_tail", rest) or locale.has("adjective_end", before)
        ways = [text, cut] if listed else [cut, text]
    tail = locale.patterns["tail"].search(text)
    scoped = locale.has("tail_scoped", text)  # "don't drink and drive" denies both at once
    if tail and not scoped and not locale.has("tail_binds", tail[0].strip(" ,")):
        ways.append(_closed(text[: tail.start()], locale))
    return list(dict.fromkeys(way for way in ways if way))


def expand_contractions(text: str, locale: Locale) -> str:
    """A clause with its typing habits and contractions written out."""
    return apply_rewrites(locale.spelling, _SPACES.sub(" ", text).strip())


def strip_clause(text: str, locale: Locale) -> str:
    """A clause written out, without what merely opens or closes it."""
    return _stripped(text, locale)[0]


def _stripped(text: str, locale: Locale) -> tuple[str, bool]:
    """A clause without what merely opens or closes it; whether it asks to be remembered."""
    text = expand_contractions(text, locale)
    explicit = False
    for _ in range(_LEADS_MAX_COUNT):
        asked = locale.patterns["explicit"].match(f"{text} ")
        opened = asked or locale.patterns["lead"].match(text)
        if opened is None or not opened[0]:
            break
        explicit = explicit or asked is not None
        text = text[opened.end() :].lstrip(" ,:-")
    return _closed(text, locale), explicit


def _closed(text: str, locale: Locale) -> str:
    for _ in range(_LEADS_MAX_COUNT):
        closed = locale.patterns["trail"].search(text)
        if closed is None or not closed[0]:
            break
        text = text[: closed.start()].rstrip(" ,:-.!")
    return text
