"""Recognize what people write: yes and no, numbers of a list, questions, requests, and same facts.

The words, in English and German, are in phrases.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, auto
from functools import cache
from importlib import resources

from tacit.records.request import Requester
from tacit.records.results import Recalled
from tacit.text import normalize_unicode


class Token(StrEnum):
    """The role of a token in a reply to a numbered list; phrases.yaml lists the words of each."""

    YES = auto()
    NO = auto()
    WEAK_YES = auto()
    NOT = auto()
    KEEP = auto()
    DROP = auto()
    ALL = auto()
    BOTH = auto()
    ANY = auto()
    NONE = auto()
    FIRST = auto()
    LAST = auto()
    REST = auto()
    ONLY = auto()
    EXCEPT = auto()
    RANGE = auto()
    BREAK = auto()
    FILLER = auto()
    THANKS = auto()
    MOOD = auto()
    # Assigned to combinations of tokens.
    ITEMS = auto()
    WORD = auto()  # of one item
    VAGUE = auto()  # it could mean several items


@dataclass(frozen=True, slots=True)
class Phrases:
    """The content of phrases.yaml."""

    roles: Mapping[str, Token]
    forget_roles: Mapping[str, Token]
    numbers: Mapping[str, int]
    cardinals: frozenset[str]
    idioms: Mapping[str, str]
    idiom: re.Pattern[str]
    not_answers: frozenset[tuple[str, ...]]
    commands: Mapping[str, str]  # by phrase
    small_talk: Mapping[str, frozenset[str]]  # words by reply
    words: Mapping[str, frozenset[str]]  # the other lists by name


_IDIOM_SPACE = r"[\s,]+"  # also "yes, it is"


@cache
def load_phrases() -> Phrases:
    import yaml

    found = yaml.safe_load(resources.files("tacit.bots").joinpath("phrases.yaml").read_text("utf-8"))
    pairs = [[part.split("; ") for part in one] for one in found.pop("not_answer_pairs")]
    closings = [f"{start} {end}" for starts, ends in pairs for start in starts for end in ends]
    closings += found.pop("not_answers").split("; ")
    numbers = [line.split() for line in found.pop("numbers")]
    idioms = _invert(found.pop("idioms"), "; ")
    ways = (
        rf"(?<!\w){_IDIOM_SPACE.join(map(re.escape, one.split()))}(?!['\w])"
        for one in sorted(idioms, key=len, reverse=True)
    )
    return Phrases(
        roles={word: Token(role) for word, role in _invert(found.pop("roles")).items()},
        forget_roles={word: Token(role) for word, role in _invert(found.pop("forget_roles")).items()},
        numbers={word: number for number, words in enumerate(numbers, 1) for word in words},
        cardinals=frozenset(words[0] for words in numbers),
        idioms=idioms,
        idiom=re.compile("|".join(ways)),
        not_answers=frozenset(tuple(one.split()) for one in closings),
        commands=_invert(found.pop("commands"), "; "),
        small_talk={reply: frozenset(words.split()) for reply, words in found.pop("small_talk").items()},
        words={name: frozenset(words.split()) for name, words in found.items()},
    )


def _invert(lists: Mapping[str, str], separator: str | None = None) -> dict[str, str]:
    return {one: name for name, joined in lists.items() for one in joined.split(separator)}


# Replies to a numbered list. A reply is normalized, and each token has one role. A reply with a
# token that has no role is not an answer; nor is one that ends a conversation ("that's all").

_REPLY_MAX_CHARS = 200
_TOKEN = re.compile(r"\d+|[^\W\d_]+(?:'[^\W\d_]+)*|[-–,;.:!?/&#+]")
_ORDINAL_ENDING = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")  # "2nd"
_EVERYTHING = frozenset({"everything", "alles"})  # "forget everything" is not about a list
_NO_AND_MORE = re.compile(r"\s*(\w+)\s*[,.!;:–-]\s*\S")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyDecision:
    """The decision of a reply about the items of a list, by index."""

    yes: frozenset[int] = frozenset()
    no: frozenset[int] = frozenset()
    bare: bool = False  # a yes or no that names no item
    certain: bool = False  # an explicit yes or no, not only "ok" or a number
    says_more: bool = False  # a no, followed by a sentence


UNCLEAR = ReplyDecision()


def parse_decision(
    text: str, items: Sequence[frozenset[str]], *, left: bool = False, forgets: bool = False
) -> ReplyDecision | None:
    """Return the decision of a reply, `UNCLEAR` for an ambiguous answer, and None for other text.

    Each item is given by its distinctive words. `left`: the items are the rest of a longer list,
    so "the others" means these. `forgets`: the question is what to forget, so "delete" is a yes
    and "keep" a no.
    """
    if not items or not text.strip() or len(text) > _REPLY_MAX_CHARS:
        return None
    known = load_phrases()
    folded = normalize_unicode("NFKC", text).casefold().replace("’", "'")
    plain = re.sub(r"([^\W\d_])\1{2,}", r"\1", folded)  # "yesss"
    if _is_no_answer(_TOKEN.findall(plain)):
        return None
    normal = _ORDINAL_ENDING.sub("", known.idiom.sub(_replace_idiom, plain))
    tokens = [_correct_spelling(one) for one in _TOKEN.findall(normal)]
    symbols = _assign_roles(tokens, items, known.forget_roles if forgets else {})
    if symbols is not None:
        wipes = not forgets and not _EVERYTHING.isdisjoint(tokens)
        if wipes and known.roles.get(tokens[0]) is Token.DROP:
            return None
        return _decide_reply(symbols, len(items), left=left)
    first = _NO_AND_MORE.match(normal)
    if first is None or known.roles.get(_correct_spelling(first[1])) is not Token.NO:
        return None
    return ReplyDecision(no=frozenset(range(len(items))), bare=True, certain=True, says_more=True)


def parse_yes_no(text: str) -> bool | None:
    """Return a plain yes or no; None for any other text."""
    found = parse_decision(text, [frozenset()])
    return None if found is None or found == UNCLEAR else bool(found.yes)


def _replace_idiom(found: re.Match[str]) -> str:
    return f" {load_phrases().idioms[' '.join(found[0].replace(',', ' ').split())]} "


def _is_no_answer(tokens: Sequence[str]) -> bool:
    words = [one for one in tokens if one[0].isalnum()]
    return any(
        tuple(words[n : n + len(phrase)]) == phrase
        for phrase in load_phrases().not_answers
        for n in range(len(words) - len(phrase) + 1)
    )


def _correct_spelling(token: str) -> str:
    """Reduce doubled letters if that gives a known word: "yess" is "yes"."""
    single, roles = re.sub(r"(\w)\1", r"\1", token), load_phrases().roles
    return single if token not in roles and single in roles else token


_Symbol = tuple[Token, frozenset[int]]  # a role and the items that it names
_NO_SYMBOL: _Symbol = (Token.FILLER, frozenset())


def _assign_roles(
    tokens: Sequence[str], items: Sequence[frozenset[str]], other_roles: Mapping[str, Token]
) -> list[_Symbol] | None:
    """Return the roles of the tokens with the items they name; None if a token has no role."""
    known, found = load_phrases(), list[_Symbol]()
    for n, token in enumerate(tokens):
        role = other_roles.get(token, known.roles.get(token))
        if token.isdecimal() or token in known.numbers:
            before = tokens[n - 1] if n else ""
            found.append(_number_symbol(token, before, found, len(items)))
        elif role is Token.FIRST:
            found.append((Token.ITEMS, frozenset({0})))
        elif role is Token.LAST:
            found.append((Token.ITEMS, frozenset({len(items) - 1})))
        elif role is not None:
            found.append((role, frozenset()))
        else:
            named = frozenset(i for i, one in enumerate(items) if token.removesuffix("s") in one)
            if not named:
                return None
            found.append((Token.WORD if len(named) == 1 else Token.VAGUE, named))
    return list(_merge_symbols(found, tokens, len(items)))


_NAMING = (Token.ITEMS, Token.REST, Token.WORD, Token.VAGUE, Token.ALL)


def _number_symbol(token: str, before: str, found: Sequence[_Symbol], count: int) -> _Symbol:
    """Treat a number as an item, except in "all three", "the two" and "the second one"."""
    known = load_phrases()
    number = int(token) if len(token) < 4 and token.isdecimal() else known.numbers.get(token, 0)
    previous = found[-1][0] if found else None
    if token == "one":
        if previous in _NAMING:
            return _NO_SYMBOL
        if previous is Token.ONLY or before in ("the", "this", "that"):
            return Token.FILLER if count == 1 else Token.VAGUE, frozenset()
    elif token in known.cardinals and before in ("the", "these", "those"):
        return Token.ALL if number == count else Token.VAGUE, frozenset()
    if previous is Token.ALL:
        return Token.FILLER if number == count else Token.VAGUE, frozenset()
    if not 0 < number <= count:
        return Token.VAGUE, frozenset()
    return Token.ITEMS, frozenset({number - 1})


def _merge_symbols(symbols: list[_Symbol], tokens: Sequence[str], count: int) -> Iterator[_Symbol]:
    """Merge "the first two" and "1-3" into one symbol each."""
    n = 0
    while n < len(symbols):
        (role, items), after, end = [*symbols[n : n + 3], _NO_SYMBOL, _NO_SYMBOL][:3]
        edge = load_phrases().roles.get(tokens[n])
        ranges = after[0] is Token.RANGE or tokens[n + 1 : n + 2] == ["to"]
        if edge in (Token.FIRST, Token.LAST) and after[0] in (Token.ITEMS, Token.BOTH):
            many = 2 if after[0] is Token.BOTH else max(after[1]) + 1
            places = range(many) if edge is Token.FIRST else range(count - many, count)
            ok = 1 < many <= count and tokens[n + 1] not in ("second", "third", "fourth", "fifth")
            yield (Token.ITEMS, frozenset(places)) if ok else (Token.VAGUE, frozenset())
            n += 2
        elif role is Token.ITEMS and ranges and end[0] is Token.ITEMS:
            yield Token.ITEMS, frozenset(range(min(items), max(end[1]) + 1))
            n += 3
        else:
            yield role, items
            n += 1


_POLARITY_ROLES = (Token.YES, Token.NO, Token.NOT, Token.KEEP, Token.DROP)
_DECIDING_ROLES = frozenset({*_POLARITY_ROLES, Token.NONE, Token.ONLY})
_GROUP_ROLES = frozenset({Token.ALL, Token.BOTH, Token.ANY, Token.REST})
_TARGET_ROLES = frozenset({*_GROUP_ROLES, Token.ITEMS, Token.WORD})
_COURTESIES = (Token.THANKS, Token.MOOD)


def _decide_reply(symbols: list[_Symbol], count: int, *, left: bool) -> ReplyDecision | None:
    telling = [one for one in symbols if one[0] is not Token.FILLER]
    roles = [role for role, _ in telling if role is not Token.BREAK]
    if _is_small_talk(roles):
        return None
    thanks = Token.THANKS in roles
    telling = [one for one in telling if one[0] not in _COURTESIES]
    roles = [role for role in roles if role not in _COURTESIES]
    if thanks and set(roles) == {Token.WEAK_YES}:
        return UNCLEAR  # "ok, thanks" may end the talk
    if roles and roles[0] in _TARGET_ROLES and roles[-1] in _POLARITY_ROLES:
        # "1 yes, 2 no": read backwards, each yes or no stands before what it is about.
        telling = [one for one in reversed(telling) if one[0] is not Token.BREAK]
    clauses = _Clauses(count, left)
    for role, items in telling:
        clauses.take(role, items)
    return clauses.decide()


def _is_small_talk(roles: Sequence[Token]) -> bool:
    """Whether a reply only mentions items: "both are nice", "thanks for everything"."""
    telling = next((n for n, role in enumerate(roles) if role in _DECIDING_ROLES), len(roles))
    if Token.MOOD in roles and telling == len(roles):
        return True
    return any(
        role is Token.THANKS and not _GROUP_ROLES.isdisjoint(roles[n:]) for n, role in enumerate(roles[:telling])
    )


@dataclass(slots=True)
class _Clauses:
    """The state of the parser after the tokens so far."""

    count: int
    left: bool
    yes: set[int] = field(default_factory=set)
    no: set[int] = field(default_factory=set)
    rest: bool | None = None  # what holds for the items that are not named
    polarity: bool | None = None  # of what comes next; items named without any are a yes
    said: set[bool] = field(default_factory=set)  # each yes and no
    last: Token | None = None
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

    def take(self, role: Token, items: frozenset[int]) -> None:
        match role:
            case Token.YES:
                self.unclear |= self.negated  # "not sure"
                self._say(True)
            case Token.KEEP if self.rest is not False:  # unlike "nothing to keep"
                self._say(True)
            case Token.NO | Token.DROP:
                self.dropped |= role is Token.DROP
                self._say(False)
            case Token.NONE:
                self._take_none()
            case Token.NOT:
                self.negated = True
                self.certainly = self.last is Token.YES and not self.broken
            case Token.WEAK_YES:
                self.weak = True
            case Token.ONLY:
                self._take_only()
            case Token.EXCEPT:
                self._take_except()
            case Token.VAGUE:
                self.unclear = True
            case _ if role in _TARGET_ROLES:
                self._name(role, items)
        if role is Token.BREAK:
            self.broken = True
        else:
            self.last, self.broken = role, False

    def _say(self, polarity: bool) -> None:
        self.polarity = polarity is not self.negated
        self.negated = False
        self.said.add(self.polarity)

    def _take_none(self) -> None:
        if self.last is Token.KEEP:  # "keep none"
            self.said.discard(True)
        self.unclear |= True in self.said
        self.negated = False
        self._say(False)
        self.rest = False

    def _take_only(self) -> None:
        self.unclear |= self.negated
        if self.last in (Token.NO, Token.EXCEPT):  # "no, only the first"
            self.polarity, self.rest = None, None
            self.said.discard(False)
        self.only = True

    def _take_except(self) -> None:
        base = self.polarity is not False
        if self.rest is None and not self.yes | self.no:
            self.rest = base
        self.polarity = not base
        self.excepting = True

    def _name(self, role: Token, items: frozenset[int]) -> None:
        negated, self.excepting = self.negated, False
        if negated:  # "not the second"
            self._say(True)
        yes = self.polarity is not False
        self.unclear |= self.last is Token.NO and self.broken  # "no, the second" may mean either
        if role in (Token.ITEMS, Token.WORD):
            self.by_word |= role is Token.WORD
            (self.yes if yes else self.no).update(items)
            return
        self.unclear |= negated and role in (Token.ALL, Token.BOTH)  # "not all"
        self.unclear |= yes and role is Token.ANY
        if role is Token.BOTH and self.last is not Token.NONE:  # "neither of both"
            one = self.count == 1 and bool(self.said)  # "yes to both" is also a yes to one
            self.unclear |= self.count != 2 and not one
        self.others |= role is Token.REST
        self.rest = yes

    def decide(self) -> ReplyDecision | None:
        if self.negated:  # "rather not"
            if self.certainly:
                self.said.discard(True)
            self._say(True)
        named = bool(self.yes | self.no)
        if self.by_word and (self.dropped or not (self.said or self.only or self.rest is not None)):
            return None  # a statement about it, or something to be forgotten
        contradicts = len(self.said) > 1 and not named
        unknown_rest = self.others and not named and not self.left
        if self.unclear or self.excepting or contradicts or unknown_rest:
            return UNCLEAR
        everything = frozenset(range(self.count))
        if not named and self.rest is None:
            return self._decide_bare(everything)
        if self.only and self.yes and self.rest is None:
            self.rest = False
        if self.rest is not None:
            (self.yes if self.rest else self.no).update(everything - self.yes - self.no)
        if self.yes & self.no:
            return UNCLEAR
        yes, no = frozenset(self.yes), frozenset(self.no)
        return ReplyDecision(yes=yes, no=no, certain=bool(self.said))

    def _decide_bare(self, everything: frozenset[int]) -> ReplyDecision | None:
        if not self.said and not self.weak:
            return None
        if self.said == {False}:
            return ReplyDecision(no=everything, bare=True, certain=True)
        return ReplyDecision(yes=everything, bare=True, certain=bool(self.said))


# Commands, with a slash or in plain words: "forget my cat", "bitte lösche meine Adresse".

FORGET_COMMAND, EVERYTHING = "forget", "everything"
_COMMAND_WORDS_MAX_COUNT = 15
# A letter must follow the slash, so that "/ 2" is text; "/etc/passwd" does not match either.
_COMMAND = re.compile(r"/([A-Za-z][A-Za-z0-9_]*)(?:\s+(.*))?", re.DOTALL)


def parse_command(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the command and its arguments; None for other text."""
    found = _COMMAND.fullmatch(text.strip())
    return None if found is None else (found[1].lower(), tuple((found[2] or "").split()))


