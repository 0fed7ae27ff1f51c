"""Read holds from a message: how far it may go, and from whom it is kept."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tacit.learning.extraction.locale import (
    HoldForm,
    Locale,
    list_locales,
    load_hold_forms,
    load_locale,
)
from tacit.learning.extraction.mentions import is_name, make_mention
from tacit.learning.extraction.sentences import strip_formatting
from tacit.learning.facts import Hold, Mention
from tacit.learning.regex_prefilter import fold_case, may_match

_WORD = re.compile(r"@?\w[\w'-]*")
_EMPTIED = re.compile(r"\([\s.,:;!-]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldScope:
    """How far a message may go. The strictest word of a message counts."""

    hold: Hold | None = None
    withheld_from: tuple[Mention, ...] = ()

    @property
    def guarded(self) -> bool:
        """Whether some people may not hear the message."""
        return self.hold in (Hold.UNKEPT, Hold.PRIVATE, Hold.ROOM) or bool(self.withheld_from)


_STRICTNESS = {Hold.UNKEPT: 3, Hold.PRIVATE: 2, Hold.ROOM: 1, Hold.SHARE: 0}
# With fewer words besides the hold, a message only says how far another one may go.
_OWN_WORDS_MIN_COUNT = 3


def read_locale_holds(text: str, locale: Locale) -> HoldScope:
    holds: list[Hold] = []
    withheld: list[Mention] = []
    for form in _likely(text, locale):
        if form.last and (holds or withheld):
            continue
        for match in form.match.finditer(text):
            names = match.groupdict().get("names")
            if form.hold:
                holds.append(form.hold)
            elif names:
                withheld += _named(names, locale, firm=form.firm) or _meant(names, text, locale)
    return HoldScope(hold=_strictest(holds), withheld_from=tuple(dict.fromkeys(withheld)))


def read_holds(text: str) -> HoldScope:
    """Read the holds of a text in every language there are rules for; what only allows to share is
    not looked for. Fast where there is none: the rest of a language's rules is loaded only once
    one of its holds matches."""
    text = strip_formatting(text)
    return combine_holds(read_locale_holds(text, load_locale(code)) for code in _held_in(text))


def combine_holds(found: Iterable[HoldScope]) -> HoldScope:
    """The strictest hold of several messages, withheld from all people whom one of them names."""
    every = list(found)
    return HoldScope(
        hold=_strictest([one.hold for one in every if one.hold]),
        withheld_from=tuple(dict.fromkeys(who for one in every for who in one.withheld_from)),
    )


def is_only_hold(text: str) -> bool:
    """Whether a text with a hold says little else: "but keep that between us"."""
    text = strip_formatting(text)
    for code in _held_in(text):
        text = blank_holds(text, load_locale(code))
    return len(_WORD.findall(text)) < _OWN_WORDS_MIN_COUNT


def has_hold(text: str) -> bool:
    """Whether a text says, in any language that is read here, that not all people may hear it."""
    return read_holds(text).guarded


def _held_in(text: str) -> list[str]:
    """The languages one of whose holds matches. That a text may be shared holds nothing back."""
    seen = fold_case(text)
    return [
        code
        for code in list_locales()
        if any(
            form.hold is not Hold.SHARE and may_match(form.needs, seen) and form.match.search(text)
            for form in load_hold_forms(code)
        )
    ]


def _strictest(holds: list[Hold]) -> Hold | None:
    return max(holds, key=_STRICTNESS.__getitem__, default=None)


def blank_holds(text: str, locale: Locale) -> str:
    """The text without those words, but for those that a fact is made of; its length stays."""
    for form in _likely(text, locale):
        if form.stated:
            continue
        text = form.match.sub(lambda match: "." + " " * (len(match[0]) - 1), text)
    # What stood in brackets ends no sentence: "I bought a watch (don't tell Bob) for his birthday".
    return _EMPTIED.sub(lambda match: " " * len(match[0]), text)


def _likely(text: str, locale: Locale) -> list[HoldForm]:
    """Those that may match, also once others are cut out of the text."""
    seen = fold_case(text)
    return [form for form in locale.holds if may_match(form.needs, seen)]


def _meant(pronoun: str, text: str, locale: Locale) -> list[Mention]:
    """Whom "don't tell him" can mean: all people whom the message names, because one too many hears
    less, and one too few would hear it. Where it names no person, an unknown one."""
    if pronoun.casefold() not in locale.words["pronouns_hushed"]:
        return []
    words = (word.removesuffix("'s") for word in _WORD.findall(text.replace("’", "'")))
    names = [make_mention(word, None, word) for word in words if is_name(word, locale)]
    return names or [make_mention(pronoun)]


def _shortened(text: str, locale: Locale) -> str:
    """A name without what goes on after it: "don't tell Quinn the party is on Friday"."""
    words, small = text.split(), locale.words["small"]
    if not words or words[0].casefold() in small:
        return text
    end = next((n for n, word in enumerate(words) if word.casefold() in small), len(words))
    return " ".join(words[:end])


def _named(text: str, locale: Locale, *, firm: bool) -> list[Mention]:
    """The people of a list. A `firm` hold is for those too whose names are not recognized."""
    spared = locale.words["never_hushed"] | locale.words["pronouns_hushed"]
    found = []
    for one in locale.patterns["listed"].split(text):
        one = _shortened((one or "").strip(" ,.!"), locale)
        kin = locale.patterns["somebody"].fullmatch(one)
        if kin:
            known = locale.kin[kin["kin"].casefold()]
            name = kin["name"] if kin["name"] and is_name(kin["name"], locale) else None
            found.append(make_mention(one, known, name))
        elif one.casefold() in locale.kin:  # "don't tell mum"
            found.append(make_mention(one, locale.kin[one.casefold()]))
        elif is_name(one, locale) or is_name(one.partition(" ")[0], locale):  # "bob smith"
            found.append(make_mention(one, None, one))
        elif firm and one and one.casefold().split()[0] not in spared:  # "the boss"
            found.append(make_mention(one))
    return found
