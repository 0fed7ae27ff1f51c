"""Extract statements from a message by rules, without a language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tacit.learning.corrections.comparison import is_comment
from tacit.learning.corrections.supersession import replaces
from tacit.learning.extraction.clauses import ClauseReading, expand_contractions, read_clause, strip_clause
from tacit.learning.extraction.locale import Locale
from tacit.learning.extraction.mentions import (
    ClauseSubject,
    make_kin,
    make_mention,
    make_possessive,
    mark_dates,
    read_subject,
    replace_speaker,
    spell_dates,
)
from tacit.learning.extraction.sentences import (
    BLANK,
    LOOKED_AT_MAX_CHARS,
    MessageContext,
    TextSpan,
    blank_holds,
    blank_quotations,
    lacks_subject,
    opens_with_verb,
    read_locale_holds,
    replace_inner_speaker,
    split_clauses,
    split_sentences,
    to_third_person,
)
from tacit.learning.facts import Hold, Mention, StatedFact
from tacit.learning.verification import classify_statement, verify_statement
from tacit.records.memory import Kind, Sensitivity
from tacit.records.validation import clean_display_name

# No half of a health or diet statement is lost: where one conjunct of a sentence is in no fact,
# the conjuncts around it are kept whole, in the third person, in place of the half that was read.

_PLAIN_WORD = re.compile(r"[^\W\d_][\w'-]*")
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


def complete_statements(
    text: str, pieces: Sequence[TextSpan], found: list[StatedFact], setting: MessageContext
) -> list[StatedFact]:
    """The facts of a sentence, with a whole clause in place of a fact that leaves a part out."""
    conjuncts = _conjuncts(text, pieces, setting)
    if not 1 < len(conjuncts) <= _CONJUNCT_MAX_COUNT:
        return found
    locale = setting.locale
    if not found:
        whole = _unread(text, conjuncts, setting)
        return [whole] if whole else []
    found = [one for one in found if not locale.has("garbled", one.content)]
    said = {one.content: _words(one.content, setting) for one in found}
    own = [said[one.content] for one in found if one.about_speaker]
    missing = [
        n
        for n, one in enumerate(conjuncts)
        if _missing(one, own if _speaks(one, setting) else [*said.values()], setting)
        and _belongs(n, conjuncts, setting)
    ]
    lost = any(_touches(conjuncts[n].text, locale) for n in missing)
    if not lost and not any(is_about_health(one, locale) for one in found):
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
        halves = [one for one in found if not one.whole and (one.quote in quoted or _half(said[one.content], inside))]
        whole = _whole(text, span, halves, setting) if halves else None
        if whole is None:
            continue
        halves = [one for one in halves if is_about_health(one, locale) or one.slot is None]
        place = found.index(halves[0]) if halves else len(found)
        found = [one for one in found if one not in halves]
        found.insert(place, whole)
    return found


def is_supported(statement: StatedFact, text: str, setting: MessageContext) -> bool:
    """Whether the message says it, as it was typed or as its typing is written out."""
    speaker, locale = setting.speaker, setting.locale
    return any(
        verify_statement(statement, said, speaker, locale) is None
        for said in (text, f"{text}\n{expand_contractions(text, locale)}")
    )


def _conjuncts(text: str, pieces: Sequence[TextSpan], setting: MessageContext) -> list[_Conjunct]:
    locale = setting.locale
    found: list[_Conjunct] = []
    for begin, end in _cut(text, pieces, locale):
        raw = text[begin:end].strip()
        said = _expand_later_conjunct(raw, locale) if found else strip_clause(raw, locale)
        said = "" if locale.has("remark", raw) else said.rstrip(" .!")
        if said:
            words = _words(_third_person(said, setting), setting)
            found.append(_Conjunct(start=begin, end=end, text=said, words=words))
    return found


def _expand_later_conjunct(raw: str, locale: Locale) -> str:
    """A conjunct after another, written out. A subject that writing out gave it is not its own:
    "mein Bruder ist Autist und mag keinen Lärm"."""
    said = expand_contractions(raw, locale)
    first, _, rest = said.partition(" ")
    given = locale.has("self", said) and not raw.lower().startswith(first.lower())
    return rest if given else said


def _cut(text: str, pieces: Sequence[TextSpan], locale: Locale) -> list[tuple[int, int]]:
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
    both = locale.texts["both"].split()[1]
    for match in locale.patterns["coordinated"].finditer(text, begin, stop):
        subjects = match[0].strip().lower() == both  # "Bob and I": one conjunct, not two
        before = text[begin : match.start()]
        if subjects and locale.patterns["bare_subject"].match(before):
            continue
        if found and " " not in before and match[0].strip().lower() in locale.words["midfield"]:
            continue  # "esse aber Fisch"
        found.append((begin, match.start()))
        begin = match.end()
    return [*found, (begin, stop)]


def _third_person(text: str, setting: MessageContext) -> str:
    """A conjunct alone, as content says it."""
    parsed = read_subject(text, setting.speaker, setting.locale, None)
    if parsed and parsed[0].speaks and not parsed[0].owns:
        return to_third_person(parsed[1], setting.locale)
    return to_third_person(text, setting.locale) if opens_with_verb(text, setting.locale) else text


def _words(text: str, setting: MessageContext) -> frozenset[str]:
    locale = setting.locale
    marked, _ = mark_dates(text, setting.said_at, locale, past=False)
    light = locale.words["small"] | locale.words["adverbs"] | locale.words["pronouns"]
    light |= locale.words["light"] | {*_PLAIN_WORD.findall(setting.speaker.lower())}
    words = (word.removesuffix("'s") for word in _PLAIN_WORD.findall(_MARK.sub(" ", marked.lower())))
    return frozenset(word for word in words if word not in light and len(word) > 1 and not locale.has("manner", word))


def _outside(words: frozenset[str], known: frozenset[str]) -> list[str]:
    """The words that are not among others in any form: "suffers" is among "suffer"."""
    return [word for word in words if not any(_alike(word, one) for one in known)]


def _alike(one: str, other: str) -> bool:
    shared = max(_STEM_MIN_CHARS, min(len(one), len(other)) - _STEM_CUT_CHARS)
    return one == other or one[:shared] == other[:shared]


def _half(words: frozenset[str], inside: frozenset[str]) -> bool:
    return len(words) - len(_outside(words, inside)) >= _HALF_MIN_SHARE * len(words)


def _speaks(one: _Conjunct, setting: MessageContext) -> bool:
    """Whether a conjunct is the speaker's own: a fact about another person does not cover it."""
    parsed = read_subject(one.text, setting.speaker, setting.locale, None)
    return parsed is not None and parsed[0].speaks