def parse_plain_command(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the command in one plain clause and its arguments; None for any other text."""
    known = load_phrases()
    clause = text.strip().rstrip(".!?").replace("’", "'")
    if clause.lower() in known.commands:
        return known.commands[clause.lower()], ()
    words = [one.strip(",") for one in clause.split()]
    if re.search(r"[.;!?\n]", clause) or len(words) > _COMMAND_WORDS_MAX_COUNT:
        return None
    opening = _count_polite(words)
    words, before = words[opening:], {one.lower() for one in words[:opening]}
    if "i" in before and "you" not in before:
        return None  # "I want to forget my exam"
    words = _without_polite_end(words)
    if words and words[0].lower() in known.words["forget_verbs"]:
        return FORGET_COMMAND, _parse_target(words[1:])
    if before and len(words) > 1 and words[-1].lower() in known.words["forget_verbs_last"]:
        return FORGET_COMMAND, _parse_target(_without_polite_end(words[:-1]))
    return None


def _count_polite(words: list[str]) -> int:
    polite = [one.lower() in load_phrases().words["polite"] for one in words]
    return polite.index(False) if False in polite else len(words)


def _without_polite_end(words: list[str]) -> list[str]:
    return words[: len(words) - _count_polite(words[::-1])]


def _parse_target(words: list[str]) -> tuple[str, ...]:
    """Return what to forget; empty if there is only a pronoun."""
    lists, low = load_phrases().words, [one.lower() for one in words]
    everything = low and low[0] in lists["everything"]
    if everything and set(low[1:]) <= lists["self_words"] | lists["linking"]:
        return (EVERYTHING,)
    if low in (["me"], ["mich"], ["about", "me"]):
        return (EVERYTHING,)
    return () if set(low) <= lists["pronouns"] | lists["linking"] else tuple(words)


# Questions and requests.

_ASKS_TO_KEEP = re.compile(
    r"\b(?:remember|keep (?:that|this|it)|store|note (?:that|this|it)|save|memory|"
    r"merken?|behalten|speichern?|erinnern?)\b",
    re.IGNORECASE,
)
_EXPLICIT_REQUEST = re.compile(
    r"\s*(?:please\s+|bitte\s+)?(?:remember\b(?!\s+(?:when|how|me\b))|don'?t forget\b|note that\b|"
    r"keep in mind\b|from now on\b|merk(?:e)?\s+dir\b|vergiss nicht\b|denk(?:e)? daran\b|"
    r"ab jetzt\b|ab sofort\b)",
    re.IGNORECASE,
)
# "Can you remember that …" is a request, also with a question mark. Without "that" it may be a
# question: "can you remember my sister's name?".
_POLITE_REQUEST = re.compile(
    r"\s*(?:(?:please|hey|hi|ok|okay|so|and|bitte|und)[\s,]+)*"
    r"(?:(?:can|could|would|will) you(?: please| kindly| just| also)*"
    r"\s+(?:remember|keep in mind|note)\b(?: please| for me)*"
    r"|(?P<german>(?:kannst|könntest|würdest) du dir(?: bitte| mal| auch)*\s+merken\b(?: bitte)?))"
    r"(?P<that>[\s,]+(?:that|dass|daß)\b|\s*:)?"
    r"(?![\s,]+(?:when|how|what|where|who|whom|whose|why|which|if|whether|me|us|the time|wann|wie|"
    r"was|wo|wer|warum|ob)\b)(?P<what>[\s,].*\S)",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION_START = re.compile(
    r"\s*(?:what|who|whom|whose|when|where|which|why|how|do|does|did|is|are|was|were|can|could|"
    r"tell me|was|wer|wen|wem|wessen|wann|wo|welche[rsnm]?|warum|wie|weißt|kennst|hast|ist|sind|"
    r"sag mir)\b",
    re.IGNORECASE,
)
_ABOUT_ME = re.compile(r"\b(?:i|me|my|mine|myself|ich|mich|mir|mein\w{0,2})\b", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_WHO_AM_I = (["who", "am", "i"], ["wer", "bin", "ich"])


def answer_small_talk(text: str) -> str | None:
    """Return the reply to small talk; None for other text."""
    words = set(_LETTERS.findall(text.lower()))
    some = load_phrases().small_talk.items()
    return next((reply for reply, known in some if words and words <= known), None)


def asks_to_keep(text: str) -> bool:
    """Whether a text of the agent asks if something should be remembered."""
    return "?" in text and _ASKS_TO_KEEP.search(text) is not None


def asks_to_remember(text: str) -> bool:
    """Whether a text is, or may be, a request to remember: see `is_plain_request`."""
    plainly = _EXPLICIT_REQUEST.match(text) is not None and not text.rstrip().endswith("?")
    return plainly or _POLITE_REQUEST.fullmatch(text.strip()) is not None


def is_plain_request(text: str) -> bool:
    """Whether a request to remember cannot also be read as a question."""
    polite = _POLITE_REQUEST.fullmatch(text.strip())
    return polite is None or (polite["that"] is not None and not text.rstrip().endswith("?"))


def as_statement(text: str) -> str:
    """Rewrite a polite request as a plain one that the rules learn: "remember that …"."""
    polite = _POLITE_REQUEST.fullmatch(text.strip())
    if polite is None or (polite["that"] is None and polite["german"] is None):
        return text
    what = polite["what"].strip(" ,?")
    if polite["german"] is None:
        return f"remember that {what}"
    return f"merk dir: {what}" if polite["that"] is None else f"merk dir, dass {what}"


def is_about_me(text: str) -> bool:
    return _ABOUT_ME.search(text) is not None


def asks_about_all(text: str) -> bool:
    """Whether a text asks for all memories, so that no word of it is a search term."""
    said = _LETTERS.findall(text.lower().replace("’", "'"))
    if said in _WHO_AM_I:
        return True
    lists, words = load_phrases().words, frozenset(said)
    request, memory = lists["request_words"], lists["memory_words"]
    asks = text.rstrip().endswith("?") or not request.isdisjoint(said[:3])
    only = words <= request | memory | lists["filler_words"]
    return asks and only and not words.isdisjoint(memory)


def is_question(text: str) -> bool:
    plain = text.rstrip()
    return plain.endswith("?") or _QUESTION_START.match(plain) is not None


# Comparison of facts with each other, by their distinctive words, and with a query.

_WORD = re.compile(r"\w+")
_SAME_MIN_SHARE = 0.6  # of the distinctive words


def says_the_same(one: str, other: str, own: Requester | None) -> bool:
    """Whether two sentences share all names and numbers and most other distinctive words."""
    weights = _word_weights(one) | _word_weights(other)
    first, second = distinctive_words(one, own), distinctive_words(other, own)
    if not first or not second or any(weights[word] for word in first ^ second):
        return False
    return len(first & second) >= _SAME_MIN_SHARE * max(len(first), len(second))


def covers_content(said: str, content: str, own: Requester | None) -> bool:
    """Whether a text has most of the distinctive words of a fact and all of its numbers."""
    spoken, told = _word_weights(said).keys(), _word_weights(content).keys()
    numbers = {word for word in told if any(map(str.isdigit, word))}
    telling = distinctive_words(content, own)
    return numbers <= spoken and len(telling & spoken) >= _SAME_MIN_SHARE * max(len(telling), 1)


def mentions_content(said: str, content: str, own: Requester | None) -> bool:
    """Whether a text has any distinctive word of a fact."""
    return not distinctive_words(content, own).isdisjoint(_word_weights(said))


def distinctive_words(content: str, own: Requester | None = None) -> frozenset[str]:
    """Return the words of a fact without stop words, the person's names and a final s."""
    names = _word_weights(f"{own.name or ''} {own.username or ''}").keys() if own else set()
    known = load_phrases().words["stop_words"]
    return frozenset(_word_weights(content).keys() - names - known - {""})


def capitalized_words(content: str) -> set[str]:
    return {word.casefold().removesuffix("s") for word in _WORD.findall(content) if word[0].isupper()}


def _word_weights(text: str) -> dict[str, bool]:
    """Map each word to whether it may be a name (capitalized) or is a number."""
    return {
        word.casefold().removesuffix("s"): word[0].isupper() or any(map(str.isdigit, word))
        for word in _WORD.findall(text)
    }


# Measured with the bundled embedder: paraphrases score 0.41 to 0.45, unrelated memories 0.37 and
# below.
_CLOSE_MEANING = 0.4


def is_relevant(one: Recalled) -> bool:
    """Whether a result shares a word or a person with the query, is about the requester who asks
    about themselves, or is close in meaning. In a small memory the best result may be unrelated."""
    signals = one.signals
    named = signals.words > 0 or signals.person > 0 or signals.own > 0
    return named or signals.meaning >= _CLOSE_MEANING
