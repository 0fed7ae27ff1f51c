"""Find the dates, the subject and the people that a clause mentions."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from tacit.learning.extraction.locale import KinTerm, Locale
from tacit.learning.facts import Mention

# Dates and times, resolved against the time they were said.

# Dates and times in a clause: found, made absolute in the speaker's zone, and written out.

_DATES_MAX_COUNT = 4
_YEARS_MAX_COUNT = 150
RELATIVE_DATES = frozenset({"named", "weekday", "offset", "period", "season"})
# A bare hour, what comes back, and how long something has lasted.
_UNDATED = frozenset({"hour", "recurring", "lasting"})
_SPACES = re.compile(r"\s{2,}")
_DIGIT = re.compile(r"\d")
_WORDS = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class DateMention:
    """One date or time of a clause. `at` is None for what comes back, and for a bare hour."""

    mark: str  # what stands for it in the text that forms are matched with
    said: str
    text: str  # as content says it
    at: datetime | None
    iso: str  # "1990-05-03", "05-03", "2026-05", "2026": the value of a slot
    full: bool  # a day at least, not a month or a year
    today: bool
    relative: bool = False  # said from the day it was said on: "next Friday"
    weekly: bool = False  # comes back: "on Mondays", "every evening"
    hour: bool = False  # a bare time of the day, or one that recurs


def mark_dates(text: str, said_at: datetime, locale: Locale, *, past: bool) -> tuple[str, list[DateMention]]:
    """The text with a mark for every date and time in it, and what the marks mean."""
    found: list[DateMention] = []
    if not may_hold_date(text, locale):
        return _SPACES.sub(" ", text), found
    for form in locale.dates.forms:
        position = 0
        while len(found) < _DATES_MAX_COUNT:
            match = form.match.search(text, position)
            if match is None:
                break
            read = _Reading(match, form.means, said_at, locale, past).read(len(found))
            if read is None:
                position = match.end()
                continue
            found.append(read)
            text = f"{text[: match.start()]}{read.mark}{text[match.end() :]}"
            position = match.start() + len(read.mark)
    return _SPACES.sub(" ", text), found


def may_hold_date(text: str, locale: Locale) -> bool:
    """Whether a text may hold a date at all: looking for one costs most of reading a clause."""
    known = locale.words["date_words"]
    return not known or _DIGIT.search(text) is not None or not known.isdisjoint(_WORDS.findall(text.lower()))


def spell_dates(text: str, whens: list[DateMention], *, as_said: bool) -> str:
    """The marks written out again, absolute, or as they were said where a date recurs."""
    for when in whens:
        text = text.replace(when.mark, when.said if as_said and not when.relative else when.text)
    return text


class _Reading:
    """One match of one date form, against the moment it was said."""

    def __init__(self, match: re.Match[str], means: str, said_at: datetime, locale: Locale, past: bool) -> None:
        self.match, self.means, self.said_at = match, means, said_at
        self.groups = {k: v.casefold() for k, v in match.groupdict().items() if v}
        self.locale = locale
        prep = self.groups.get("prep", "")
        back, on = prep in locale.words["backward"], prep in locale.words["forward"]
        self.past = back or (past and not on)

    def read(self, number: int) -> DateMention | None:
        said = self.match[0]
        if self.means in _UNDATED:
            return DateMention(
                mark=f"⟦t{number}⟧",
                said=said,
                text=said,
                at=None,
                iso=said,
                full=False,
                today=False,
                weekly=self.means == "recurring",
                hour=self.means != "lasting",
            )
        try:
            day, grain, year_said = self._day()
            clock = self._clock()
        except (ValueError, OverflowError, KeyError):
            return None
        if abs(day.year - self.said_at.year) > _YEARS_MAX_COUNT:
            return None
        at = datetime.combine(day, clock or time(), tzinfo=self.said_at.tzinfo)
        return DateMention(
            mark=f"⟦d{number}⟧",
            said=said,
            text=self._written(day, grain, clock),
            at=at,
            iso=_iso(day, grain, year_said),
            full=grain in ("day", "evening", "about"),
            today=day == self.said_at.date() and grain != "year",
            relative=self.means in RELATIVE_DATES,
        )

    def _number(self, group: str, among: str) -> int:
        word = self.groups[group].rstrip(".")
        if word.isdecimal():
            return int(word)
        return int(self.locale.dates.words[among][word])

    def _day(self) -> tuple[date, str, bool]:
        """The day, how exactly it is known, and whether a year was said."""
        today = self.said_at.date()
        if self.means == "named":  # today, tomorrow, the day after tomorrow
            grain = "evening" if self.groups["named"] in self.locale.words["evenings"] else "day"
            return today + timedelta(days=self._number("named", "named")), grain, True
        if self.means == "weekday":
            return self._weekday(today), "day", True
        if self.means == "offset":  # in two weeks, three days ago
            sign = -1 if "ago" in self.groups else 1
            return self._shifted(today, sign * self._number("n", "numbers"))
        if self.means == "period":  # next week, last year, this weekend
            return self._period(today)
        if self.means == "season":  # in autumn, since last spring
            return self._season(today), "season", True
        if "year" in self.groups and "month" not in self.groups:
            return date(int(self.groups["year"]), 1, 1), "year", True
        return self._calendar(today)

    def _calendar(self, today: date) -> tuple[date, str, bool]:
        if "month" not in self.groups:
            return self._day_of_month(today), "day", True
        month = self._number("month", "months")
        day = self._number("day", "numbers") if "day" in self.groups else None
        if "year" in self.groups:
            year = int(self.groups["year"])
            return date(year, month, day or 1), "day" if day else "month", True
        year = today.year
        if day == 29 and month == 2:
            year += 0 if calendar.isleap(year) else 4 - year % 4
        found = date(year, month, day or 1)
        toward = self._number("toward", "which") if "toward" in self.groups else 0
        past = toward < 0 if toward else self.past
        last = found if day else date(year, month, calendar.monthrange(year, month)[1])
        if past and found > today:
            found = found.replace(year=year - 1)
        elif not past and last < today:
            found = found.replace(year=year + 1)
        return found, "day" if day else "month", False

    def _season(self, today: date) -> date:
        month = self._number("season", "seasons")
        if "year" in self.groups:
            return date(int(self.groups["year"]), month, 1)
        first = date(today.year, month, 1)
        over = _months_on(first, 3) <= today
        which = self._number("toward", "which") if "toward" in self.groups else 0
        if which < 0 or (self.past and not which):
            return first if first <= today and (over or not which) else _months_on(first, -12)
        return _months_on(first, 12) if over or (which > 0 and first <= today) else first

    def _day_of_month(self, today: date) -> date:
        day = self._number("day", "numbers")
        first = today.replace(day=1)
        found = first.replace(day=day)
        if self.past and found > today:
            return _months_on(first, -1).replace(day=day)
        return _months_on(first, 1).replace(day=day) if not self.past and found < today else found

    def _weekday(self, today: date) -> date:
        wanted = self._number("weekday", "weekdays")
        which = self._number("which", "which") if "which" in self.groups else None
        ahead = (wanted - today.weekday()) % 7
        if which == -1 or (which is None and self.past):
            return today - timedelta(days=(today.weekday() - wanted) % 7 or 7)
        if which == 1:  # that of the next week, where this week's is still to come
            return today + timedelta(days=ahead or 7) + timedelta(days=7 if wanted > today.weekday() else 0)
        return today + timedelta(days=ahead if which == 0 else ahead or 7)

    def _shifted(self, today: date, n: int) -> tuple[date, str, bool]:
        unit = str(self.locale.dates.words["units"][self.groups["unit"]])
        if unit == "day":
            return today + timedelta(days=n), "day", True
        if unit == "week":
            return today + timedelta(weeks=n), "about", True
        if unit == "month":
            return _months_on(today, n), "month", True
        return date(today.year + n, 1, 1), "year", True

    def _period(self, today: date) -> tuple[date, str, bool]:
        unit = str(self.locale.dates.words["units"][self.groups["unit"]])
        n = self._number("which", "which")
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=n)
        if unit == "weekend":
            return monday + timedelta(days=5), "weekend", True
        if unit == "week":
            return monday, "week", True
        if unit == "month":
            return _months_on(today, n), "month", True
        if unit == "year":
            return date(today.year + n, 1, 1), "year", True
        raise ValueError(unit)

    def _clock(self) -> time | None:
        if "hour" not in self.groups:
            return None
        hour, minute = int(self.groups["hour"]), int(self.groups.get("minute", 0))
        half = self.groups.get("half", "").replace(".", "")
        if half and half == self.locale.texts["afternoon"] and hour < 12:
            hour += 12
        elif half and half != self.locale.texts["afternoon"] and hour == 12:
            hour = 0
        elif not half and 0 < hour < int(self.locale.texts.get("waking", 0)):
            hour += 0 if self.groups["hour"].startswith("0") else 12
        return time(hour, minute)

    def _written(self, day: date, grain: str, clock: time | None) -> str:
        say = self.locale.dates.say
        prep = self.groups.get("prep", "")
        template = say[grain]
        if prep in self.locale.dates.kept:
            template = f"{prep} {say[f'{grain}_bare']}"
        month = self.locale.dates.months[day.month - 1]
        season = self.match["season"] if "season" in self.groups else ""
        written = template.format(day=day.day, month=month, year=day.year, season=season)
        if "part" in self.groups:
            written += say["part"].format(part=self.groups["part"])
        return written + (say["clock"].format(clock=f"{clock:%H:%M}") if clock else "")


def _months_on(today: date, n: int) -> date:
    months = today.year * 12 + today.month - 1 + n
    return date(months // 12, months % 12 + 1, 1)


def _iso(day: date, grain: str, year_said: bool) -> str:
    if grain == "year":
        return str(day.year)
    if grain in ("month", "season"):
        return f"{day:%Y-%m}" if year_said else f"{day:%m}"
    return f"{day:%Y-%m-%d}" if year_said else f"{day:%m-%d}"


# What the dates of a clause say about how long it holds.


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseTiming:
    """What the dates of a clause say about how long it holds."""

    ahead: bool  # a day to come
    behind: bool  # a day that is over
    stay: bool  # a week, a month or a year that is over
    weekly: bool  # it comes back
    since: bool  # it has lasted: "for ten years", "since May"
    hour: bool

    @property
    def dated(self) -> bool:
        return self.ahead or self.behind


def read_timing(whens: list[DateMention], said_at: datetime, locale: Locale) -> ClauseTiming:
    at = [when for when in whens if when.at and not when.today]
    ahead = [when for when in at if when.at and when.at > said_at]
    began = [when for when in at if when.said.split()[0].lower() in locale.words["backward"]]
    lasted = [when for when in whens if when.at is None and not when.weekly and not when.hour]
    return ClauseTiming(
        ahead=bool(ahead),
        behind=len(at) > len(ahead),
        stay=any(not when.full for when in at if when not in ahead),
        weekly=any(when.weekly for when in whens),
        since=bool(began or lasted),
        hour=any(when.hour for when in whens),
    )


# People.

_NAME_WORDS_MAX_COUNT = 3
_TOKEN = re.compile(r"@?[^\W_][\w.'-]*")
_USERNAME = re.compile(r"@(\w{2,64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseSubject:
    who: str  # "self", "kin" or "name"
    words: str  # how content names it: "Alice", "Alice's wife Sarah"
    mentions: tuple[Mention, ...] = ()
    plural: bool = False
    kin: KinTerm | None = None
    owns: bool = False  # a thing of theirs follows
    through: bool = False  # a person known only by the one mentioned: "Bob's wife"

    @property
    def speaks(self) -> bool:
        return self.who == "self"


def make_possessive(name: str, locale: Locale) -> str:
    for ending, mark in locale.possessive:
        if ending.search(name):
            return name + mark
    return name


def replace_speaker(text: str, speaker: str, locale: Locale) -> str:
    """The speaker's words for themselves put as their name."""
    for pattern, new in locale.turned:
        said = new.format(who=speaker, whose=make_possessive(speaker, locale))
        text = pattern.sub(said.replace("\\", r"\\"), text)
    return text


