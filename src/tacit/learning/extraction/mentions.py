"""Find the subject of a clause and the people it mentions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tacit.learning.extraction.locale import KinTerm, Locale
from tacit.learning.facts import Mention

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
        word in locale.words[group]
        for group in ("not_names", "places", "small", "months", "weekdays", "kin", "famous")
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
        ClauseSubject(who="kin", words=words, mentions=(someone,), plural=known.plural, kin=known),
        after,
        locale,
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


def _joined(
    found: ClauseSubject, rest: str, speaker: str, locale: Locale
) -> tuple[ClauseSubject, str] | None:
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
        return replace(found, words=words, plural=True, kin=None, through=True), rest[
            kin.end() :
        ].lstrip()
    name, after = _leading_name(rest, locale)
    if name is None or locale.patterns["possessed_start"].match(after):
        return None
    other = make_mention(name, None, name)
    words = both.format(one=found.words, other=other.name or name)
    return (
        replace(found, words=words, mentions=(*found.mentions, other), plural=True, kin=None),
        after.lstrip(),
    )


def _by_pronoun(
    text: str, locale: Locale, last: ClauseSubject | None
) -> tuple[ClauseSubject, str] | None:
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