def _missing(one: _Conjunct, facts: list[frozenset[str]], setting: MessageContext) -> bool:
    """Whether a conjunct says something that lasts and that is in no fact."""
    if setting.locale.has("likewise", one.text):
        return True
    lost = _outside(one.words, frozenset().union(*facts))
    return bool(lost) and len(lost) * 2 >= len(one.words) and not _passes(one.text, setting)


def _belongs(at: int, conjuncts: Sequence[_Conjunct], setting: MessageContext) -> bool:
    """Whether what no fact has is part of what the sentence says of health or diet: it goes on
    with the subject of the conjunct before it, or is of health or diet, or of the speaker."""
    locale, text = setting.locale, conjuncts[at].text
    if locale.has("likewise", text) or _touches(text, locale):
        return True
    parsed = read_subject(text, setting.speaker, locale, None)
    if parsed and parsed[0].speaks:
        return at > 0
    if locale.has("speaker_within", text if parsed is None else parsed[1]):
        return True
    # "my husband to bees", "my son isn't" have their verb or their noun from before.
    return at > 0 and (parsed is None or len(parsed[1].split()) <= _ELLIPSIS_MAX_COUNT)


def _touches(text: str, locale: Locale) -> bool:
    lexicon = (one for one in locale.lexicon if one.sensitivity is Sensitivity.SENSITIVE)
    return locale.has("bodily", text) or any(one.match.search(text) for one in lexicon)


def _of_health(text: str, locale: Locale) -> bool:
    return any(one.topic == "health" and one.match.search(text) for one in locale.lexicon)


def is_about_health(one: StatedFact, locale: Locale) -> bool:
    """Whether a fact is one of health or diet, or is sensitive."""
    sensitive = classify_statement(one, locale).sensitivity is Sensitivity.SENSITIVE
    return sensitive or locale.has("bodily", one.content)