def name_speaker_once(content: str, speaker: str, locale: Locale) -> str:
    """ "The user moved their office", where a person without a name moved their own. Where they
    do not lead the sentence, "their" could be another's, and says whose it is."""
    user = locale.texts["unnamed"]
    if speaker != user:
        return content
    whose = make_possessive(user, locale)
    opened = next((one for one in (whose, user) if content.startswith(one)), "")
    theirs = locale.texts["unnamed_own"] if opened == user else whose[:1].lower() + whose[1:]
    rest = re.sub(rf"\b{re.escape(whose)}(?!\w)", theirs, content[len(opened) :])
    return opened + re.sub(rf"\b{re.escape(user)}(?!\w)", user[:1].lower() + user[1:], rest)


def is_name(text: str, locale: Locale, *, named: bool = False) -> bool:
    """Whether words are a person's name as far as their look can tell. Where all nouns have a
    capital, the first must be known, but for where it is said to be a name (`named`)."""
    words = text.split()
    if not words or len(words) > _NAME_WORDS_MAX_COUNT + 1:
        return False
    if words[0].casefold().rstrip(".") in locale.words["titles"]:
        words = words[1:]
    if len(words) == 1 and words[0].startswith("@"):
        return _USERNAME.fullmatch(words[0]) is not None
    if not words:
        return False
    if len(words) < len(text.split()) and text.islower():
        # After a title any word is a name: "dr hale".
        return all(tx.isalpha() and tx not in locale.words["small"] for tx in words)
    looks = named or locale.texts["names"] == "capital" or len(words) < len(text.split())
    return _name_word(words[0], locale, looks) and all(_name_word(tx, locale) for tx in words[1:])


