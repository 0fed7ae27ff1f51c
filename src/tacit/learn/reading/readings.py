"""A clause of a message read: stripped to what it says, and tried with and without its tail."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tacit.learn.facts import Statement
from tacit.learn.needed import rewritten
from tacit.learn.reading.elision import supplied
from tacit.learn.reading.mentions import Subject, possessive
from tacit.learn.reading.opened import OpenClause
from tacit.learn.reading.sentences import BLANK, Piece, only_date
from tacit.learn.reading.setting import Setting
from tacit.learn.reading.tongue import Tongue
from tacit.learn.reading.when import mark

_LEADS_MAX_COUNT = 5
_SPACES = re.compile(r"\s+")
_LEADING_DATE = re.compile(r"^(⟦[dt]\d⟧(?: ⟦[dt]\d⟧)?),? (.+)$")
_COMMA = ", "


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a clause was understood as."""

    statement: Statement | None
    subject: Subject | None
    explicit: bool
    said: str = ""  # the clause as far as it was understood
    rest: str = ""  # what follows that


def read(piece: Piece, quote: str, setting: Setting, last: Subject | None) -> Reading:
    tongue = setting.locale
    text, explicit = _stripped(piece.text, tongue)
    setting = replace(setting, explicit=explicit or setting.explicit)
    nothing = Reading(statement=None, subject=None, explicit=setting.explicit)
    if setting.meant:
        whose = possessive(setting.meant, tongue)
        text = tongue.patterns["meant_possessive"].sub(whose, text)
        text = tongue.patterns["object_pronoun"].sub(setting.meant, text)
    if not text or BLANK in text or tongue.has("veto", text):
        return nothing
    setting = replace(setting, noted=bool(tongue.frames) and tongue.has("noted", piece.text))
    ways = _supplied(_ways(text, tongue), tongue)
    whole = [_closed(text, tongue)] if tongue.has("apposed", text) else []
    # What a form knows comes first, however much of the clause it takes.
    heard = _Heard(quote, setting, last)
    tries = [(way, False) for way in ways]
    if tongue.patterns["topic"].match(text) is None:  # else the next clause says what it is now
        tries += [(way, True) for way in [*_supplied(whole, tongue), *ways]]
    if len(ways) > 1 and tongue.has("list_tail", text.partition(_COMMA)[2]):
        # A list is no remark: "a cat, two hens and a tortoise".
        tries = [(way, open_frame) for way in ways for open_frame in (False, True)]
    elif _loses_a_time(text, ways, tongue):
        tries = [(text, False), (text, True), *tries]
    made = None
    for way, open_frame in tries:
        one = heard.read(way, open_frame=open_frame)
        if one.statement:
            return replace(one, said=way, rest=_rest(way, _supplied([text], tongue)))
        made = made or one.subject
    return replace(nothing, subject=made)


def _rest(way: str, wholes: list[str]) -> str:
    return next((whole[len(way) :] for whole in wholes if whole.startswith(way)), "")


class _Heard:
    """The ways in which a clause may be read, each looked at for its dates once."""

    def __init__(self, quote: str, setting: Setting, last: Subject | None) -> None:
        self.quote, self.setting, self.last = quote, setting, last
        self.clauses: dict[str, OpenClause] = {}

    def read(self, way: str, *, open_frame: bool) -> Reading:
        clause = self.clauses.get(way) or self._clause(way)
        self.clauses[way] = clause
        statement = clause.opened() if open_frame else clause.statement()
        return Reading(statement=statement, subject=clause.subject, explicit=self.setting.explicit)

    def _clause(self, text: str) -> OpenClause:
        tongue = self.setting.locale
        # "She told me that she is moving in May": what was told may be to come.
        told = tongue.patterns["report_verb"].split(text)[-1]
        past = tongue.has("past", told) and not tongue.has("to_come", told)
        text, whens = mark(text, self.setting.said_at, tongue, past=past)
        text = _LEADING_DATE.sub(r"\2 \1", text)
        return OpenClause(text, self.quote, whens, self.setting, self.last)


def _loses_a_time(text: str, ways: list[str], tongue: Tongue) -> bool:
    """Whether a shorter way leaves off what has its own time: "judo on Mondays and chess on …"."""
    shortest = min(ways, key=len)
    lost = text[len(shortest) :] if text.startswith(shortest) else ""
    joined = lost.split()[:1] and lost.split()[0].lower() in tongue.words["conjunctions"]
    return bool(joined) and any(
        form.match.search(lost) for form in tongue.dates.forms if form.means == "recurring"
    )


def _supplied(ways: list[str], tongue: Tongue) -> list[str]:
    own = [supplied(way, tongue) for way in ways]
    return [*ways, *(way for way in own if way)]


def _ways(text: str, tongue: Tongue) -> list[str]:
    """A clause as it was said, and without a remark that follows it: "I study law, third year".
    What takes back or narrows what it follows is no remark. A list is tried whole first."""
    ways = [text]
    before, comma, rest = text.partition(_COMMA)
    if comma and not tongue.has("tail_binds", rest) and not only_date(rest, tongue):
        cut = _closed(before, tongue)
        listed = tongue.has("list_tail", rest) or tongue.has("adjective_end", before)
        ways = [text, cut] if listed else [cut, text]
    tail = tongue.patterns["tail"].search(text)
    scoped = tongue.has("tail_scoped", text)  # "don't drink and drive" denies both at once
    if tail and not scoped and not tongue.has("tail_binds", tail[0].strip(" ,")):
        ways.append(_closed(text[: tail.start()], tongue))
    return list(dict.fromkeys(way for way in ways if way))


def written_out(text: str, tongue: Tongue) -> str:
    """A clause with its typing habits and contractions written out."""
    return rewritten(tongue.spelling, _SPACES.sub(" ", text).strip())


def stripped(text: str, tongue: Tongue) -> str:
    """A clause written out, without what merely opens or closes it."""
    return _stripped(text, tongue)[0]


def _stripped(text: str, tongue: Tongue) -> tuple[str, bool]:
    """A clause without what merely opens or closes it; whether it asks to be remembered."""
    text = written_out(text, tongue)
    explicit = False
    for _ in range(_LEADS_MAX_COUNT):
        asked = tongue.patterns["explicit"].match(f"{text} ")
        opened = asked or tongue.patterns["lead"].match(text)
        if opened is None or not opened[0]:
            break
        explicit = explicit or asked is not None
        text = text[opened.end() :].lstrip(" ,:-")
    return _closed(text, tongue), explicit


def _closed(text: str, tongue: Tongue) -> str:
    for _ in range(_LEADS_MAX_COUNT):
        closed = tongue.patterns["trail"].search(text)
        if closed is None or not closed[0]:
            break
        text = text[: closed.start()].rstrip(" ,:-.!")
    return text
