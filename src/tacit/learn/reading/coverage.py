"""No half of a health or diet statement is lost: where one conjunct of a sentence is in no fact,
the conjuncts around it are kept whole, in the third person, in place of the half that was read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tacit.learn.classify import classify
from tacit.learn.facts import Mention, Statement
from tacit.learn.reading.mentions import Subject, kin_of, mention, subject, turned
from tacit.learn.reading.person import opens_with_verb, third, within
from tacit.learn.reading.readings import read, stripped, written_out
from tacit.learn.reading.sentences import BLANK, Piece
from tacit.learn.reading.setting import Setting
from tacit.learn.reading.tongue import Tongue
from tacit.learn.reading.when import mark, spelled
from tacit.learn.verify import verify
from tacit.records.memory import Kind, Sensitivity

_WORD = re.compile(r"[^\W\d_][\w'-]*")
_PLAIN = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*")
_MARK = re.compile(r"⟦[dt]\d⟧")
_STEM_MIN_CHARS, _STEM_CUT_CHARS = 3, 3
_HALF_MIN_SHARE = 0.6  # of a fact's words, in the conjuncts that are kept whole
_CONJUNCT_MAX_COUNT = 6
_ELLIPSIS_MAX_COUNT = 3  # words of a predicate that leans on the one before it
_JOINT_MAX_COUNT = 3  # words between two clauses that follow each other
_WORDS_MAX_COUNT = 30  # of a clause that is kept whole


@dataclass(frozen=True, slots=True, kw_only=True)
class _Conjunct:
    start: int  # in the message
    end: int
    text: str  # with its typing habits written out
    words: frozenset[str]  # that say something


def complete(
    text: str, pieces: Sequence[Piece], found: list[Statement], setting: Setting
) -> list[Statement]:
    """The facts of a sentence, with a whole clause in place of a fact that leaves a part out."""
    conjuncts = _conjuncts(text, pieces, setting)
    if not 1 < len(conjuncts) <= _CONJUNCT_MAX_COUNT:
        return found
    tongue = setting.locale
    if not found:
        whole = _unread(text, conjuncts, setting)
        return [whole] if whole else []
    found = [one for one in found if not tongue.has("garbled", one.content)]
    said = {one.content: _words(one.content, setting) for one in found}
    own = [said[one.content] for one in found if one.about_speaker]
    missing = [
        n
        for n, one in enumerate(conjuncts)
        if _missing(one, own if _speaks(one, setting) else [*said.values()], setting)
        and _belongs(n, conjuncts, setting)
    ]
    lost = any(_touches(conjuncts[n].text, tongue) for n in missing)
    if not lost and not any(bodily(one, tongue) for one in found):
        return found
    first = 0
    while missing[first:]:
        at = missing[first]
        begin, end = max(at - 1, 0), max(at, 1)
        while end + 1 in missing:
            end += 1
        first = next((n for n, one in enumerate(missing) if one > end), len(missing))
        span = conjuncts[begin : end + 1]
        inside = frozenset().union(*(one.words for one in span))
        quoted = text[span[0].start : span[-1].end]
        halves = [
            one
            for one in found
            if not one.whole and (one.quote in quoted or _half(said[one.content], inside))
        ]
        whole = _whole(text, span, halves, setting) if halves else None
        if whole is None:
            continue
        halves = [one for one in halves if bodily(one, tongue) or one.slot is None]
        place = found.index(halves[0]) if halves else len(found)
        found = [one for one in found if one not in halves]
        found.insert(place, whole)
    return found


def supported(statement: Statement, text: str, setting: Setting) -> bool:
    """Whether the message says it, as it was typed or as its typing is written out."""
    speaker, tongue = setting.speaker, setting.locale
    return any(
        verify(statement, said, speaker, tongue) is None
        for said in (text, f"{text}\n{written_out(text, tongue)}")
    )


def _conjuncts(text: str, pieces: Sequence[Piece], setting: Setting) -> list[_Conjunct]:
    tongue = setting.locale
    found: list[_Conjunct] = []
    for begin, end in _cut(text, pieces, tongue):
        raw = text[begin:end].strip()
        said = _following(raw, tongue) if found else stripped(raw, tongue)
        said = "" if tongue.has("remark", raw) else said.rstrip(" .!")
        if said:
            words = _words(_third_person(said, setting), setting)
            found.append(_Conjunct(start=begin, end=end, text=said, words=words))
    return found


def _following(raw: str, tongue: Tongue) -> str:
    """A conjunct after another, written out. A subject that writing out gave it is not its own:
    "mein Bruder ist Autist und mag keinen Lärm"."""
    said = written_out(raw, tongue)
    first, _, rest = said.partition(" ")
    given = tongue.has("self", said) and not raw.lower().startswith(first.lower())
    return rest if given else said


def _cut(text: str, pieces: Sequence[Piece], tongue: Tongue) -> list[tuple[int, int]]:
    """Where the conjuncts of a sentence begin and end, up to what does not state anything."""
    if not pieces:
        return []
    stop = pieces[0].end
    for piece in pieces[1:]:
        if len(text[stop : piece.start].split()) > _JOINT_MAX_COUNT:
            break
        stop = piece.end
    found: list[tuple[int, int]] = []
    begin = pieces[0].start
    both = tongue.texts["both"].split()[1]
    for match in tongue.patterns["coordinated"].finditer(text, begin, stop):
        subjects = match[0].strip().lower() == both  # "Bob and I": one conjunct, not two
        before = text[begin : match.start()]
        if subjects and tongue.patterns["bare_subject"].match(before):
            continue
        if found and " " not in before and match[0].strip().lower() in tongue.words["midfield"]:
            continue  # "esse aber Fisch"
        found.append((begin, match.start()))
        begin = match.end()
    return [*found, (begin, stop)]


def _third_person(text: str, setting: Setting) -> str:
    """A conjunct alone, as content says it."""
    parsed = subject(text, setting.speaker, setting.locale, None)
    if parsed and parsed[0].speaks and not parsed[0].owns:
        return third(parsed[1], setting.locale)
    return third(text, setting.locale) if opens_with_verb(text, setting.locale) else text


def _words(text: str, setting: Setting) -> frozenset[str]:
    tongue = setting.locale
    marked, _ = mark(text, setting.said_at, tongue, past=False)
    light = tongue.words["small"] | tongue.words["adverbs"] | tongue.words["pronouns"]
    light |= tongue.words["light"] | {*_WORD.findall(setting.speaker.lower())}
    words = (word.removesuffix("'s") for word in _WORD.findall(_MARK.sub(" ", marked.lower())))
    return frozenset(
        word
        for word in words
        if word not in light and len(word) > 1 and not tongue.has("manner", word)
    )


def _outside(words: frozenset[str], known: frozenset[str]) -> list[str]:
    """The words that are not among others in any form: "suffers" is among "suffer"."""
    return [word for word in words if not any(_alike(word, one) for one in known)]


def _alike(one: str, other: str) -> bool:
    shared = max(_STEM_MIN_CHARS, min(len(one), len(other)) - _STEM_CUT_CHARS)
    return one == other or one[:shared] == other[:shared]


def _half(words: frozenset[str], inside: frozenset[str]) -> bool:
    return len(words) - len(_outside(words, inside)) >= _HALF_MIN_SHARE * len(words)


def _speaks(one: _Conjunct, setting: Setting) -> bool:
    """Whether a conjunct is the speaker's own: a fact about another person does not cover it."""
    parsed = subject(one.text, setting.speaker, setting.locale, None)
    return parsed is not None and parsed[0].speaks