def _name_word(word: str, locale: Locale, looks: bool = True) -> bool:
    folded = word.casefold().rstrip(".")
    if folded in locale.words["first_names"]:
        # "My son will start school" is not about a person called Will.
        return word[:1].isupper() or folded not in locale.words["small"]
    if not looks:
        return False
    capital = word[:1].isupper() and not (len(word) > 3 and word.isupper())
    plain = word.replace("-", "").replace("'", "").replace(".", "").isalpha()
    return capital and plain and len(word) > 1 and not _no_name(folded, locale)


def _no_name(word: str, locale: Locale) -> bool:
    return locale.has("no_name", word) or any(
        word in locale.words[group] for group in ("not_names", "places", "small", "months", "weekdays", "kin", "famous")
    )


def make_mention(text: str, kin: KinTerm | None = None, name: str | None = None) -> Mention:
    username = _USERNAME.fullmatch(name) if name else None
    if name and name.islower() and not username:
        name = " ".join(word.capitalize() for word in name.split())
    return Mention(
        text=text,
        name=None if username else name,
        relation=kin.word if kin else None,
        username=username[1] if username else None,
    )


def read_subject(
    text: str, speaker: str, locale: Locale, last: ClauseSubject | None
) -> tuple[ClauseSubject, str] | None:
    """Who a clause begins with, and what follows; None where that cannot be told."""
    myself = locale.patterns["self"].match(text)
    if myself:
        return ClauseSubject(who="self", words=speaker), text[myself.end() :].lstrip()
    found = _of_the_speaker(text, speaker, locale) or _by_name(text, locale)
    if found is None:
        return _by_pronoun(text, locale, last)
    return _joined(*found, speaker, locale)


