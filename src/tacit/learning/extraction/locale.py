"""The extraction rules of one language, loaded from learning/locales/extraction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from threading import Lock
from typing import Any, Literal, NamedTuple

import yaml

from tacit.errors import InvalidInput
from tacit.learning.facts import Hold
from tacit.records.memory import Kind, Sensitivity
from tacit.text import fold_case

# The literals that a regex needs, so that most patterns need not be tried.

Literals = tuple[str, ...]  # lower case; one of them is in whatever matches
ANY_TEXT: Literals = ("",)
_PIECE_MIN_CHARS = 2
_PIECES_MAX_COUNT = 64  # with more of them the pattern itself is as quick
_GROUP = re.compile(r"\((?:\?(?:P<\w+>|[a-z]*(?:-[a-z]+)?:|(?P<aside>[=!]|<[=!])))?")
_REPEAT = re.compile(r"(?P<none>[?*]|\{0?,\d*\}|\{0\})?(?P<some>\+|\{\d+(?:,\d*)?\})?[?+]?")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")


class Rewrite(NamedTuple):
    """A pattern, what takes its place, and what it needs."""

    pattern: re.Pattern[str]
    new: str
    needs: Literals


class UnsupportedPattern(Exception):
    """A pattern of a form that is not read here."""


def make_rewrite(pattern: re.Pattern[str], new: str) -> Rewrite:
    return Rewrite(pattern, new, find_required_literals(pattern.pattern))


def find_required_literals(pattern: str) -> Literals:
    try:
        found, end = _either(pattern, 0)
    except UnsupportedPattern:
        return ANY_TEXT
    return found if end == len(pattern) else ANY_TEXT


def may_match(needs: Literals, seen: str) -> bool:
    """`seen` is a text as `low` makes it."""
    for piece in needs:  # noqa: SIM110 - half as fast with `any`, and this is called a lot
        if piece in seen:
            return True
    return False


def apply_rewrites(rewrites: Iterable[Rewrite], text: str) -> str:
    """All of them, from first to last, each on what the one before made of it."""
    seen = fold_case(text)
    for pattern, new, needs in rewrites:
        for piece in needs:  # as `may_match`, without a call for each of hundreds
            if piece in seen:
                break
        else:
            continue
        if pattern.search(text):  # the template of `sub` is read even where nothing matches
            text = pattern.sub(new, text)
            seen = fold_case(text)
    return text


def _either(pattern: str, at: int) -> tuple[Literals, int]:
    """Ways divided by bars, up to the end of the group: what is needed is needed by one of them."""
    ways: list[Literals] = []
    while True:
        found, at = _sequence(pattern, at)
        ways.append(found)
        if pattern[at : at + 1] != "|":
            break
        at += 1
    pieces = tuple(dict.fromkeys(piece for way in ways for piece in way))
    known = "" not in pieces and len(pieces) <= _PIECES_MAX_COUNT
    return (pieces if known else ANY_TEXT), at


def _sequence(pattern: str, at: int) -> tuple[Literals, int]:
    """The most telling of what all has to be there."""
    best, run = ANY_TEXT, ""
    while at < len(pattern) and pattern[at] not in "|)":
        found, literal, at = _atom(pattern, at)
        repeat = _REPEAT.match(pattern, at)
        assert repeat is not None
        at = repeat.end()
        optional, repeated = repeat["none"] is not None, repeat["some"] is not None
        if literal and not optional:
            run += literal
        if not literal or optional or repeated:
            best, run = _better(best, (run,)), ""
        if found is not None and not optional:
            best = _better(best, found)
    return _better(best, (run,)), at


def _atom(pattern: str, at: int) -> tuple[Literals | None, str, int]:
    """What it needs, where it is a group; its letter, where it is one; and where it ends."""
    first = pattern[at]
    if first == "\\":
        escaped = pattern[at + 1]
        return None, "" if escaped.isalnum() or not escaped.isascii() else escaped, at + 2
    if first == "[":
        end = _CLASS.match(pattern, at)
        if end is None:
            raise UnsupportedPattern
        return None, "", end.end()
    if first == "(":
        opened = _GROUP.match(pattern, at)
        if opened is None or pattern[opened.end() : opened.end() + 1] == "?":
            raise UnsupportedPattern
        found, at = _either(pattern, opened.end())
        if pattern[at : at + 1] != ")":
            raise UnsupportedPattern
        return None if opened["aside"] else found, "", at + 1
    if first in ".^$":
        return None, "", at + 1
    if first in "?*+{":
        raise UnsupportedPattern
    return None, first.lower() if first.isascii() else "", at + 1


def _better(one: Literals, other: Literals) -> Literals:
    """The one whose shortest piece is longer."""
    if "" in other or min(map(len, other)) < _PIECE_MIN_CHARS:
        return one
    return other if min(map(len, other)) > min(map(len, one)) else one


# The rules.

# The shapes that a language's data file gives to the rules: forms, captures, kin and verbs.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StatementForm:
    """One plain way of saying a thing, as a pattern over a clause put into the third person. There
    is one object for each."""

    name: str
    match: re.Pattern[str]
    types: Mapping[str, str]  # its groups, and the captures that they are
    kind: Kind
    who: frozenset[str]  # self, kin, name: whose word may be taken in this form
    slot: str | None  # may hold captures: "likes:{thing}"
    value: str | None
    say: str | None  # content where the clause itself would not do
    negated: bool
    dated: bool  # nothing without a date
    recurs: bool  # a date in it comes back every year, and is no time of its own
    firm: bool  # meant even where the speaker laughs
    people: tuple[str, ...]  # captures that name a person whom it is about
    tags: frozenset[str]  # what classification knows the form by


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What may stand in one place of a form."""

    pattern: str
    words: int  # at most so many
    only: frozenset[str] | None  # its last word, or the whole, is one of these
    ends: re.Pattern[str] | None  # … or ends like this
    never: frozenset[str]  # none of its words is one of these
    never_first: frozenset[str]
    proper: bool  # begins with a capital, or is known, or the speaker uses none …
    strict: bool  # … which does not count here
    known: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class KinTerm:
    """A word for a person by what they are to another."""

    word: str  # singular, as it is kept
    slot: str | None  # where one has only one of these
    plural: bool
    gender: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbRules:
    """How a verb of the first person becomes one of the third."""

    same: frozenset[str]
    irregular: Mapping[str, str]
    same_endings: tuple[str, ...]
    endings: tuple[tuple[re.Pattern[str], str], ...]
    plural: Mapping[str, str]  # they are -> is: what forms are matched against
    plural_endings: tuple[tuple[re.Pattern[str], str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DateForm:
    match: re.Pattern[str]
    means: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DateRules:
    forms: tuple[DateForm, ...]
    words: Mapping[str, Mapping[str, int | str]]  # months, weekdays, numbers, units, …
    months: tuple[str, ...]  # how a month is written in content
    say: Mapping[str, str]  # how a date is written, by its grain
    kept: frozenset[str]  # prepositions that stay: by, until, since


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldForm:
    """Words about how far a message may go, or from whom it is kept."""

    match: re.Pattern[str]
    needs: Literals
    hold: Hold | None
    stated: bool  # part of what is said: "a surprise party for Bob"
    last: bool  # read only where no form before it was found
    firm: bool  # withholds even where the person it names is not recognized: "don't tell the boss"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileForms:
    """How values and sentences about a person's name, pronouns, home and language read."""

    keys: frozenset[str]
    things: frozenset[str]
    called: re.Pattern[str]
    lived: re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Words that set a floor: the topic, its words, and how sensitive it is."""

    topic: str
    match: re.Pattern[str]
    sensitivity: Sensitivity


# The forms of the verbs that a data file lists by class, so that a word tells what it may be.

NOW, PAST, DONE, GOING, BARE = "now", "past", "done", "going", "bare"
_VOWELS = "aeiou"
_SHORT = re.compile(r"^[^aeiou]*[aeiou][^aeiouwxy]$")
Rules = Sequence[tuple[re.Pattern[str], str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbSpelling:
    """How one language makes the forms of a verb that no list names."""

    now: Rules
    past: Mapping[str, str]  # irregular: "drive" -> "drove"
    done: Mapping[str, str]  # … -> "driven", where it is not the past
    doubled: frozenset[str]  # "commit" -> "committed"


def build_verb_table(
    classes: Mapping[str, str | Mapping[str, str]], spelling: VerbSpelling
) -> dict[str, frozenset[str]]:
    """What each form of each verb is: "drives" -> {"lasting:now"}. A class lists its verbs, or,
    where a language has no rules for them, its forms: {now: …, done: …}."""
    found: dict[str, set[str]] = {}
    for name, verbs in classes.items():
        forms = (
            [(form, word) for form, words in verbs.items() for word in words.split()]
            if isinstance(verbs, Mapping)
            else [pair for verb in verbs.split() for pair in _forms(verb, spelling)]
        )
        for form, word in forms:
            found.setdefault(word, set()).add(f"{name}:{form}")
    return {word: frozenset(tags) for word, tags in found.items()}


def _forms(verb: str, spelling: VerbSpelling) -> list[tuple[str, str]]:
    past = spelling.past.get(verb) or _regular(verb, "ed", spelling)
    return [
        (BARE, verb),
        (NOW, _now(verb, spelling)),
        (PAST, past),
        (DONE, spelling.done.get(verb, past)),
        (GOING, _regular(verb, "ing", spelling)),
    ]


def _now(verb: str, spelling: VerbSpelling) -> str:
    for pattern, new in spelling.now:
        if pattern.search(verb):
            return pattern.sub(new, verb, count=1)
    return verb


def _regular(verb: str, ending: str, spelling: VerbSpelling) -> str:
    if verb.endswith("e") and not (ending == "ing" and verb.endswith(("ee", "oe", "ye"))):
        return verb[:-1] + ending
    if ending == "ed" and verb.endswith("y") and verb[-2] not in _VOWELS:
        return f"{verb[:-1]}ied"
    if _SHORT.match(verb) or verb in spelling.doubled:
        return verb + verb[-1] + ending
    return verb + ending


# Everything that depends on a language, read from the data files in `locales/`.

AUTO = "auto"  # found out for each message
_FOLDER = "locales/extraction"
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LIST = re.compile(r"\{([a-z_]+)\}")
_CAPTURE = re.compile(r"(?<!\?P)<(?:([a-z_]+):)?([a-z_]+)>")
_FOLD = re.compile(r"\|\s+")
_LOOKED_AT_MAX_CHARS = 1_000
# What a data file names when it wants a date or a time to stand in a place.
WHEN = "⟦d\\d⟧"
TIME = "⟦t\\d⟧"
# Dates and times may follow any form: they are no part of what it says.
_TAIL = r"(?:,? ⟦[dt]\d⟧){0,3}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Locale:
    """One language. Compare by code: there is one object for each."""

    code: str
    words: Mapping[str, frozenset[str]]
    patterns: Mapping[str, re.Pattern[str]]
    needs: Mapping[str, Literals]  # of each pattern
    texts: Mapping[str, str]  # templates and phrases of content
    spelling: tuple[Rewrite, ...]
    rewrites: tuple[Rewrite, ...]
    supplied: tuple[tuple[re.Pattern[str], str], ...]  # clauses that leave out "I", and with it
    turned: tuple[tuple[re.Pattern[str], str], ...]  # my -> {whose}, me -> {who}
    possessive: tuple[tuple[re.Pattern[str], str], ...]
    kin: Mapping[str, KinTerm]
    verbs: VerbRules
    frames: Mapping[str, frozenset[str]]  # "drives" -> {"lasting:now"}: verbs by their class
    dates: DateRules
    captures: Mapping[str, Capture]
    does: tuple[StatementForm, ...]  # what a person does or is
    owns: tuple[StatementForm, ...]  # what a person's thing is
    wholes: tuple[StatementForm, ...]  # clauses that are read as they stand
    plain_of: tuple[StatementForm, ...]  # enough only where the speaker asked for it to be remembered:
    plain: tuple[StatementForm, ...]  # … of a person, and of a thing
    holds: tuple[HoldForm, ...]
    lexicon: tuple[Lexicon, ...]
    dimensions: Mapping[str, str]  # aisle -> seat: what a preference is about
    importance: Mapping[str, int]
    singular: tuple[tuple[re.Pattern[str], str], ...]

    def has(self, pattern: str, text: str) -> bool:
        return may_match(self.needs[pattern], fold_case(text)) and bool(self.patterns[pattern].search(text))

    def takes_back(self, pattern: Literal["not_meant", "sentence_veto"], text: str) -> bool:
        """As `has`, for the two longest of them, which are asked of the same text twice."""
        return _taken_back(self.code, pattern, text)


@lru_cache(maxsize=16)
def _taken_back(code: str, pattern: str, text: str) -> bool:
    return load_locale(code).has(pattern, text)


@cache
def list_locales() -> tuple[str, ...]:
    """The languages that there are data files for."""
    found = (entry.name for entry in files("tacit.learning").joinpath(_FOLDER).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml")))


def check_locale(code: str) -> str:
    """What an operator chose: `auto`, or a language that there are rules for; pt-BR is pt."""
    short = code.partition("-")[0].casefold()
    if short != AUTO and short not in list_locales():
        raise InvalidInput("learn.locale", f"choose auto or one of {', '.join(list_locales())}")
    return short


def load_locale(code: str) -> Locale:
    """Return the one locale of a language: its forms are told apart by identity, so two threads
    that load it at once must get the same object."""
    with _LOADING:
        return _load_locale(code)


_LOADING = Lock()


@cache
def _load_locale(code: str) -> Locale:
    if code not in list_locales():
        raise InvalidInput("language", f"no rules for {code!r}; use one of {', '.join(list_locales())}")
    return _reader(code).read()


@cache
def load_lexicon(code: str) -> tuple[Lexicon, ...]:
    """What is sensitive in a language, for callers that need nothing else of it: to read all of its
    rules takes ten times as long."""
    return _reader(code).lexicon()


@cache
def load_profile_forms(code: str) -> ProfileForms:
    """What is asked about before a model keeps it, likewise."""
    return _reader(code).profile()


@cache
def load_hold_forms(code: str) -> tuple[HoldForm, ...]:
    """The holds of a language alone, for the same reason."""
    return _reader(code).holds()


def _reader(code: str) -> _Reader:
    path = files("tacit.learning").joinpath(_FOLDER).joinpath(f"{code}.yaml")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return _Reader(code, yaml.load(path.read_text(encoding="utf-8"), Loader=loader))


def guess_locale(text: str) -> str:
    """The language whose small words a text uses most; the first of `codes` order is English."""
    seen = [word.casefold() for word in _WORD.findall(text[:_LOOKED_AT_MAX_CHARS])]
    scores = {code: _score(code, seen) for code in _by_default()}
    best = max(scores.values())
    return next(code for code, score in scores.items() if score == best)


def _by_default() -> list[str]:
    return sorted(list_locales(), key=lambda code: (code != "en", code))


def _score(code: str, seen: list[str]) -> int:
    own = load_locale(code).words["small"]
    return sum(word in own for word in seen)


class _Reader:
    """Turns one data file into a `Tongue`, with the lists of words put into its patterns."""

    def __init__(self, code: str, document: dict[str, Any]) -> None:
        self.code = code
        self.document = document
        # A long alternation may go over several lines, each beginning with a new word.
        self.fragments = {n: _FOLD.sub("|", p) for n, p in document["fragments"].items()}
        self.words: dict[str, frozenset[str]] = {
            name: frozenset(_listed(value)) for name, value in document["words"].items()
        }
        self.words["kin"] = frozenset(document["kin"])
        for kin in document["kin"].values():
            self.words["kin"] |= {kin["plural"]} if kin and kin.get("plural") else set()
        months = [str(word) for word in document["dates"]["words"]["months"]]
        self.words["months"] = frozenset(months)
        for name in ("weekdays", "numbers", "units", "which"):
            self.words[name] = frozenset(str(tx) for tx in document["dates"]["words"][name])
        self.captures = {name: self._capture(entry) for name, entry in document["captures"].items()}

    def lexicon(self) -> tuple[Lexicon, ...]:
        return tuple(
            Lexicon(topic=topic, match=self._compile(entry["match"]), sensitivity=Sensitivity(entry["sensitivity"]))
            for topic, entry in self.document["lexicon"].items()
        )

    def profile(self) -> ProfileForms:
        entry = self.document["profile"]
        return ProfileForms(
            keys=frozenset(_listed(entry["keys"])),
            things=frozenset(_listed(entry["things"])),
            called=self._compile(entry["called"]),
            lived=self._compile(entry["lived"]),
        )

    def holds(self) -> tuple[HoldForm, ...]:
        return tuple(map(self._hold, self.document["holds"]))

    def read(self) -> Locale:
        document = self.document
        patterns = {n: self._compile(p) for n, p in document["patterns"].items()}
        return Locale(
            code=self.code,
            words=self.words,
            patterns=patterns,
            needs={name: find_required_literals(one.pattern) for name, one in patterns.items()},
            texts=document["texts"],
            spelling=self._rewrites("spelling"),
            rewrites=self._rewrites("rewrites"),
            supplied=self._pairs("supplied"),
            turned=self._pairs("turned"),
            possessive=self._pairs("possessive"),
            singular=self._pairs("singular"),
            kin=self._kin(),
            verbs=self._verbs(),
            frames=self._frames(),
            dates=self._dates(),
            captures=self.captures,
            does=self._forms("does"),
            owns=self._forms("owns"),
            wholes=self._forms("wholes"),
            plain_of=self._forms("plain_of"),
            plain=self._forms("plain"),
            holds=self.holds(),
            lexicon=self.lexicon(),
            dimensions={
                word: dimension for dimension, listed in document["dimensions"].items() for word in _listed(listed)
            },
            importance=document["importance"],
        )

    def _expand(self, pattern: str) -> str:
        def listed(match: re.Match[str]) -> str:
            if match[1] in self.fragments:
                return f"(?:{self._expand(self.fragments[match[1]])})"
            words = sorted(self.words[match[1]], key=lambda word: (-len(word), word))
            return "(?:" + "|".join(re.escape(word) for word in words) + ")"

        def captured(match: re.Match[str]) -> str:
            if match[2] in ("when", "time"):
                return f"(?P<{match[1] or match[2]}>{WHEN if match[2] == 'when' else TIME})"
            return f"(?P<{match[1] or match[2]}>{self.captures[match[2]].pattern})"

        return _LIST.sub(listed, _CAPTURE.sub(captured, pattern))

    def _compile(self, pattern: str) -> re.Pattern[str]:
        try:
            return re.compile(self._expand(pattern), re.IGNORECASE)
        except (re.error, KeyError) as wrong:
            message = f"{self.code}.yaml: cannot read the pattern {pattern!r}: {wrong}"
            raise ValueError(message) from wrong

    def _pairs(self, name: str) -> tuple[tuple[re.Pattern[str], str], ...]:
        return tuple((self._compile(old), new) for old, new in self.document.get(name) or ())

    def _rewrites(self, name: str) -> tuple[Rewrite, ...]:
        return tuple(make_rewrite(pattern, new) for pattern, new in self._pairs(name))

    def _capture(self, entry: dict[str, Any]) -> Capture:
        def union(key: str) -> frozenset[str]:
            return frozenset().union(*(self.words[name] for name in _listed(entry.get(key, ""))))

        return Capture(
            pattern=entry["pattern"],
            words=entry.get("words", 8),
            only=union("only") if "only" in entry else None,
            ends=re.compile(entry["ends"]) if "ends" in entry else None,
            never=union("never"),
            never_first=union("never_first"),
            proper=entry.get("proper", False),
            strict=entry.get("strict", False),
            known=union("known"),
        )

    def _forms(self, group: str) -> tuple[StatementForm, ...]:
        made = []
        for entry in self.document[group]:
            patterns = entry["match"] if isinstance(entry["match"], list) else [entry["match"]]
            made += [self._form(entry, pattern) for pattern in patterns]
        return tuple(made)

    def _form(self, entry: dict[str, Any], pattern: str) -> StatementForm:
        return StatementForm(
            name=entry["name"],
            match=self._compile(f"^(?:{pattern}){_TAIL}$"),
            types={m[1] or m[2]: m[2] for m in _CAPTURE.finditer(pattern)},
            kind=Kind(entry["kind"]),
            who=frozenset(_listed(entry.get("who", "self kin name"))),
            slot=entry.get("slot"),
            value=entry.get("value"),
            say=entry.get("say"),
            negated=entry.get("negated", False),
            dated=entry.get("dated", False),
            recurs=entry.get("recurs", False),
            firm=entry.get("firm", True),
            people=tuple(_listed(entry.get("people", ""))),
            tags=frozenset({entry["name"], *_listed(entry.get("tags", ""))}),
        )

    def _hold(self, entry: dict[str, Any]) -> HoldForm:
        match = self._compile(entry["match"])
        hold = Hold(entry["hold"]) if "hold" in entry else None
        return HoldForm(
            match=match,
            needs=find_required_literals(match.pattern),
            hold=hold,
            stated=entry.get("stated", False),
            last=entry.get("last", False),
            firm=entry.get("firm", False),
        )

    def _kin(self) -> dict[str, KinTerm]:
        found = {}
        for word, entry in self.document["kin"].items():
            entry = entry or {}
            kept = entry.get("word", word)
            made = {"word": kept, "slot": entry.get("slot"), "gender": entry.get("gender")}
            found[word] = KinTerm(plural=entry.get("many", False), **made)
            if entry.get("plural"):
                found[entry["plural"]] = KinTerm(plural=True, **{**made, "slot": None})
        return found

    def _verbs(self) -> VerbRules:
        entry = self.document["verbs"]
        return VerbRules(
            same=frozenset(_listed(entry["same"])),
            irregular=entry["irregular"],
            same_endings=tuple(_listed(entry["same_endings"])),
            endings=tuple((self._compile(old), new) for old, new in entry["endings"]),
            plural=entry["plural"],
            plural_endings=tuple((self._compile(old), new) for old, new in entry["plural_endings"]),
        )

    def _frames(self) -> dict[str, frozenset[str]]:
        entry = self.document["frames"]
        spelling = VerbSpelling(
            now=self._verbs().endings,
            past=entry.get("past", {}),
            done=entry.get("done", {}),
            doubled=frozenset(_listed(entry.get("doubled", ""))),
        )
        return build_verb_table(entry["classes"], spelling)

    def _dates(self) -> DateRules:
        entry = self.document["dates"]
        words = {name: {str(word): value for word, value in listed.items()} for name, listed in entry["words"].items()}
        return DateRules(
            forms=tuple(DateForm(match=self._compile(one["match"]), means=one["means"]) for one in entry["forms"]),
            words=words,
            months=tuple(entry["months"]),
            say=entry["say"],
            kept=frozenset(_listed(entry["kept"])),
        )


def _listed(value: str | list[str]) -> list[str]:
    """Words separated by spaces, or a list where some have spaces inside."""
    return value.split() if isinstance(value, str) else [str(one) for one in value]