def _missing(one: _Conjunct, facts: list[frozenset[str]], setting: Setting) -> bool:
    """Whether a conjunct says something that lasts and that is in no fact."""
    if setting.locale.has("likewise", one.text):
        return True
    lost = _outside(one.words, frozenset().union(*facts))
    return bool(lost) and len(lost) * 2 >= len(one.words) and not _passes(one.text, setting)


def _belongs(at: int, conjuncts: Sequence[_Conjunct], setting: Setting) -> bool:
    """Whether what no fact has is part of what the sentence says of health or diet: it goes on
    with the subject of the conjunct before it, or is of health or diet, or of the speaker."""
    tongue, text = setting.locale, conjuncts[at].text
    if tongue.has("likewise", text) or _touches(text, tongue):
        return True
    parsed = subject(text, setting.speaker, tongue, None)
    if parsed and parsed[0].speaks:
        return at > 0
    if tongue.has("speaker_within", text if parsed is None else parsed[1]):
        return True
    # "my husband to bees", "my son isn't" have their verb or their noun from before.
    return at > 0 and (parsed is None or len(parsed[1].split()) <= _ELLIPSIS_MAX_COUNT)


def _touches(text: str, tongue: Tongue) -> bool:
    lexicon = (one for one in tongue.lexicon if one.sensitivity is Sensitivity.SENSITIVE)
    return tongue.has("bodily", text) or any(one.match.search(text) for one in lexicon)