def _of_the_speaker(text: str, speaker: str, locale: Locale) -> tuple[ClauseSubject, str] | None:
    mine = locale.patterns["mine"].match(text)
    if mine is None:
        return None
    rest = text[mine.end() :].lstrip()
    whose = make_possessive(speaker, locale)
    kin = locale.patterns["kin"].match(rest)
    if kin is None:
        return ClauseSubject(who="self", words=speaker, owns=True), rest
    known = make_kin(kin["kin"], kin["mod"], locale)
    after = rest[kin.end() :]
    name, after = _name_after(after, locale)
    relation = f"{kin['mod'] or ''}{kin['kin']}"
    if locale.texts["names"] == "capital":
        relation = relation.lower()  # "my Mum" is no name
    words = f"{whose} {relation}{' ' + name if name else ''}"
    said = f"{mine[0].strip()} {relation}{' ' + name if name else ''}"
    someone = make_mention(said, known, name)
    return _possessed(
        ClauseSubject(who="kin", words=words, mentions=(someone,), plural=known.plural, kin=known), after, locale
    )


def make_kin(word: str, modifier: str, locale: Locale) -> KinTerm:
    """A relation. A former one is another: my ex-wife is not my wife."""
    known = locale.kin[word.casefold()]
    if set(modifier.casefold().split()) & locale.words["one_of_several"]:
        known = replace(known, slot=None)
    if set(modifier.casefold().split()) & locale.words["former"]:
        return replace(known, word=locale.texts["former"].format(kin=known.word), slot=None)
    return known


def _name_after(text: str, locale: Locale) -> tuple[str | None, str]:
    """A name that follows a relation: "my wife Sarah", "my wife, Sarah,"."""
    opened = re.match(r",? ", text)
    if opened is None:
        return None, text
    name, rest = _leading_name(text[opened.end() :], locale, named=True)
    if name is None:
        return None, text
    return name, re.sub(r"^,", "", rest)


def _leading_name(text: str, locale: Locale, *, named: bool = False) -> tuple[str | None, str]:
    """The name that a text begins with; a mark of possession is left to what follows."""
    taken: list[str] = []
    position = 0
    while len(taken) < _NAME_WORDS_MAX_COUNT:
        match = _TOKEN.match(text, position)
        if match is None:
            break
        word, ending = _without_mark(match[0].rstrip(".,"), locale)
        title = not taken and word.casefold() in locale.words["titles"]
        if taken and not word[:1].isupper():
            break
        known = _name_word(word, locale) if taken else is_name(word, locale, named=named)
        if not title and not known:
            break
        taken.append(word)
        position = match.start() + len(word)
        dotted = title and text[position : position + 1] == "."
        position += 1 if dotted else 0
        if ending or text[position : position + 1] != " ":
            break
        position += 1
    if not taken or (len(taken) == 1 and taken[0].casefold() in locale.words["titles"]):
        return None, text
    end = position - 1 if text[position - 1 : position] == " " else position
    return " ".join(taken), text[end:]