def _passes(text: str, setting: MessageContext) -> bool:
    """Whether words are about the moment or the talk, or are not meant as a plain statement."""
    locale = setting.locale
    plain = locale.patterns["firm"].sub(" ", text)
    if BLANK in text or any(locale.has(name, plain) for name in ("veto", "errand", "unsure", "momentary")):
        return True
    elided = opens_with_verb(text, locale) and not locale.has("inverted", text)
    if locale.has("question", plain) and not elided:
        return True
    words = {*_PLAIN_WORD.findall(plain.lower())}
    talk = words & locale.words["open_talk"] and not locale.has("speaker_within", text)
    if talk or locale.patterns["topic"].match(text):
        return True
    parsed = read_subject(text, setting.speaker, locale, None)
    predicate = parsed[1] if parsed else text
    if parsed is None and words & locale.words["verbs_being"]:
        return False  # of a thing: "cold weather is dangerous for me"
    first, _, rest = predicate.partition(" ")
    being = to_third_person(first, locale) in locale.words["verbs_being"]
    return locale.has("passing_state", rest if being else predicate)


def _unread(text: str, conjuncts: list[_Conjunct], setting: MessageContext) -> StatedFact | None:
    """A sentence of health or diet of which nothing was read, where it is the speaker's to say."""
    locale = setting.locale
    said = " ".join(one.text for one in conjuncts)
    plainly = locale.has("bodily_plainly", said) or _of_health(said, locale)
    if setting.laughing or not plainly:
        return None
    said_whole = expand_contractions(text[conjuncts[0].start : conjuncts[-1].end], locale)
    if any(locale.has("tail_binds", one.text) for one in conjuncts[1:]):
        return None  # it takes back or narrows what it follows
    if locale.has("tail_scoped", said_whole) and " " not in conjuncts[-1].text:
        return None  # "don't drink and drive" denies both at once
    if any(_passes(one.text, setting) for one in conjuncts if not _plainly(one.text, locale)):
        return None
    opening = conjuncts[0]
    parsed = read_subject(opening.text, setting.speaker, locale, None)
    if parsed is None and not locale.has("speaker_within", opening.text):
        if not _PLAIN.fullmatch(opening.text):
            return None
        supplied = f"{locale.texts['self_is']} {opening.text}"
        piece = TextSpan(start=opening.start, end=opening.end, text=supplied)
        if read_clause(piece, text[opening.start : opening.end], setting, None).statement is None:
            return None
        conjuncts = [replace(opening, text=supplied), *conjuncts[1:]]
    return _whole(text, conjuncts, [], setting)


def _plainly(text: str, locale: Locale) -> bool:
    return locale.has("likewise", text) or locale.has("fine_with", text)


