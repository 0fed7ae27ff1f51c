"""Parse a person's reply to a numbered list: "yes", "all", "only the first", "1 and 3", "nein".

A reply is normalized and split into tokens, and each token has one role. A reply with a token that
has no role says something else and decides nothing; so does one that people close a talk with
("that's all, thanks").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tacit.surfaces.chat.decision_words import (
    COUNTED,
    FORGETTING,
    IDIOMS,
    NOT_ANSWERS,
    NUMBERS,
    ROLES,
    Role,
)
from tacit.unicode import normalize_unicode

_REPLY_MAX_CHARS = 200
_SPACE = r"[\s,]+"  # also "yes, it is"
_IDIOM = re.compile(
    "|".join(
        rf"(?<!\w){_SPACE.join(map(re.escape, one.split()))}(?!['\w])"
        for one in sorted(IDIOMS, key=len, reverse=True)
    )
)
_TOKEN = re.compile(r"\d+|[^\W\d_]+(?:'[^\W\d_]+)*|[-–,;.:!?/&#+]")
_ENDING = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")  # "2nd"
_EVERYTHING = frozenset({"everything", "alles"})  # "forget everything" is not about a list
_NO_AND_MORE = re.compile(r"\s*(\w+)\s*[,.!;:–-]\s*\S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a reply says about the items of a list, by their places from 0 on."""

    yes: frozenset[int] = frozenset()
    no: frozenset[int] = frozenset()
    bare: bool = False  # a yes or no that names no item
    certain: bool = False  # a yes or no was said: not "ok" or a number alone
    says_more: bool = False  # a no, and then a sentence


UNCLEAR = Decision()


def parse_decision(
    text: str, items: Sequence[frozenset[str]], *, left: bool = False, forgets: bool = False
) -> Decision | None:
    """Return what the reply decides, `UNCLEAR` for an answer that does not say enough, and None for
    what is no answer. Each item is given as the words that it can be told by.

    `left`: the items are what is left of a longer list, so that "the others" are these.
    `forgets`: the question is what to forget, so that a yes is "delete" and a no is "keep"."""
    if not items or not text.strip() or len(text) > _REPLY_MAX_CHARS:
        return None
    plain = _plain(text)
    if _is_no_answer(_TOKEN.findall(plain)):
        return None
    normal = _ENDING.sub("", _IDIOM.sub(_meaning, plain))
    tokens = [_spelled(one) for one in _TOKEN.findall(normal)]
    symbols = _symbols(tokens, items, FORGETTING if forgets else {})
    if symbols is not None:
        wipes = (
            not forgets and not _EVERYTHING.isdisjoint(tokens) and ROLES.get(tokens[0]) is Role.DROP
        )
        return None if wipes else _decide(symbols, len(items), left=left)
    first = _NO_AND_MORE.match(normal)
    if first is not None and ROLES.get(_spelled(first[1])) is Role.NO:
        return Decision(no=frozenset(range(len(items))), bare=True, certain=True, says_more=True)
    return None


def _plain(text: str) -> str:
    folded = normalize_unicode("NFKC", text).casefold().replace("’", "'")
    return re.sub(r"([^\W\d_])\1{2,}", r"\1", folded)  # "yesss"


def _meaning(found: re.Match[str]) -> str:
    return f" {IDIOMS[' '.join(found[0].replace(',', ' ').split())]} "


def _is_no_answer(tokens: Sequence[str]) -> bool:
    words = [one for one in tokens if one[0].isalnum()]
    return any(
        tuple(words[n : n + len(phrase)]) == phrase
        for phrase in NOT_ANSWERS
        for n in range(len(words) - len(phrase) + 1)
    )


def _spelled(token: str) -> str:
    """As the sets above have it: "yess" is "yes"."""
    single = re.sub(r"(\w)\1", r"\1", token)
    return single if token not in ROLES and single in ROLES else token


_Symbol = tuple[Role, frozenset[int]]


def _symbols(
    tokens: Sequence[str], items: Sequence[frozenset[str]], other_roles: Mapping[str, Role]
) -> list[_Symbol] | None:
    """The roles of the tokens, with the items that they name; None: one of them has no role."""
    found: list[_Symbol] = []
    for n, token in enumerate(tokens):
        before = tokens[n - 1] if n else ""
        role = other_roles.get(token, ROLES.get(token))
        if token.isdecimal() or token in NUMBERS:
            found.append(_numbered(token, before, found, len(items)))
        elif role is Role.FIRST:
            found.append((Role.ITEMS, frozenset({0})))
        elif role is Role.LAST:
            found.append((Role.ITEMS, frozenset({len(items) - 1})))
        elif role is not None:
            found.append((role, frozenset()))
        else:
            named = frozenset(i for i, one in enumerate(items) if token.removesuffix("s") in one)
            if not named:
                return None
            found.append((Role.WORD if len(named) == 1 else Role.VAGUE, named))
    return list(_merged(found, tokens, len(items)))