def _without_mark(word: str, locale: Locale) -> tuple[str, str]:
    match = locale.patterns["possessed"].search(word)
    if match is None or word.casefold() in locale.words["first_names"]:
        return word, ""
    return word[: match.start()], match[0]


def _by_name(text: str, locale: Locale) -> tuple[ClauseSubject, str] | None:
    name, rest = _leading_name(text, locale, named=locale.has("surely_named", text))
    if name is None:
        return None
    whence = locale.patterns["affiliation"].match(rest)
    where = whence[0] if whence else ""  # "Jens from accounting"
    rest = rest[len(where) :]
    someone = make_mention(name + where, None, name)
    words = (someone.name or name) + where
    return _possessed(ClauseSubject(who="name", words=words, mentions=(someone,)), rest, locale)


def _possessed(found: ClauseSubject, rest: str, locale: Locale) -> tuple[ClauseSubject, str]:
    """A person's thing, or a person: "Bob's birthday is …", "Bob's moving to …"."""
    marked = locale.patterns["possessed_start"].match(rest)
    if marked is None:
        return found, rest.lstrip()
    rest = rest[marked.end() :].lstrip()
    if locale.patterns["is_contracted"].match(rest):
        return found, f"{locale.texts['is']} {rest}"
    kin = locale.patterns["kin"].match(rest)
    after = rest[kin.end() :].lstrip() if kin else ""
    if kin and not locale.patterns["names_listed"].match(after):
        # "Bob's wife is pregnant": about a person whom we know only by Bob.
        words = f"{make_possessive(found.words, locale)} {kin[0].strip()}"
        plural = locale.kin[kin["kin"].casefold()].plural
        return replace(found, words=words, kin=None, through=True, plural=plural), after
    return replace(found, owns=True), rest


def _joined(found: ClauseSubject, rest: str, speaker: str, locale: Locale) -> tuple[ClauseSubject, str] | None:
    """ "Bob and I", "Sarah and Tom": a joint fact keeps both."""
    match = locale.patterns["joined"].match(rest)
    if match is None or found.owns:
        return found, rest
    rest = rest[match.end() :]
    myself = locale.patterns["self_joined"].match(rest)
    both = locale.texts["both"]
    if myself:
        words = both.format(one=speaker, other=found.words)
        return (
            ClauseSubject(who="self", words=words, mentions=found.mentions, plural=True),
            rest[myself.end() :].lstrip(),
        )
    kin = locale.patterns["joined_kin"].match(rest)
    if kin:
        whose = found.words if kin["own"] else speaker
        named = f"{make_possessive(whose, locale)} {kin['kin']}"
        words = both.format(one=found.words, other=named)
        return replace(found, words=words, plural=True, kin=None, through=True), rest[kin.end() :].lstrip()
    name, after = _leading_name(rest, locale)
    if name is None or locale.patterns["possessed_start"].match(after):
        return None
    other = make_mention(name, None, name)
    words = both.format(one=found.words, other=other.name or name)
    return (replace(found, words=words, mentions=(*found.mentions, other), plural=True, kin=None), after.lstrip())


def _by_pronoun(text: str, locale: Locale, last: ClauseSubject | None) -> tuple[ClauseSubject, str] | None:
    """He, she or they, where the sentence before was about exactly one other person."""
    match = locale.patterns["they"].match(text)
    if match is None or last is None or last.speaks or len(last.mentions) != 1:
        return None
    gender = next((k for k, v in match.groupdict().items() if v), None)
    known = last.kin.gender if last.kin else None
    if known and gender in ("he", "she") and gender != known:
        return None
    rest = text[match.end() :].lstrip()
    if locale.patterns["their"].match(text) is None:
        return replace(last, owns=False), rest
    kin = locale.patterns["kin"].match(rest)
    if kin is None:
        return replace(last, owns=True), rest
    words = f"{make_possessive(last.words, locale)} {kin[0].strip()}"
    plural = locale.kin[kin["kin"].casefold()].plural
    someone = replace(last, words=words, kin=None, through=True, plural=plural, owns=False)
    return someone, rest[kin.end() :].lstrip()