def _of_health(text: str, tongue: Tongue) -> bool:
    return any(one.topic == "health" and one.match.search(text) for one in tongue.lexicon)


def bodily(one: Statement, tongue: Tongue) -> bool:
    """Whether a fact is one of health or diet, or is sensitive."""
    sensitive = classify(one, tongue).sensitivity is Sensitivity.SENSITIVE
    return sensitive or tongue.has("bodily", one.content)


def _passes(text: str, setting: Setting) -> bool:
    """Whether words are about the moment or the talk, or are not meant as a plain statement."""
    tongue = setting.locale
    plain = tongue.patterns["firm"].sub(" ", text)
    if BLANK in text or any(
        tongue.has(name, plain) for name in ("veto", "errand", "unsure", "momentary")
    ):
        return True
    elided = opens_with_verb(text, tongue) and not tongue.has("inverted", text)
    if tongue.has("question", plain) and not elided:
        return True
    words = {*_WORD.findall(plain.lower())}
    talk = words & tongue.words["open_talk"] and not tongue.has("speaker_within", text)
    if talk or tongue.patterns["topic"].match(text):
        return True
    parsed = subject(text, setting.speaker, tongue, None)
    predicate = parsed[1] if parsed else text
    if parsed is None and words & tongue.words["verbs_being"]:
        return False  # of a thing: "cold weather is dangerous for me"
    first, _, rest = predicate.partition(" ")
    being = third(first, tongue) in tongue.words["verbs_being"]
    return tongue.has("passing_state", rest if being else predicate)


def _unread(text: str, conjuncts: list[_Conjunct], setting: Setting) -> Statement | None:
    """A sentence of health or diet of which nothing was read, where it is the speaker's to say."""
    tongue = setting.locale
    said = " ".join(one.text for one in conjuncts)
    plainly = tongue.has("bodily_plainly", said) or _of_health(said, tongue)
    if setting.laughing or not plainly:
        return None
    said_whole = written_out(text[conjuncts[0].start : conjuncts[-1].end], tongue)
    if any(tongue.has("tail_binds", one.text) for one in conjuncts[1:]):
        return None  # it takes back or narrows what it follows
    if tongue.has("tail_scoped", said_whole) and " " not in conjuncts[-1].text:
        return None  # "don't drink and drive" denies both at once
    if any(_passes(one.text, setting) for one in conjuncts if not _plainly(one.text, tongue)):
        return None
    opening = conjuncts[0]
    parsed = subject(opening.text, setting.speaker, tongue, None)
    if parsed is None and not tongue.has("speaker_within", opening.text):
        if not _PLAIN.fullmatch(opening.text):
            return None
        supplied = f"{tongue.texts['self_is']} {opening.text}"
        piece = Piece(start=opening.start, end=opening.end, text=supplied)
        if read(piece, text[opening.start : opening.end], setting, None).statement is None:
            return None
        conjuncts = [replace(opening, text=supplied), *conjuncts[1:]]
    return _whole(text, conjuncts, [], setting)


def _plainly(text: str, tongue: Tongue) -> bool:
    return tongue.has("likewise", text) or tongue.has("fine_with", text)


