"""Verify that a message supports a statement, and classify its kind and sensitivity."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta

from tacit import limits
from tacit.learning.extraction.locale import Lexicon, Locale, guess_locale, load_locale
from tacit.learning.extraction.mentions import RELATIVE_DATES
from tacit.learning.facts import Hold, StatedFact
from tacit.records.memory import CATEGORY_OF_KIND, Kind, Sensitivity

# Whether a statement may be kept, from rules or a model. Its form: one sentence in the third person that
# can stand alone. Its support: the message says it. What has neither is refused for what it lacks.

CONTENT_MAX_CHARS = 280
_CONTENT_MIN_CHARS = 5
_SUPPORTED_MIN_SHARE = 0.65
_STEM_MIN_CHARS = 3
_STEM_CUT_CHARS = 3
_NUMBER = re.compile(r"\d+")
_YEAR = re.compile(r"\b\d{4}\b")
_WORD = re.compile(r"[\w@][\w'@.:+-]*")
_TRIM = ".,:;!?'-+"
_SENTENCE_END = re.compile(r"[.!?](?=\s+[^\W\d_])")
_SENTENCES_MAX_COUNT = 2
_ODD = re.compile(r"[\x00-\x1f\x7f⟦⟧▒\u2028\u2029]")
_SET = re.compile(r"\b\w+(?:/\w+)+")  # they/them: a set of pronouns that is talked about
_OWNED = re.compile(r"['’]s?$")


def verify_statement(statement: StatedFact, text: str, speaker: str, locale: Locale | None = None) -> str | None:
    """The reason for refusing a statement; None where it is fine."""
    locale = locale or load_locale(guess_locale(f"{statement.content} {text}"))
    return check_form(statement.content, speaker, locale) or check_support(statement, text, speaker, locale)


def check_form(content: str, speaker: str, locale: Locale) -> str | None:
    """What is wrong with the sentence itself, whether or not it is so."""
    return _misshapen(content, locale) or _pronoun(content, speaker, locale)


def check_support(statement: StatedFact, text: str, speaker: str, locale: Locale) -> str | None:
    """What of it the message does not say, however it is worded."""
    return _unquoted(statement.quote, text) or _unsaid(statement, text, speaker, locale)


def check_well_formed(content: str, text: str, speaker: str, locale: Locale) -> str | None:
    """The reason for refusing a sentence that draws on a text without repeating it: its form, and
    names and numbers that the text does not have. None where it is fine."""
    return check_form(content, speaker, locale) or _foreign(content, text, speaker, locale)


def _foreign(content: str, text: str, speaker: str, locale: Locale) -> str | None:
    said = {word.casefold() for word in _words(text)}
    said |= {part for word in said for part in re.split(r"[^\w]", word) if part}
    said |= set(_NUMBER.findall(text))
    capitals = locale.texts["names"] == "capital"
    bare = re.sub(r"([.!?]\s+)(\w)", lambda m: m[1] + m[2].lower(), _without(content, speaker))
    for position, word in enumerate(_words(bare)):
        folded = _OWNED.sub("", word.casefold())
        named = capitals and word[:1].isupper() and (position > 0 or not bare.startswith(word))
        numbered = any(char.isdecimal() for char in folded)
        if (named or numbered) and not _backed(folded, said, locale):
            return f"{word!r} is not in what it draws on"
    return None


def _misshapen(content: str, locale: Locale) -> str | None:
    if content != content.strip() or len(content) < _CONTENT_MIN_CHARS:
        return "the content is empty or too short to stand alone"
    if len(content) > CONTENT_MAX_CHARS:
        return f"the content is longer than {CONTENT_MAX_CHARS} characters"
    if _ODD.search(content):
        return "the content is not one line of plain text"
    if content.endswith("?"):
        return "the content is a question"
    if locale.has("unended", content) or content[0] == ")" or content[-1] == "(":
        return "the content breaks off before its end"
    ends = [m for m in _SENTENCE_END.finditer(content) if not _abbreviated(content, m, locale)]
    if len(ends) >= _SENTENCES_MAX_COUNT:
        return f"the content has more than {_SENTENCES_MAX_COUNT} sentences"
    return None


def _abbreviated(content: str, match: re.Match[str], locale: Locale) -> bool:
    before = content[: match.start()].split()
    word = before[-1].casefold() if before else ""
    return word in locale.words["abbreviations"] or len(word) == 1 or word.isdecimal()


def _unquoted(quote: str, text: str) -> str | None:
    if not quote.strip():
        return "no words of the message are quoted"
    if " ".join(quote.split()) not in " ".join(text.split()):
        return "the quote is not in the message"
    return None


def _pronoun(content: str, speaker: str, locale: Locale) -> str | None:
    found = find_pronouns(content, speaker, locale)
    return f"the content has the pronoun {found[0]!r}: name who or what is meant" if found else None


def find_pronouns(content: str, speaker: str, locale: Locale) -> list[str]:
    """The words that leave open who or what is meant."""
    known = locale.words["pronouns"]
    return [
        word
        for word in _words(_SET.sub(" ", _without(content, speaker)))
        # US and IT are no pronouns; I is.
        if not (word.isupper() and len(word) > 1)
        and (word.casefold() in known or word.casefold().split("'")[0] in known)
    ]


def _unsaid(statement: StatedFact, text: str, speaker: str, locale: Locale) -> str | None:
    said = {word.casefold() for word in _words(text)}
    said |= {part for word in said for part in re.split(r"[^\w]", word) if part}
    said |= set(_NUMBER.findall(text)) | _date_words(statement, text, said, locale)
    # What templates add, and verbs whose third person looks unlike the first.
    glue = locale.words["glue"] | set(locale.verbs.irregular.values())
    looked_at = supported = 0
    for position, word in enumerate(_words(_without(statement.content, speaker))):
        folded = _OWNED.sub("", word.casefold())
        backed = _backed(folded, said, locale)
        if folded in locale.words["small"] or (not backed and folded in glue):
            continue
        named = position > 0 and word[:1].isupper() and locale.texts["names"] == "capital"
        if not backed and (named or any(char.isdecimal() for char in folded)):
            return f"{word!r} is not in the message"
        looked_at += 1
        supported += backed
    if looked_at and supported < looked_at * _SUPPORTED_MIN_SHARE:
        return "the message does not say it"
    return None


def _date_words(statement: StatedFact, text: str, said: set[str], locale: Locale) -> set[str]:
    """Words of a date that a message names another way: "next Friday", "Dec 3"."""
    numbers = locale.dates.words["months"]
    months = [month.casefold() for month in locale.dates.months]
    found = {months[int(numbers[word]) - 1] for word in said if word in numbers}
    at = statement.observed_at
    if at:
        found |= {months[at.month - 1], str(at.day), f"{at:%H:%M}", str(at.year)}
    relative = [f for f in locale.dates.forms if f.means in RELATIVE_DATES]
    if sum(len(form.match.findall(text)) for form in relative) > 1:
        # Which of several days is meant, only the maker of the statement can tell.
        return found | {*months, *map(str, range(1, 32)), *_years(statement)}
    return found if _YEAR.search(text) else found | _years(statement)


def _years(statement: StatedFact) -> set[str]:
    at = statement.observed_at
    return {str(at.year + more) for more in (-1, 0, 1)} if at else set()


def _backed(word: str, said: set[str], locale: Locale) -> bool:
    if word in said:
        return True
    numbers = locale.dates.words["numbers"]
    if word.isdecimal():
        return any(str(numbers.get(one)) == word for one in said)
    if any(char.isdecimal() for char in word):
        return False
    stem = word[: max(_STEM_MIN_CHARS, len(word) - _STEM_CUT_CHARS)]
    return any(one.startswith(stem) for one in said)


def _words(text: str) -> list[str]:
    return [word.strip(_TRIM) for word in _WORD.findall(text.replace("’", "'")) if word.strip(_TRIM)]


def _without(content: str, speaker: str) -> str:
    """The content without the speaker's name, which may hold any word."""
    if not speaker.strip():
        return content
    return re.sub(rf"(?<!\w){re.escape(speaker)}(?:['’]?s\b|['’])?(?!\w)", " ", content)


