"""Put the words of a message that state a fact into a sentence in the third person.

The trained reader finds the words; the sentence is made of nothing but them, the speaker's name and a verb. Where no
sentence can be made, the words are kept as a quotation: "Nora said: chemo tuesdays".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from tacit.learning.extraction.locale import Locale
from tacit.learning.extraction.mentions import (
    make_mention,
    make_possessive,
    mark_dates,
    read_subject,
    replace_speaker,
    spell_dates,
)
from tacit.learning.extraction.sentences import replace_inner_speaker, to_singular_verb, to_third_person
from tacit.learning.facts import Mention
from tacit.learning.verification import check_form

_SPACES = re.compile(r"\s+")
_EDGES = " ,;:-–—.!…*"
# What a clause may open or close with and that is no part of the fact.
_LEAD = re.compile(
    r"^(?:(?:and|but|so|also|oh|well|yeah|ok|okay|hi|hey|hello|btw|by the way|fyi|ps|anyway|plus|because|cause|cos|cuz|"
    r"coz|actually|honestly|tbh|ngl|just|please|pls|(?:please )?(?:remember|note) that|which means|turns out|"
    r"for the record)\b[\s,:]*|(?:no|nah|yes|yep|update|remember|note)\s*[,:.]\s*)+(?=\S)",
    re.IGNORECASE,
)
_TRAIL = re.compile(
    r"[\s,]+(?:btw|by the way|fyi|lol|lmao|haha+|tho|though|tbh|ngl|thanks|thx|please|pls|you know|if that helps|"
    r"just so you know|for the record)$",
    re.IGNORECASE,
)
_CONTRACTIONS = tuple(
    (re.compile(rf"(?<![\w']){short}(?![\w'])", re.IGNORECASE), full)
    for short, full in (
        (r"i['’]?m", "I am"),
        (r"(?:i['’]ve|ive)", "I have"),
        (r"i['’]ll", "I will"),
        (r"i['’]d", "I would"),
        (r"we['’]re", "we are"),
        (r"(?:we['’]ve|weve)", "we have"),
        (r"we['’]ll", "we will"),
        (
            r"(he|she|it)['’]s(?= (?:been|got|had|gone|become|moved|started|left|taken|quit|lost|sold|bought)\b)",
            r"\1 has",
        ),
        (r"(?:can['’]?t)", "cannot"),
        (r"(?:won['’]t)", "will not"),
        (r"(do|does|did|is|are|was|has|have|had|could|should|would)n['’]?t", r"\1 not"),
        (r"(they|you)['’]?re", r"\1 are"),
        (r"(he|she|that|there|it)['’]s", r"\1 is"),
        (r"(s?he)s", r"\1 is"),
        (r"gonna", "going to"),
        (r"wanna", "want to"),
        (r"w/", "with"),
        (r"u", "you"),
    )
)
_SELF = re.compile(r"^(?:i|we|me and (?:my \w+|\w+)|both of us)\s+", re.IGNORECASE)
_PRONOUN = re.compile(r"^(?:he|she|they)\s+", re.IGNORECASE)
_THEIRS = re.compile(r"^(?:his|her|their)\s+", re.IGNORECASE)
_MINE = re.compile(r"^(?:my|our)\s+", re.IGNORECASE)
_VAGUE = re.compile(
    r"^(?:he|she|they|him|them|it|who|someone|somebody|everyone|everybody|people|"
    r"(?:an?|some|the|another|this|that|her|his|their|one|two|three|all|both|every|each)\b.*)$",
    re.IGNORECASE,
)
_BEING = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|will|can|cannot|does|did|do|wants?|needs?|gets?|got)\b", re.IGNORECASE
)
_WAS_AUX = re.compile(r"^were\s+", re.IGNORECASE)
_VERBS = frozenset(
    (
        "am",
        "are",
        "is",
        "have",
        "had",
        "has",
        "got",
        "cannot",
        "can",
        "do",
        "does",
        "did",
        "was",
        "will",
        "would",
        "need",
    )
)
_AFTER_SUBJECT = frozenset(["is", "are", "was", "were", "has", "have", "had", "will", "can", "cannot", "does", "did"])
_ASKED = re.compile(r"^(?:(?:can|could|would|will) you|you (?:should|must|can)|i want you to)\s+", re.IGNORECASE)
_NAME_MAX_WORDS = 3
_NAME = re.compile(r"[^\W\d_][\w.'-]{0,30}(?: [^\W\d_][\w.'-]{0,30})*")
_SHORT_MAX_WORDS = 4  # a sentence of as many says little without the question that it answers
_LETTER = re.compile(r"[^\W\d_]")
# What a fragment without subject and verb may open with: "allergic to nuts", "on insulin", "from Cork".
_STATE = re.compile(
    r"^(?:on|in|at|from|into|of|with|without|off|under|allergic|vegan|vegetarian|pregnant|married|divorced|single|"
    r"engaged|widowed|retired|diabetic|asthmatic|coeliac|celiac|lactose|intolerant|unemployed|based|born|used|afraid|"
    r"scared|bad at|good at|fluent|gluten|colou?r ?blind|deaf|blind|left-handed|right-handed|\d+|not|never|always|"
    r"currently|still|now|\w+(?:ed|ing))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordedFact:
    """A sentence about somebody, and whom it is about besides the speaker."""

    content: str
    about_speaker: bool
    about: tuple[Mention, ...]
    observed_at: datetime | None
    quoted: bool  # no sentence could be made of the words, which are kept as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanToWord:
    """Words that state a fact, with what the reader takes them for."""

    words: str
    sentence: str  # in which they stand
    asked: str  # the question that the sentence answers; "" where there is none
    about: str  # "me", "us", "group", "other" or "thing"
    who: str | None  # the words that name the other person
    own: bool  # a subject that the words leave out is the speaker
    order: bool  # it tells the assistant how to behave
    task: bool  # it is something to be done


def word_fact(span: SpanToWord, speaker: str, said_at: datetime, locale: Locale) -> WordedFact:
    """Put words into a sentence in the third person."""
    text = _plain(span.words)
    past = locale.has("past", text) and not locale.has("to_come", text)
    marked, whens = mark_dates(text, said_at, locale, past=past)
    about = _mentions(span, speaker, locale)
    made: str | None
    if span.order:
        made = _order(marked, speaker, locale)
    elif span.about == "other":
        made = _of_another(marked, span, about, speaker, locale)
    elif span.about in ("me", "us"):
        made = _of_speaker(marked, span, speaker, locale)
    else:
        made = _of_thing(marked, speaker, locale)
    content = ""
    if made is not None:
        content = _SPACES.sub(" ", spell_dates(made, whens, as_said=False)).strip(_EDGES)
        content = content[:1].upper() + content[1:]
    quoted = not content or check_form(content, speaker, locale) is not None
    if quoted:
        content = _quoted(span, speaker, said_at, locale)
    return WordedFact(
        content=content,
        about_speaker=span.about in ("me", "us")
        or _SELF.match(text) is not None
        or (span.about == "thing" and _MINE.match(text) is not None),
        about=about,
        observed_at=next((when.at for when in whens if when.at), None),
        quoted=quoted,
    )


def _quoted(span: SpanToWord, speaker: str, said_at: datetime, locale: Locale) -> str:
    """The sentence as it was typed, with its dates written out, and with the question that a short one answers."""
    marked, whens = mark_dates(_SPACES.sub(" ", span.sentence).strip(_EDGES), said_at, locale, past=False)
    said = spell_dates(marked, whens, as_said=False)
    if span.asked and len(said.split()) <= _SHORT_MAX_WORDS:
        return f"{speaker} said: {said} (asked: {span.asked})"
    return f"{speaker} said: {said}"


def _plain(words: str) -> str:
    text = _SPACES.sub(" ", words.replace("’", "'")).strip(_EDGES)
    while True:
        cut = _TRAIL.sub("", _LEAD.sub("", text)).strip(_EDGES)
        if cut == text or not cut:
            break
        text = cut
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    return text


def _order(text: str, speaker: str, locale: Locale) -> str:
    """What the assistant is to do, as the wish of whoever said it."""
    match = _SELF.match(text)
    if match is not None:
        return _acts(speaker, text[match.end() :], speaker, locale)
    said = _ASKED.sub("", text)
    return f"{speaker} asks the assistant: {_inside(said[:1].lower() + said[1:], speaker, locale)}"


def _of_speaker(text: str, span: SpanToWord, speaker: str, locale: Locale) -> str | None:
    text = _WAS_AUX.sub("we are ", text) if _WAS_AUX.match(text) else text
    match = _SELF.match(text)
    if match is not None:
        return _acts(speaker, text[match.end() :], speaker, locale)
    match = _MINE.match(text)
    if match is not None:
        return f"{make_possessive(speaker, locale)} {_inside(text[match.end() :], speaker, locale)}"
    first, _, rest = text.lower().partition(" ")
    second = rest.split(" ", 1)[0]
    if first in locale.words["kin"]:
        return f"{make_possessive(speaker, locale)} {_inside(_lower(text), speaker, locale)}"
    if not span.own:
        return None
    if first in _VERBS or _opens_with_verb(first, second, locale):
        lowered = _inside(_lower(text), speaker, locale)
        if span.task and first not in _VERBS and _tagged(first, locale, ":bare"):
            return f"{speaker} has to {lowered}"
        return _acts(speaker, lowered, speaker, locale)
    if _STATE.match(text) and not _BEING.search(text):
        return f"{speaker} is {_inside(_lower(text), speaker, locale)}"
    inner = _inside(text, speaker, locale)
    return inner if speaker in inner else None  # "it rents out my flat" says whose it is


def _acts(who: str, predicate: str, speaker: str, locale: Locale) -> str:
    """A predicate of the first person as that of a person with a name: "are going" becomes "is going"."""
    said = _inside(predicate, speaker, locale)
    if said.split(" ", 1)[0].lower().endswith("ing"):
        return f"{who} is {said}"
    return f"{who} {to_third_person(said, locale)}"


def _opens_with_verb(first: str, second: str, locale: Locale) -> bool:
    if second in _AFTER_SUBJECT or not second:
        return False  # "farm is on my head now"
    return _tagged(first, locale, ":past", ":bare", ":now", ":going")


def _tagged(word: str, locale: Locale, *endings: str) -> bool:
    return any(tag.endswith(endings) for tag in locale.frames.get(word, frozenset()))


def _of_another(text: str, span: SpanToWord, about: tuple[Mention, ...], speaker: str, locale: Locale) -> str | None:
    match = _PRONOUN.match(text)
    called = _called(span, about, speaker, locale)
    if match is not None:
        said = _inside(text[match.end() :], speaker, locale)
        plural = text[: match.end()].strip().lower() == "they"
        return f"{called} {to_singular_verb(said, locale) if plural else said}" if called else None
    match = _THEIRS.match(text)
    if match is not None:
        return f"{make_possessive(called, locale)} {_inside(text[match.end() :], speaker, locale)}" if called else None
    parsed = read_subject(text, speaker, locale, None)
    if parsed is not None and not parsed[0].speaks:
        found, rest = parsed
        rest = _inside(rest, speaker, locale)
        if found.owns:
            return f"{make_possessive(found.words, locale)} {rest}"
        return f"{found.words} {to_singular_verb(rest, locale) if found.plural else rest}"
    rest = _inside(text, speaker, locale)
    if span.who and span.who.casefold() in text.casefold() and text.split(" ", 1)[0].lower() not in locale.words["kin"]:
        return rest
    match = _SELF.match(text)
    if match is not None:
        return _acts(speaker, text[match.end() :], speaker, locale)
    first, _, more = text.lower().partition(" ")
    if first in locale.words["kin"]:
        return f"{make_possessive(speaker, locale)} {_lower(rest)}"
    if span.who is None or span.who not in span.sentence:
        return None
    if called and (first in _VERBS or _opens_with_verb(first, more.split(" ", 1)[0], locale)):
        return f"{called} {_lower(rest)}"
    if called and _STATE.match(text) and not _BEING.search(text):
        return f"{called} is {_lower(rest)}"
    return None


def _of_thing(text: str, speaker: str, locale: Locale) -> str | None:
    match = _SELF.match(text)
    if match is not None:
        return _acts(speaker, text[match.end() :], speaker, locale)
    words = text.lower().split()
    told = _BEING.search(text) or any(_tagged(word, locale, ":past", ":now", ":bare") for word in words[1:])
    return _inside(text, speaker, locale) if told else None


def _called(span: SpanToWord, about: tuple[Mention, ...], speaker: str, locale: Locale) -> str:
    """How a sentence names the person: "Lia", "Nora's sister Ana"."""
    if not span.who:
        return ""
    if _MINE.match(span.who):
        return f"{make_possessive(speaker, locale)} {_MINE.sub('', span.who)}"
    return about[0].name or about[0].text if about else span.who


def _mentions(span: SpanToWord, speaker: str, locale: Locale) -> tuple[Mention, ...]:
    """Whom the words are about, as people are stored."""
    if span.about != "other" or not span.who or _VAGUE.match(span.who):
        return ()
    who = _SPACES.sub(" ", span.who.replace("’", "'")).strip(_EDGES).removesuffix("'s")
    parsed = read_subject(f"{who} is", speaker, locale, None)
    if parsed is not None and parsed[0].mentions:
        return parsed[0].mentions
    if _MINE.match(who):
        relation = _MINE.sub("", who).lower()
        if not _NAME.fullmatch(relation) or len(relation.split()) > _NAME_MAX_WORDS:
            return ()
        return (Mention(text=who, name=None, relation=relation, username=None),)
    if len(who.split()) > _NAME_MAX_WORDS or not _NAME.fullmatch(who):
        return ()
    return (make_mention(who, None, who if who[:1].isupper() else who.title()),)


def _inside(text: str, speaker: str, locale: Locale) -> str:
    """The speaker inside a sentence, as their name."""
    return replace_speaker(replace_inner_speaker(text, speaker, locale), speaker, locale)


def _lower(text: str) -> str:
    first = text.split(" ", 1)[0]
    return text if first[1:] != first[1:].lower() else text[:1].lower() + text[1:]