def _whole(
    text: str, span: Sequence[_Conjunct], halves: Sequence[Statement], setting: Setting
) -> Statement | None:
    """The conjuncts as one statement; None where that would not be a plain sentence."""
    tongue = setting.locale
    content, whose, at = _told(text, span, setting)
    if len(content.split()) > _WORDS_MAX_COUNT:
        return None
    others = _others(span, whose, setting)
    levels = [classify(one, tongue).sensitivity or Sensitivity.PERSONAL for one in halves]
    own = any(one.about_speaker for one in halves) or _own(whose, content, setting)
    if own and others:
        levels.append(Sensitivity.SENSITIVE)  # what is told of another is theirs as well
    about = [person for one in halves for person in one.about] + others
    made = Statement(
        content=content[:1].upper() + content[1:],
        quote=text[span[0].start : span[-1].end].strip(" ,"),
        explicit=setting.explicit or any(one.explicit for one in halves),
        kind=halves[0].kind if halves else Kind.IDENTITY,
        about_speaker=own,
        about=tuple(dict.fromkeys(about)),
        hearsay=bool(others) or any(one.hearsay for one in halves),
        slot=None,
        value=None,
        negated=False,
        observed_at=at,
        withheld_from=(),
        hold=None,
        whole=True,
        sensitivity=max(levels, key=lambda one: one.rank, default=None),
    )
    garbled = tongue.has("garbled", made.content)
    return made if not garbled and supported(made, text, setting) else None


def _told(
    text: str, span: Sequence[_Conjunct], setting: Setting
) -> tuple[str, list[tuple[Subject, str]], datetime | None]:
    """The words of a clause in the third person, whom its conjuncts have as their subject, and
    the day that they name."""
    tongue, speaker = setting.locale, setting.speaker
    told, whose = "", list[tuple[Subject, str]]()
    at: datetime | None = None
    speaking = False  # who goes on where a verb has no subject of its own
    last = span[0].start
    for one in span:
        joint, last = text[last : one.start], one.end
        parsed = subject(one.text, speaker, tongue, None)
        said = one.text
        if parsed:
            whose.append(parsed)
        if parsed and parsed[0].plural and parsed[0].speaks:
            said, speaking = f"{parsed[0].words} {parsed[1]}", False  # "Bob and I are vegan"
        elif parsed and parsed[0].speaks and not parsed[0].owns:
            joined = speaking and joint.strip(" ,") != ""
            said = third(parsed[1], tongue)
            said = said if joined else f"{speaker} {said}"
            speaking = True
        elif opens_with_verb(said, tongue):
            said = third(said, tongue) if speaking else said
        elif parsed:
            speaking = False
        past = tongue.has("past", one.text) and not tongue.has("to_come", one.text)
        said, whens = mark(
            _inverted(within(said, speaker, tongue), setting), setting.said_at, tongue, past=past
        )
        at = at or next((when.at for when in whens if when.at), None)
        if one is not span[0]:  # what "it" is has just been said
            said = tongue.patterns["referring"].sub(tongue.texts["that"], said)
        told += joint + spelled(turned(said, speaker, tongue), whens, as_said=False)
    return " ".join(told.split()).strip(" ,"), whose, at


def _inverted(said: str, setting: Setting) -> str:
    """ "So am I" -> "so is Olga": the speaker after the verb."""
    tongue = setting.locale
    return tongue.patterns["inverted"].sub(
        lambda match: f"{third(match['verb'], tongue)} {setting.speaker}", said
    )


def _others(
    span: Sequence[_Conjunct], whose: list[tuple[Subject, str]], setting: Setting
) -> list[Mention]:
    """The people other than the speaker of whom a conjunct tells something. What a doctor told
    the speaker is about the speaker."""
    tongue = setting.locale
    told = [
        person
        for one, rest in whose
        if not tongue.has("speaker_within", rest)
        for person in one.mentions
    ]
    for one in span:
        if subject(one.text, setting.speaker, tongue, None) is None:  # "… makes my son ill"
            for match in tongue.patterns["somebody"].finditer(one.text):
                kin = kin_of(match["kin"], match["mod"] or "", tongue)
                told.append(mention(match[0], kin))
    return [one for one in told if one.relation not in tongue.words["carers"]]


def _own(whose: list[tuple[Subject, str]], content: str, setting: Setting) -> bool:
    named = re.search(rf"(?<!\w){re.escape(setting.speaker)}(?!['’\w])", content)
    return named is not None or any(one.speaks for one, _ in whose)