# What a statement is and how far it may travel: kind, category, sensitivity, importance.

# What is said about another person, as long as it is no plain preference, role, relation or date,
# is at least personal: the person did not choose to say it.
_PLAIN_OF_OTHERS = frozenset({Kind.PREFERENCE, Kind.RELATIONSHIP})


def classify_statement(statement: StatedFact, locale: Locale, said_at: datetime | None = None) -> StatedFact:
    """The statement with everything filled that storing it needs. What was given is kept, but
    for the sensitivity, which is never below what the lexicon says. With `said_at`, a dated thing
    that passes fades from its date where that is still to come."""
    kind = statement.kind or _kind(statement, locale)
    topics = _topics(statement, locale)
    return replace(
        statement,
        kind=kind,
        category=statement.category or _category(statement, kind),
        sensitivity=_sensitivity(statement, kind, topics, locale),
        portable=_portable(statement, kind),
        importance=statement.importance or _importance(statement, kind, topics, locale),
        expires_at=statement.expires_at or _expiry(statement, kind, said_at),
    )


def _kind(statement: StatedFact, locale: Locale) -> Kind:
    for kind in (Kind.TASK, Kind.EVENT, Kind.RELATIONSHIP, Kind.PREFERENCE, Kind.IDENTITY):
        if locale.has(f"kind_{kind}", statement.content):
            return kind
    return Kind.KNOWLEDGE