def _numbered(token: str, before: str, found: Sequence[_Symbol], count: int) -> _Symbol:
    """A number is an item's, but for "all three", "the two" and "the second one"."""
    number = int(token) if len(token) < 4 and token.isdecimal() else NUMBERS.get(token, 0)
    previous = found[-1][0] if found else None
    if token == "one":
        if previous in (Role.ITEMS, Role.REST, Role.WORD, Role.VAGUE, Role.ALL):
            return Role.FILLER, frozenset()
        if previous is Role.ONLY or before in ("the", "this", "that"):
            return Role.FILLER if count == 1 else Role.VAGUE, frozenset()
    elif token in COUNTED and before in ("the", "these", "those"):
        return Role.ALL if number == count else Role.VAGUE, frozenset()
    if previous is Role.ALL:
        return Role.FILLER if number == count else Role.VAGUE, frozenset()
    if not 0 < number <= count:
        return Role.VAGUE, frozenset()
    return Role.ITEMS, frozenset({number - 1})


def _merged(symbols: list[_Symbol], tokens: Sequence[str], count: int) -> Iterator[_Symbol]:
    """With "the first two" and "1-3" as one each."""
    n = 0
    while n < len(symbols):
        role, items = symbols[n]
        after = symbols[n + 1] if n + 1 < len(symbols) else (Role.FILLER, frozenset())
        end = symbols[n + 2] if n + 2 < len(symbols) else (Role.FILLER, frozenset())
        edge = ROLES.get(tokens[n])
        if edge in (Role.FIRST, Role.LAST) and after[0] in (Role.ITEMS, Role.BOTH):
            many = 2 if after[0] is Role.BOTH else max(after[1]) + 1
            places = range(many) if edge is Role.FIRST else range(count - many, count)
            ok = 1 < many <= count and tokens[n + 1] not in ("second", "third", "fourth", "fifth")
            yield (Role.ITEMS, frozenset(places)) if ok else (Role.VAGUE, frozenset())
            n += 2
        elif role is Role.ITEMS and _is_range(after[0], tokens, n) and end[0] is Role.ITEMS:
            yield Role.ITEMS, frozenset(range(min(items), max(end[1]) + 1))
            n += 3
        else:
            yield role, items
            n += 1


def _is_range(role: Role, tokens: Sequence[str], n: int) -> bool:
    return role is Role.RANGE or (n + 1 < len(tokens) and tokens[n + 1] == "to")


_POLARITIES = (Role.YES, Role.NO, Role.NOT, Role.KEEP, Role.DROP)
_SAYING = frozenset({*_POLARITIES, Role.NONE, Role.ONLY})
_WHOLE = frozenset({Role.ALL, Role.BOTH, Role.ANY, Role.REST})
_TARGETS = (Role.ITEMS, Role.WORD, Role.ALL, Role.BOTH, Role.ANY, Role.REST)


def _decide(symbols: list[_Symbol], count: int, *, left: bool) -> Decision | None:
    telling = [one for one in symbols if one[0] is not Role.FILLER]
    roles = [role for role, _ in telling if role is not Role.BREAK]
    if _is_small_talk(roles):
        return None
    thanks = Role.THANKS in roles
    telling = [one for one in telling if one[0] not in (Role.THANKS, Role.MOOD)]
    roles = [role for role in roles if role not in (Role.THANKS, Role.MOOD)]
    if thanks and set(roles) == {Role.WEAK_YES}:
        return UNCLEAR  # "ok, thanks" may end the talk
    if roles and roles[0] in _TARGETS and roles[-1] in _POLARITIES:
        # "1 yes, 2 no": read backwards, each yes or no stands before what it is about.
        telling = [one for one in reversed(telling) if one[0] is not Role.BREAK]
    clauses = _Clauses(count, left)
    for role, items in telling:
        clauses.take(role, items)
    return clauses.decide()


def _is_small_talk(roles: Sequence[Role]) -> bool:
    """ "Both are nice" and "thanks for everything" name items, but say nothing about them."""
    telling = next((n for n, role in enumerate(roles) if role in _SAYING), len(roles))
    if Role.MOOD in roles and telling == len(roles):
        return True
    return any(
        role is Role.THANKS and not _WHOLE.isdisjoint(roles[n:])
        for n, role in enumerate(roles[:telling])
    )


