"""Parse a person's reply to a numbered list: yes, no, all, only the first, 1 and 3."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from tacit.unicode import normalize_unicode


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# The words of a reply in English and German, each with its one role.


class TokenRole(Enum):
    YES = auto()
    NO = auto()
    WEAK_YES = auto()  # a yes if the reply has no other yes or no: "ok", "please"
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
    FILLER = auto()  # without meaning of its own: "the", "of them"
    THANKS = auto()
    MOOD = auto()  # decides nothing without a yes or no: "nice", "lol"
    # Not in the table: assigned to combinations of tokens.
    ITEMS = auto()
    WORD = auto()  # of one item
    VAGUE = auto()  # it could mean several items


TOKEN_ROLES: Mapping[str, TokenRole] = {
    word: role
    for role, words in {
        TokenRole.YES: "yes yep yeah yup yea yah ya ye aye y mhm affirmative sure surely absolutely "
        "definitely certainly totally ofc approved confirmed accepted exactly correct "
        "indeed agreed ja jo jep jup jap joa jawohl klar gerne gern natürlich "
        "sicher genau stimmt richtig einverstanden unbedingt",
        TokenRole.NO: "no nope nah nay naw n negative never wrong incorrect falsch denied rejected "
        "nein nee nö niemals",
        TokenRole.WEAK_YES: "ok okay okey k kk alright fine do please pls plz bitte passt mach",
        TokenRole.NOT: "not don't dont can't cannot shouldn't won't nicht",
        TokenRole.KEEP: "keep save store remember note memorize retain add accept approve confirm "
        "take behalt behalte behalten merk merke merken speicher speichere speichern "
        "notier notiere",
        TokenRole.DROP: "forget skip drop ignore discard delete erase remove dismiss reject decline "
        "cancel leave vergiss vergessen lass lösch lösche löschen verwirf ignorier ignoriere",
        TokenRole.ALL: "all everything each every alle alles allen",
        TokenRole.BOTH: "both beide beides beiden",
        TokenRole.ANY: "any anything",
        TokenRole.NONE: "none neither nothing keine keins keines keinen keiner nichts nix weder",
        TokenRole.FIRST: "first former erste ersten erster erstes",
        TokenRole.LAST: "last latter latest letzte letzten letzter letztes",
        TokenRole.REST: "rest other others remaining andere anderen anderes restlichen übrigen",
        TokenRole.ONLY: "only just nur bloss lediglich",
        TokenRole.EXCEPT: "but except excluding besides without aber ausser ohne",
        TokenRole.RANGE: "- – through thru bis",
        TokenRole.BREAK: ", ; . ! /",
        TokenRole.FILLER: "the a an of to for and und & + plus also too auch them em those these this "
        "that it its so then davon number numbers nr nummer # item items ones thing "
        "things fact facts der die das den dem des es sie dir really rather lieber doch dann very "
        "much noch gar eher single above : mal zu von für",
        TokenRole.THANKS: "thanks thx ty danke dankeschön",
        TokenRole.MOOD: "great cool good nice perfect super prima toll well oh ah um hm hell lol haha",
    }.items()
    for word in words.split()
}
NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ITEM_NUMBERS: Mapping[str, int] = {
    word: number
    for number, words in enumerate(
        (
            "one eins",
            "two second zwei zweite zweiten zweites",
            "three third drei dritte dritten drittes",
            "four fourth vier vierte vierten viertes",
            "five fifth fünf fünfte fünften fünftes",
            *NUMBER_WORDS[5:],
        ),
        start=1,
    )
    for word in words.split()
}
# Roles of their own in a reply to the question what to forget: there "delete" is a yes and "keep" a
# no.
FORGET_ROLES: Mapping[str, TokenRole] = {
    word: role
    for role, words in {
        TokenRole.KEEP: "forget drop discard delete erase remove vergiss vergessen lösch lösche löschen "
        "verwirf",
        TokenRole.YES: "accept approve confirm",
        TokenRole.DROP: "keep save store remember note memorize retain add take behalt behalte behalten "
        "merk merke merken speicher speichere speichern notier notiere",
    }.items()
    for word in words.split()
}
# What stands for several words that would mean something else, or nothing, one by one.
IDIOMS: Mapping[str, str] = {
    phrase.strip(): meaning
    for meaning, phrases in {
        "yes": "👍; 👌; ✅; why not; of course; please do; go ahead; go for it; feel free; "
        "think so; i think so; sounds good; sounds great; i'd like that; i would like that; "
        "i'd love that; don't mind; i don't mind; by all means; i do; that's right; that is right; "
        "that's correct; yes right; yes it is; yes they are; na klar; auf jeden fall",
        "no": "👎; ❌; don't think so; i don't think so; not at all; no way; no need; never mind; "
        "not necessary; that's wrong; that is wrong; you can't; you may not; better not; "
        "besser nicht; nicht nötig; auf keinen fall",
        "don't": "do not; i don't; i do not; don't want; i don't want; i do not want; "
        "don't want to; i don't want to; i do not want to; i don't want you to; "
        "no need to; i'd rather not; i would rather not",
        "except": "apart from; bis auf",
        "all": "every one of; each one of",
        "any": "one of; 1 of; eins von",  # and which is not said
        "thanks": "thank you; vielen dank; danke schön; danke dir",
        "ok": "all right",
        # Who asks for it politely, and nothing of what is asked for.
        "the": "can you; could you; would you; you can; you could; you should; you may; i want; "
        "i want to; i want you to; i'd like; i'd like to; i'd like you to; i would like; "
        "i would like to; for me; as well; kannst du; könntest du; du kannst; du darfst; ich will; "
        "ich möchte; für mich",
        # Some say yes with it, and some no.
        "?": "no problem; no idea; no need for",
    }.items()
    for phrase in phrases.split(";")
}
_CLOSING_WORDS = (
    "good",
    "fine",
    "ok",
    "okay",
    "k",
    "set",
    "done",
    "clear",
    "cool",
    "well",
    "klar",
    "gut",
)
_THANKS_WORDS = ("thanks", "thank you", "thx", "ty", "danke")
_EVERYONE_WORDS = ("all", "both", "two", "alle", "euch")
# What people say when they are done, thank or doubt, and not as an answer to a list. A reply that
# holds the words of one of these in a row decides nothing, whatever else it says.
NOT_ANSWERS = tuple(
    tuple(phrase.split())
    for phrase in (
        *(f"{every} {how}" for every in ("all", "everything", "alles") for how in _CLOSING_WORDS),
        *(f"{thanks} {whom}" for thanks in _THANKS_WORDS for whom in _EVERYONE_WORDS),
        "that's all",
        "that is all",
        "that all",
        "that's it",
        "that's everything",
        "das ist alles",
        "above all",
        "first of all",
        "first things first",
        "yeah right",
        "yea right",
        "yeah yeah",
        "ja ja",
        "jaja",
        "all right then",
        "alright then",
        "nothing to add",
        "nothing much",
        "not much",
        "noch nicht",
        "no one",
        "keep well",
        "one thing",
        "two things",
        "2 things",
        "three things",
        "3 things",
        "a second",
        "one second",
    )
)


# The parser. It normalizes a reply and gives each token one role. A reply with a token that has no
# role is not an answer; nor is one that ends a conversation ("that's all, thanks").

_REPLY_MAX_CHARS = 200
_IDIOM_SPACE = r"[\s,]+"  # also "yes, it is"
_IDIOM = re.compile(
    "|".join(
        rf"(?<!\w){_IDIOM_SPACE.join(map(re.escape, one.split()))}(?!['\w])"
        for one in sorted(IDIOMS, key=len, reverse=True)
    )
)
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
    plain = _fold_text(text)
    if _is_no_answer(_TOKEN.findall(plain)):
        return None
    normal = _ORDINAL_ENDING.sub("", _IDIOM.sub(_replace_idiom, plain))
    tokens = [_correct_spelling(one) for one in _TOKEN.findall(normal)]
    symbols = _assign_roles(tokens, items, FORGET_ROLES if forgets else {})
    if symbols is not None:
        wipes = (
            not forgets
            and not _EVERYTHING.isdisjoint(tokens)
            and TOKEN_ROLES.get(tokens[0]) is TokenRole.DROP
        )
        return None if wipes else _decide_reply(symbols, len(items), left=left)
    first = _NO_AND_MORE.match(normal)
    if first is not None and TOKEN_ROLES.get(_correct_spelling(first[1])) is TokenRole.NO:
        return ReplyDecision(
            no=frozenset(range(len(items))), bare=True, certain=True, says_more=True
        )
    return None


def _fold_text(text: str) -> str:
    folded = normalize_unicode("NFKC", text).casefold().replace("’", "'")
    return re.sub(r"([^\W\d_])\1{2,}", r"\1", folded)  # "yesss"


def _replace_idiom(found: re.Match[str]) -> str:
    return f" {IDIOMS[' '.join(found[0].replace(',', ' ').split())]} "


def _is_no_answer(tokens: Sequence[str]) -> bool:
    words = [one for one in tokens if one[0].isalnum()]
    return any(
        tuple(words[n : n + len(phrase)]) == phrase
        for phrase in NOT_ANSWERS
        for n in range(len(words) - len(phrase) + 1)
    )


def _correct_spelling(token: str) -> str:
    """Reduce doubled letters if that gives a known word: "yess" is "yes"."""
    single = re.sub(r"(\w)\1", r"\1", token)
    return single if token not in TOKEN_ROLES and single in TOKEN_ROLES else token


_Symbol = tuple[TokenRole, frozenset[int]]


def _assign_roles(
    tokens: Sequence[str], items: Sequence[frozenset[str]], other_roles: Mapping[str, TokenRole]
) -> list[_Symbol] | None:
    """Return the roles of the tokens with the items they name; None if a token has no role."""
    found: list[_Symbol] = []
    for n, token in enumerate(tokens):
        before = tokens[n - 1] if n else ""
        role = other_roles.get(token, TOKEN_ROLES.get(token))
        if token.isdecimal() or token in ITEM_NUMBERS:
            found.append(_number_symbol(token, before, found, len(items)))
        elif role is TokenRole.FIRST:
            found.append((TokenRole.ITEMS, frozenset({0})))
        elif role is TokenRole.LAST:
            found.append((TokenRole.ITEMS, frozenset({len(items) - 1})))
        elif role is not None:
            found.append((role, frozenset()))
        else:
            named = frozenset(i for i, one in enumerate(items) if token.removesuffix("s") in one)
            if not named:
                return None
            found.append((TokenRole.WORD if len(named) == 1 else TokenRole.VAGUE, named))
    return list(_merge_symbols(found, tokens, len(items)))


def _number_symbol(token: str, before: str, found: Sequence[_Symbol], count: int) -> _Symbol:
    """Treat a number as an item, except in "all three", "the two" and "the second one"."""
    number = int(token) if len(token) < 4 and token.isdecimal() else ITEM_NUMBERS.get(token, 0)
    previous = found[-1][0] if found else None
    if token == "one":
        if previous in (
            TokenRole.ITEMS,
            TokenRole.REST,
            TokenRole.WORD,
            TokenRole.VAGUE,
            TokenRole.ALL,
        ):
            return TokenRole.FILLER, frozenset()
        if previous is TokenRole.ONLY or before in ("the", "this", "that"):
            return TokenRole.FILLER if count == 1 else TokenRole.VAGUE, frozenset()
    elif token in NUMBER_WORDS and before in ("the", "these", "those"):
        return TokenRole.ALL if number == count else TokenRole.VAGUE, frozenset()
    if previous is TokenRole.ALL:
        return TokenRole.FILLER if number == count else TokenRole.VAGUE, frozenset()
    if not 0 < number <= count:
        return TokenRole.VAGUE, frozenset()
    return TokenRole.ITEMS, frozenset({number - 1})


def _merge_symbols(symbols: list[_Symbol], tokens: Sequence[str], count: int) -> Iterator[_Symbol]:
    """Merge "the first two" and "1-3" into one symbol each."""
    n = 0
    while n < len(symbols):
        role, items = symbols[n]
        after = symbols[n + 1] if n + 1 < len(symbols) else (TokenRole.FILLER, frozenset())
        end = symbols[n + 2] if n + 2 < len(symbols) else (TokenRole.FILLER, frozenset())
        edge = TOKEN_ROLES.get(tokens[n])
        if edge in (TokenRole.FIRST, TokenRole.LAST) and after[0] in (
            TokenRole.ITEMS,
            TokenRole.BOTH,
        ):
            many = 2 if after[0] is TokenRole.BOTH else max(after[1]) + 1
            places = range(many) if edge is TokenRole.FIRST else range(count - many, count)
            ok = 1 < many <= count and tokens[n + 1] not in ("second", "third", "fourth", "fifth")
            yield (TokenRole.ITEMS, frozenset(places)) if ok else (TokenRole.VAGUE, frozenset())
            n += 2
        elif (
            role is TokenRole.ITEMS and _is_range(after[0], tokens, n) and end[0] is TokenRole.ITEMS
        ):
            yield TokenRole.ITEMS, frozenset(range(min(items), max(end[1]) + 1))
            n += 3
        else:
            yield role, items
            n += 1


def _is_range(role: TokenRole, tokens: Sequence[str], n: int) -> bool:
    return role is TokenRole.RANGE or (n + 1 < len(tokens) and tokens[n + 1] == "to")


_POLARITY_ROLES = (TokenRole.YES, TokenRole.NO, TokenRole.NOT, TokenRole.KEEP, TokenRole.DROP)
_DECIDING_ROLES = frozenset({*_POLARITY_ROLES, TokenRole.NONE, TokenRole.ONLY})
_GROUP_ROLES = frozenset({TokenRole.ALL, TokenRole.BOTH, TokenRole.ANY, TokenRole.REST})
_TARGET_ROLES = (
    TokenRole.ITEMS,
    TokenRole.WORD,
    TokenRole.ALL,
    TokenRole.BOTH,
    TokenRole.ANY,
    TokenRole.REST,
)


def _decide_reply(symbols: list[_Symbol], count: int, *, left: bool) -> ReplyDecision | None:
    telling = [one for one in symbols if one[0] is not TokenRole.FILLER]
    roles = [role for role, _ in telling if role is not TokenRole.BREAK]
    if _is_small_talk(roles):
        return None
    thanks = TokenRole.THANKS in roles
    telling = [one for one in telling if one[0] not in (TokenRole.THANKS, TokenRole.MOOD)]
    roles = [role for role in roles if role not in (TokenRole.THANKS, TokenRole.MOOD)]
    if thanks and set(roles) == {TokenRole.WEAK_YES}:
        return UNCLEAR  # "ok, thanks" may end the talk
    if roles and roles[0] in _TARGET_ROLES and roles[-1] in _POLARITY_ROLES:
        # "1 yes, 2 no": read backwards, each yes or no stands before what it is about.
        telling = [one for one in reversed(telling) if one[0] is not TokenRole.BREAK]
    clauses = _Clauses(count, left)
    for role, items in telling:
        clauses.take(role, items)
    return clauses.decide()


def _is_small_talk(roles: Sequence[TokenRole]) -> bool:
    """Whether a reply only mentions items: "both are nice", "thanks for everything"."""
    telling = next((n for n, role in enumerate(roles) if role in _DECIDING_ROLES), len(roles))
    if TokenRole.MOOD in roles and telling == len(roles):
        return True
    return any(
        role is TokenRole.THANKS and not _GROUP_ROLES.isdisjoint(roles[n:])
        for n, role in enumerate(roles[:telling])
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
    last: TokenRole | None = None
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

    def take(self, role: TokenRole, items: frozenset[int]) -> None:
        if role is TokenRole.YES:
            self.unclear |= self.negated  # "not sure"
            self._say(True)
        elif role is TokenRole.KEEP:
            if self.rest is not False:  # unlike "nothing to keep"
                self._say(True)
        elif role in (TokenRole.NO, TokenRole.DROP):
            self.dropped |= role is TokenRole.DROP
            self._say(False)
        elif role is TokenRole.NONE:
            self._take_none()
        elif role is TokenRole.NOT:
            self.negated = True
            self.certainly = self.last is TokenRole.YES and not self.broken
        elif role is TokenRole.WEAK_YES:
            self.weak = True
        elif role is TokenRole.ONLY:
            self._take_only()
        elif role is TokenRole.EXCEPT:
            self._take_except()
        elif role is TokenRole.VAGUE:
            self.unclear = True
        elif role in _TARGET_ROLES:
            self._name(role, items)
        if role is TokenRole.BREAK:
            self.broken = True
        else:
            self.last, self.broken = role, False

    def _say(self, polarity: bool) -> None:
        self.polarity = polarity is not self.negated
        self.negated = False
        self.said.add(self.polarity)

    def _take_none(self) -> None:
        if self.last is TokenRole.KEEP:  # "keep none"
            self.said.discard(True)
        self.unclear |= True in self.said
        self.negated = False
        self._say(False)
        self.rest = False

    def _take_only(self) -> None:
        self.unclear |= self.negated
        if self.last in (TokenRole.NO, TokenRole.EXCEPT):  # "no, only the first"
            self.polarity, self.rest = None, None
            self.said.discard(False)
        self.only = True

    def _take_except(self) -> None:
        base = self.polarity is not False
        if self.rest is None and not self.yes | self.no:
            self.rest = base
        self.polarity = not base
        self.excepting = True

    def _name(self, role: TokenRole, items: frozenset[int]) -> None:
        negated, self.excepting = self.negated, False
        if negated:  # "not the second"
            self._say(True)
        yes = self.polarity is not False
        self.unclear |= (
            self.last is TokenRole.NO and self.broken
        )  # "no, the second" may mean either
        if role in (TokenRole.ITEMS, TokenRole.WORD):
            self.by_word |= role is TokenRole.WORD
            (self.yes if yes else self.no).update(items)
            return
        self.unclear |= negated and role in (TokenRole.ALL, TokenRole.BOTH)  # "not all"
        self.unclear |= yes and role is TokenRole.ANY
        if role is TokenRole.BOTH and self.last is not TokenRole.NONE:  # "neither of both"
            one = self.count == 1 and bool(self.said)  # "yes to both" is also a yes to one
            self.unclear |= self.count != 2 and not one
        self.others |= role is TokenRole.REST
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
        if (
            self.unclear
            or self.excepting
            or contradicts
            or (self.others and not named and not self.left)
        ):
            return UNCLEAR
        everything = frozenset(range(self.count))
        if not named and self.rest is None:
            return _bare_decision(everything, self.said, self.weak)
        if self.only and self.yes and self.rest is None:
            self.rest = False
        if self.rest is not None:
            (self.yes if self.rest else self.no).update(everything - self.yes - self.no)
        if self.yes & self.no:
            return UNCLEAR
        return ReplyDecision(
            yes=frozenset(self.yes), no=frozenset(self.no), certain=bool(self.said)
        )


def _bare_decision(everything: frozenset[int], said: set[bool], weak: bool) -> ReplyDecision | None:
    if not said and not weak:
        return None
    if said == {False}:
        return ReplyDecision(no=everything, bare=True, certain=True)
    return ReplyDecision(yes=everything, bare=True, certain=bool(said))