def _whole(
    text: str, span: Sequence[_Conjunct], halves: Sequence[StatedFact], setting: MessageContext
) -> StatedFact | None:
    """The conjuncts as one statement; None where that would not be a plain sentence."""
    locale = setting.locale
    content, whose, at = _told(text, span, setting)
    if len(content.split()) > _WORDS_MAX_COUNT:
        return None
    others = _others(span, whose, setting)
    levels = [classify_statement(one, locale).sensitivity or Sensitivity.PERSONAL for one in halves]
    own = any(one.about_speaker for one in halves) or _own(whose, content, setting)
    if own and others:
        levels.append(Sensitivity.SENSITIVE)  # what is told of another is theirs as well
    about = [person for one in halves for person in one.about] + others
    made = StatedFact(
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
    garbled = locale.has("garbled", made.content)
    return made if not garbled and is_supported(made, text, setting) else None


def _told(
    text: str, span: Sequence[_Conjunct], setting: MessageContext
) -> tuple[str, list[tuple[ClauseSubject, str]], datetime | None]:
    """The words of a clause in the third person, whom its conjuncts have as their subject, and
    the day that they name."""
    locale, speaker = setting.locale, setting.speaker
    told, whose = "", list[tuple[ClauseSubject, str]]()
    at: datetime | None = None
    speaking = False  # who goes on where a verb has no subject of its own
    last = span[0].start
    for one in span:
        joint, last = text[last : one.start], one.end
        parsed = read_subject(one.text, speaker, locale, None)
        said = one.text
        if parsed:
            whose.append(parsed)
        if parsed and parsed[0].plural and parsed[0].speaks:
            said, speaking = f"{parsed[0].words} {parsed[1]}", False  # "Bob and I are vegan"
        elif parsed and parsed[0].speaks and not parsed[0].owns:
            joined = speaking and joint.strip(" ,") != ""
            said = to_third_person(parsed[1], locale)
            said = said if joined else f"{speaker} {said}"
            speaking = True
        elif opens_with_verb(said, locale):
            said = to_third_person(said, locale) if speaking else said
        elif parsed:
            speaking = False
        past = locale.has("past", one.text) and not locale.has("to_come", one.text)
        said, whens = mark_dates(
            _inverted(replace_inner_speaker(said, speaker, locale), setting), setting.said_at, locale, past=past
        )
        at = at or next((when.at for when in whens if when.at), None)
        if one is not span[0]:  # what "it" is has just been said
            said = locale.patterns["referring"].sub(locale.texts["that"], said)
        told += joint + spell_dates(replace_speaker(said, speaker, locale), whens, as_said=False)
    return " ".join(told.split()).strip(" ,"), whose, at


def _inverted(said: str, setting: MessageContext) -> str:
    """ "So am I" -> "so is Olga": the speaker after the verb."""
    locale = setting.locale
    return locale.patterns["inverted"].sub(
        lambda match: f"{to_third_person(match['verb'], locale)} {setting.speaker}", said
    )


def _others(
    span: Sequence[_Conjunct], whose: list[tuple[ClauseSubject, str]], setting: MessageContext
) -> list[Mention]:
    """The people other than the speaker of whom a conjunct tells something. What a doctor told
    the speaker is about the speaker."""
    locale = setting.locale
    told = [person for one, rest in whose if not locale.has("speaker_within", rest) for person in one.mentions]
    for one in span:
        if read_subject(one.text, setting.speaker, locale, None) is None:  # "… makes my son ill"
            for match in locale.patterns["somebody"].finditer(one.text):
                kin = make_kin(match["kin"], match["mod"] or "", locale)
                told.append(make_mention(match[0], kin))
    return [one for one in told if one.relation not in locale.words["carers"]]


def _own(whose: list[tuple[ClauseSubject, str]], content: str, setting: MessageContext) -> bool:
    named = re.search(rf"(?<!\w){re.escape(setting.speaker)}(?!['’\w])", content)
    return named is not None or any(one.speaks for one, _ in whose)


# Predicates that share a subject: "I'm vegetarian and allergic to nuts" states two things; "I'm
# diabetic and careful with sugar", of which no rule reads the second half, is kept whole.

_PART_MAX_COUNT = 8  # words
_FRAME = "frame:"  # the slot of what no form knows
_WORD = re.compile(r"[\w'-]+")


def read_coordinated_clause(
    piece: TextSpan, quote: str, setting: MessageContext, last: ClauseSubject | None
) -> tuple[ClauseReading, list[StatedFact]]:
    """A clause as `read` has it, and all that its predicates state."""
    first = read_clause(piece, quote, setting, last)
    if first.statement is None:
        first = _before_joined(piece, quote, setting, last) or first
    if first.statement is None:
        return first, []
    shared = _find_shared(first, setting, last)
    if shared is None:
        return first, [first.statement]
    found = [first.statement]
    rest = first.rest
    while part := _part(rest, setting.locale):
        following = _read_next_predicate(shared, part, replace(piece, text=""), quote, setting, last)
        if following is None or following.statement is None:
            found = shared.kept(found, part, setting)
            break
        found.append(following.statement)
        rest = following.rest
    if len(found) > STATEMENTS_MAX_COUNT:
        found = [shared.whole(found[0], setting)]
    return first, found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """What the predicates of a clause have in common."""

    who: ClauseSubject
    lead: str  # the subject as it was said, and what follows it up to its predicate
    verb: str  # one of being or having; "" for any other
    predicate: str  # all of them

    def whole(self, first: StatedFact, setting: MessageContext) -> StatedFact:
        return self._told(first, self.predicate, setting)

    def _told(self, first: StatedFact, predicate: str, setting: MessageContext) -> StatedFact:
        locale = setting.locale
        who = make_possessive(self.who.words, locale) if self.who.owns else self.who.words
        marked, whens = mark_dates(predicate, setting.said_at, locale, past=False)
        said = marked if self.who.owns else to_third_person(marked, locale)
        content = spell_dates(f"{who} {replace_speaker(said, setting.speaker, locale)}", whens, as_said=False)
        at = next((when.at for when in whens if when.at), None)
        return replace(first, content=content, slot=None, value=None, observed_at=at)

    def kept(self, found: list[StatedFact], part: str, setting: MessageContext) -> list[StatedFact]:
        """With what no rule reads of it: a value that may change stays apart from the rest."""
        locale = setting.locale
        words = [word.lower() for word in _WORD.findall(part)]
        vague = locale.words["open_never"] | locale.words["open_talk"]
        passes = locale.has("passing_state", part) or locale.has("veto", part)
        if not self.verb or passes or len(words) > _PART_MAX_COUNT or vague & {*words}:
            return found
        own = _own_verb(part, locale)
        changing = found[0].slot is not None and not found[0].slot.startswith(_FRAME)
        if changing and is_about_health(found[0], locale):
            return found  # it is kept whole with the rest of its sentence
        if len(found) == 1 and (not changing or (own and self.who.owns)):
            return [self.whole(found[0], setting)]
        said = part if own else f"{self.verb} {part}"
        return [*found, self._told(found[0], said, setting)]


def _find_shared(first: ClauseReading, setting: MessageContext, last: ClauseSubject | None) -> _Shared | None:
    locale = setting.locale
    parsed = read_subject(first.said, setting.speaker, locale, last) if first.rest else None
    if parsed is None or parsed[0].plural or parsed[0].through:
        return None
    who, predicate = parsed
    verb = _verb(predicate, locale, owned=who.owns)
    if who.owns and not verb:
        return None
    lead = first.said[: len(first.said) - len(predicate)]
    return _Shared(who=who, lead=lead, verb=verb, predicate=predicate + first.rest)


def _verb(predicate: str, locale: Locale, *, owned: bool) -> str:
    """Up to the verb, where the next predicate may go without it: "is", "has been", "dog is"."""
    words = predicate.split()
    shared = locale.words["verbs_being"] | locale.words["verbs_having"]
    for at, word in enumerate(words):
        if to_third_person(word, locale) in shared:
            been = words[at + 1 : at + 2]
            more = been if been and been[0] in locale.words["been"] else []
            return " ".join([*words[: at + 1], *more])
        if word.lower() not in locale.words["adverbs"] and not owned:
            break
    return ""


def _own_verb(part: str, locale: Locale) -> bool:
    words = [word for word in _WORD.findall(part.lower()) if word not in locale.words["adverbs"]]
    tags = locale.frames.get(words[0], frozenset()) if words else frozenset()
    return (
        any(tag.endswith((":bare", ":now")) for tag in tags)
        or opens_with_verb(part, locale)
        or bool(_verb(part.lower(), locale, owned=False))
    )


def _clausal(part: str, locale: Locale) -> bool:
    """Whether a part has a verb, and perhaps a subject, of its own: "lithium keeps me stable",
    "sneezes all spring"."""
    words = part.lower().split()
    finite = locale.words["verbs_being"] | locale.words["verbs_having"] | locale.words["verbs_able"]
    verb = any(word in finite for word in words[1:]) or locale.has("speaker_acted_on", part)
    opens = words[1:] and words[0].endswith("s") and words[1] in locale.words["after_verbs"]
    return verb or bool(opens)


def _part(rest: str, locale: Locale) -> str:
    """What follows "and" or "but", or a comma in a list that has one of these."""
    words = _WORD.findall(rest.lower())
    if not locale.words["coordinating"] & {*words}:
        return ""
    joined = rest.lstrip(" ,")
    first, _, after = joined.partition(" ")
    if first.lower() in locale.words["coordinating"]:
        return after.strip()
    return joined if joined != rest.lstrip() else ""


def _read_next_predicate(
    shared: _Shared, part: str, piece: TextSpan, quote: str, setting: MessageContext, last: ClauseSubject | None
) -> ClauseReading | None:
    """The next predicate, with a verb of its own or with that of the first."""
    own = _own_verb(part, setting.locale)
    if shared.who.owns and own:
        return None
    shares = shared.verb and not own and not _clausal(part, setting.locale)
    ways = [f"{shared.lead}{shared.verb} {part}"] if shares else []
    for way in ways if shared.who.owns else [*ways, f"{shared.lead}{part}"]:
        reading = read_clause(replace(piece, text=way), quote, setting, last)
        if reading.statement:
            return reading
    return None


def _before_joined(
    piece: TextSpan, quote: str, setting: MessageContext, last: ClauseSubject | None
) -> ClauseReading | None:
    """The first predicate of "I'm asthmatic but otherwise healthy": what follows "but" may narrow
    it, so that it does not stand alone."""
    locale = setting.locale
    text = expand_contractions(piece.text, locale)
    cut = locale.patterns["narrowed"].search(text)
    if cut is None:
        return None
    reading = read_clause(replace(piece, text=text[: cut.start()]), quote, setting, last)
    if reading.statement is None or reading.rest:
        return None
    return replace(reading, rest=text[cut.start() :])


# Statements from a message without a model: plain forms only, and nothing where it would guess.

STATEMENTS_MAX_COUNT = 3  # of one message


def extract_by_rules(text: str, speaker: str, said_at: datetime, locale: Locale) -> list[StatedFact]:
    """What a message states, at most three things; [] where that would have to be guessed."""
    seen = blank_quotations(text, locale)
    if not seen.strip() or locale.takes_back("not_meant", text[:LOOKED_AT_MAX_CHARS]):
        return []
    setting = MessageContext(
        speaker=clean_display_name(speaker) or locale.texts["unnamed"],
        said_at=said_at,
        locale=locale,
        lower=not any(char.isupper() for char in seen),
    )
    held = read_locale_holds(seen, locale)
    if held.hold is Hold.UNKEPT:
        return []
    setting = replace(setting, weighty=held.guarded)
    if len(held.withheld_from) == 1:
        setting = replace(setting, meant=held.withheld_from[0].name)
    found = _found(text, blank_holds(seen, locale), setting)
    turned = locale.has("turned", seen)
    if locale.has("asked_to_keep", seen):
        found = [replace(statement, explicit=True) for statement in found]
    found = [
        replace(statement, hold=held.hold, withheld_from=held.withheld_from, turned=turned)
        for statement in _distinct(found)
        if not _known_already(statement, setting)
        and not is_comment(statement)
        and not locale.has("garbled", statement.content)
        and is_supported(statement, text, setting)
    ]
    return sorted(found, key=lambda s: not s.explicit)[:STATEMENTS_MAX_COUNT]


def _found(text: str, seen: str, setting: MessageContext) -> list[StatedFact]:
    found: list[StatedFact] = []
    last: ClauseSubject | None = None
    for sentence in split_sentences(seen, setting.locale):
        made, last = _of_sentence(text, sentence, setting, last)
        found += made
    return found


def _of_sentence(
    text: str, sentence: TextSpan, setting: MessageContext, last: ClauseSubject | None
) -> tuple[list[StatedFact], ClauseSubject | None]:
    locale = setting.locale
    pieces = _stated(sentence, locale)
    setting = replace(setting, laughing=locale.has("laugh", text[sentence.start : sentence.end + 6]))
    found: list[StatedFact] = []
    inherited: str | None = None
    topic: str | None = None
    before: tuple[TextSpan, int] | None = None  # the clause that was read last, and where it begins
    for piece in pieces:
        piece = _about(topic, piece, locale)
        topic = _topic(piece, locale) or topic
        shared = lacks_subject(piece.text, locale)
        if shared and not piece.opened:
            if inherited is None:
                before = None
                continue
            alone, piece = piece, replace(piece, text=f"{inherited} {piece.text}")
        reading, made = read_coordinated_clause(piece, text[piece.start : piece.end], setting, last)
        if reading.statement is None and shared and before and not piece.opened:
            both = _together(before[0], alone, sentence)
            found[before[1] :] = read_coordinated_clause(both, text[both.start : both.end], setting, last)[1]
        setting = replace(setting, explicit=setting.explicit or reading.explicit)
        inherited = _speaking(piece, locale) or _shared_subject(_subject(piece, setting), locale)
        before = (piece, len(found)) if reading.statement else None
        if reading.statement:
            found += made
            inherited = _shared_subject(reading.subject, locale)
        if reading.subject and reading.subject.mentions and not reading.subject.owns:
            last = reading.subject
    return complete_statements(text, pieces, found, setting), last


def _together(first: TextSpan, second: TextSpan, sentence: TextSpan) -> TextSpan:
    """Two clauses of one subject, the second of which no rule reads, as one."""
    between = sentence.text[first.end - sentence.start : second.start - sentence.start]
    return replace(first, end=second.end, text=f"{first.text}{between}{second.text}")


def _topic(piece: TextSpan, locale: Locale) -> str | None:
    """What a clause says has changed, for the next to say how: "the exam was moved, it's on …"."""
    match = locale.patterns["topic"].match(piece.text)
    if match is None:
        return None
    role = match["role"] or match["newcomer"]
    return match["topic"] or f"{locale.texts['my']} {role}"


def _about(topic: str | None, piece: TextSpan, locale: Locale) -> TextSpan:
    match = locale.patterns["it_is"].match(piece.text) if topic else None
    if match is None:
        return piece
    verb = f"{locale.texts['is']} " if match["is"] else ""
    return replace(piece, text=f"{topic} {verb}{piece.text[match.end() :].lstrip()}")


def _speaking(piece: TextSpan, locale: Locale) -> str | None:
    """A clause of the speaker's that no form knows still says who goes on: "I sold it and …"."""
    own = locale.patterns["self"].match(piece.text) and not locale.has("veto", piece.text)
    return locale.texts["self"] if own else None


def _shared_subject(subject: ClauseSubject | None, locale: Locale) -> str | None:
    """Who a verb without a subject of its own is about: "I live in Bonn and work as a nurse"."""
    if subject is None or subject.owns or subject.through:
        return None
    if subject.plural and not (subject.kin and len(subject.mentions) == 1):
        return None
    if subject.speaks:
        return locale.texts["self"]
    return subject.mentions[0].text


def _subject(piece: TextSpan, setting: MessageContext) -> ClauseSubject | None:
    """Who a clause begins with, whether or not a rule reads it."""
    parsed = read_subject(strip_clause(piece.text, setting.locale), setting.speaker, setting.locale, None)
    return parsed[0] if parsed and not parsed[0].speaks else None


def _stated(sentence: TextSpan, locale: Locale) -> list[TextSpan]:
    """The clauses of a sentence that state something. A question does not, but what leads up
    to it may: "I'm vegetarian, what can I order?" """
    if locale.takes_back("sentence_veto", sentence.text):
        return []
    if sentence.start and locale.has("aside", sentence.text):
        return []
    pieces = split_clauses(sentence, locale)
    if locale.patterns["explicit"].match(sentence.text):
        return pieces
    if sentence.asked:
        asking = next((i for i, p in enumerate(pieces) if locale.has("question", p.text)), None)
        return pieces[:asking] if asking else []
    # "… and am on an inhaler" has the subject of the clause before it.
    elided = locale.patterns["elided"]
    return [
        piece
        for piece in pieces
        if not locale.has("question", piece.text)
        or (not piece.opened and elided.match(piece.text))
        or locale.has("likewise", piece.text)
    ]


def _known_already(statement: StatedFact, setting: MessageContext) -> bool:
    """That a person has the name that they speak under says nothing."""
    own = statement.about_speaker and statement.slot == "name" and not statement.explicit
    return own and statement.value in setting.speaker.casefold().split()


def _distinct(found: list[StatedFact]) -> list[StatedFact]:
    """Each once, and without what the message itself corrects: "I'm Kat, but call me Kasia"."""
    once = list({statement.content: statement for statement in reversed(found)}.values())[::-1]
    return [old for i, old in enumerate(once) if not any(map(_corrects(old), once[i + 1 :]))]


def _corrects(old: StatedFact) -> Callable[[StatedFact], bool]:
    return lambda new: not old.negated and not new.negated and replaces(old, new)