@dataclass(slots=True)
class _Clauses:
    """What a reply has said so far."""

    count: int
    left: bool
    yes: set[int] = field(default_factory=set)
    no: set[int] = field(default_factory=set)
    rest: bool | None = None  # what holds for the items that are not named
    polarity: bool | None = None  # of what comes next; items named without any are a yes
    said: set[bool] = field(default_factory=set)  # each yes and no
    last: Role | None = None
    broken: bool = False  # a comma came after that
    others: bool = False  # "the rest"
    negated: bool = False
    certainly: bool = False  # "certainly not"
    weak: bool = False
    only: bool = False
    excepting: bool = False  # "but", and nothing named after it yet
    by_word: bool = False
    dropped: bool = False
    unclear: bool = False

    def take(self, role: Role, items: frozenset[int]) -> None:
        if role is Role.YES:
            self.unclear |= self.negated  # "not sure"
            self._say(True)
        elif role is Role.KEEP:
            if self.rest is not False:  # unlike "nothing to keep"
                self._say(True)
        elif role in (Role.NO, Role.DROP):
            self.dropped |= role is Role.DROP
            self._say(False)
        elif role is Role.NONE:
            self._take_none()
        elif role is Role.NOT:
            self.negated = True
            self.certainly = self.last is Role.YES and not self.broken
        elif role is Role.WEAK_YES:
            self.weak = True
        elif role is Role.ONLY:
            self._take_only()
        elif role is Role.EXCEPT:
            self._take_except()
        elif role is Role.VAGUE:
            self.unclear = True
        elif role in _TARGETS:
            self._name(role, items)
        if role is Role.BREAK:
            self.broken = True
        else:
            self.last, self.broken = role, False

    def _say(self, polarity: bool) -> None:
        self.polarity = polarity is not self.negated
        self.negated = False
        self.said.add(self.polarity)

    def _take_none(self) -> None:
        if self.last is Role.KEEP:  # "keep none"
            self.said.discard(True)
        self.unclear |= True in self.said
        self.negated = False
        self._say(False)
        self.rest = False

    def _take_only(self) -> None:
        self.unclear |= self.negated
        if self.last in (Role.NO, Role.EXCEPT):  # "no, only the first"
            self.polarity, self.rest = None, None
            self.said.discard(False)
        self.only = True

    def _take_except(self) -> None:
        base = self.polarity is not False
        if self.rest is None and not self.yes | self.no:
            self.rest = base
        self.polarity = not base
        self.excepting = True

    def _name(self, role: Role, items: frozenset[int]) -> None:
        negated, self.excepting = self.negated, False
        if negated:  # "not the second"
            self._say(True)
        yes = self.polarity is not False
        self.unclear |= self.last is Role.NO and self.broken  # "no, the second" may mean either
        if role in (Role.ITEMS, Role.WORD):
            self.by_word |= role is Role.WORD
            (self.yes if yes else self.no).update(items)
            return
        self.unclear |= negated and role in (Role.ALL, Role.BOTH)  # "not all"
        self.unclear |= yes and role is Role.ANY
        if role is Role.BOTH and self.last is not Role.NONE:  # "neither of both"
            one = self.count == 1 and bool(self.said)  # "yes to both" is also a yes to one
            self.unclear |= self.count != 2 and not one
        self.others |= role is Role.REST
        self.rest = yes

    def decide(self) -> Decision | None:
        if self.negated:  # "rather not"
            if self.certainly:
                self.said.discard(True)
            self._say(True)
        named = bool(self.yes | self.no)
        if self.by_word and (self.dropped or not (self.said or self.only or self.rest is not None)):
            return None  # a statement about it, or something to be forgotten
        contradicts = len(self.said) > 1 and not named
        if (
            self.unclear
            or self.excepting
            or contradicts
            or (self.others and not named and not self.left)
        ):
            return UNCLEAR
        everything = frozenset(range(self.count))
        if not named and self.rest is None:
            return _bare(everything, self.said, self.weak)
        if self.only and self.yes and self.rest is None:
            self.rest = False
        if self.rest is not None:
            (self.yes if self.rest else self.no).update(everything - self.yes - self.no)
        if self.yes & self.no:
            return UNCLEAR
        return Decision(yes=frozenset(self.yes), no=frozenset(self.no), certain=bool(self.said))


def _bare(everything: frozenset[int], said: set[bool], weak: bool) -> Decision | None:
    if not said and not weak:
        return None
    if said == {False}:
        return Decision(no=everything, bare=True, certain=True)
    return Decision(yes=everything, bare=True, certain=bool(said))