def _category(statement: StatedFact, kind: Kind) -> str:
    if statement.hearsay and kind in (Kind.IDENTITY, Kind.KNOWLEDGE):
        return "person"
    return CATEGORY_OF_KIND[kind]


def _sensitivity(statement: StatedFact, kind: Kind, topics: list[Lexicon], locale: Locale) -> Sensitivity:
    floors = [entry.sensitivity for entry in topics]
    if statement.sensitivity:
        floors.append(statement.sensitivity)
    if statement.withheld_from or statement.hold in (Hold.PRIVATE, Hold.ROOM):
        floors.append(Sensitivity.PERSONAL)  # it is withheld from a person
    if statement.hearsay and not _plain(statement, kind, locale):
        floors.append(Sensitivity.PERSONAL)
    return max(floors, key=lambda one: one.rank, default=Sensitivity.PUBLIC)


def _topics(statement: StatedFact, locale: Locale) -> list[Lexicon]:
    """What a statement touches. That a person works in a clinic says nothing of their health."""
    slot = statement.slot or ""
    at_work = slot.split(":")[0] in locale.words["work_slots"]
    said = f"{statement.content} {slot}"
    return [
        entry
        for entry in locale.lexicon
        if not (at_work and entry.topic in locale.words["work_topics"]) and entry.match.search(said)
    ]


def _plain(statement: StatedFact, kind: Kind, locale: Locale) -> bool:
    """A preference, role, relation or date, stated without judgement."""
    slot = (statement.slot or "").split(":")[0]
    return kind in _PLAIN_OF_OTHERS or slot in locale.words["plain_slots"]


def _portable(statement: StatedFact, kind: Kind) -> bool:
    return kind.lasting and statement.portable is not False


def _importance(statement: StatedFact, kind: Kind, topics: list[Lexicon], locale: Locale) -> int:
    slot = (statement.slot or "").split(":")[0]
    found = locale.importance.get(slot) or locale.importance.get(str(kind), 3)
    for entry in topics:
        found = max(found, locale.importance.get(entry.topic, found))
    raised = found + (1 if statement.explicit else 0) - (1 if statement.hearsay else 0)
    return max(limits.IMPORTANCE_MIN, min(limits.IMPORTANCE_MAX, raised))


def _expiry(statement: StatedFact, kind: Kind, said_at: datetime | None) -> datetime | None:
    days = limits.KIND_TTL_DAYS.get(str(kind))
    if days is None or said_at is None or statement.observed_at is None:
        return None
    try:
        return max(said_at, statement.observed_at) + timedelta(days=days)
    except OverflowError:
        return None
