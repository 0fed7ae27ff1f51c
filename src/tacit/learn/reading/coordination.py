"""Predicates that share a subject: "I'm vegetarian and allergic to nuts" states two things; "I'm
diabetic and careful with sugar", of which no rule reads the second half, is kept whole."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tacit import limits
from tacit.learn.facts import Statement
from tacit.learn.reading.coverage import bodily
from tacit.learn.reading.mentions import Subject, possessive, subject, turned
from tacit.learn.reading.person import opens_with_verb, third
from tacit.learn.reading.readings import Reading, read, written_out
from tacit.learn.reading.sentences import Piece
from tacit.learn.reading.setting import Setting
from tacit.learn.reading.tongue import Tongue
from tacit.learn.reading.when import mark, spelled

_PART_MAX_COUNT = 8  # words
_FRAME = "frame:"  # the slot of what no form knows
_WORD = re.compile(r"[\w'-]+")


def read_all(
    piece: Piece, quote: str, setting: Setting, last: Subject | None
) -> tuple[Reading, list[Statement]]:
    """A clause as `read` has it, and all that its predicates state."""
    first = read(piece, quote, setting, last)
    if first.statement is None:
        first = _before_joined(piece, quote, setting, last) or first
    if first.statement is None:
        return first, []
    shared = _shared(first, setting, last)
    if shared is None:
        return first, [first.statement]
    found = [first.statement]
    rest = first.rest
    while part := _part(rest, setting.locale):
        following = _following(shared, part, replace(piece, text=""), quote, setting, last)
        if following is None or following.statement is None:
            found = shared.kept(found, part, setting)
            break
        found.append(following.statement)
        rest = following.rest
    if len(found) > limits.LEARN_WRITES_PER_TURN_MAX_COUNT:
        found = [shared.whole(found[0], setting)]
    return first, found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """What the predicates of a clause have in common."""

    who: Subject
    lead: str  # the subject as it was said, and what follows it up to its predicate
    verb: str  # one of being or having; "" for any other
    predicate: str  # all of them

    def whole(self, first: Statement, setting: Setting) -> Statement:
        return self._told(first, self.predicate, setting)

    def _told(self, first: Statement, predicate: str, setting: Setting) -> Statement:
        tongue = setting.locale
        who = possessive(self.who.words, tongue) if self.who.owns else self.who.words
        marked, whens = mark(predicate, setting.said_at, tongue, past=False)
        said = marked if self.who.owns else third(marked, tongue)
        content = spelled(f"{who} {turned(said, setting.speaker, tongue)}", whens, as_said=False)
        at = next((when.at for when in whens if when.at), None)
        return replace(first, content=content, slot=None, value=None, observed_at=at)

    def kept(self, found: list[Statement], part: str, setting: Setting) -> list[Statement]:
        """With what no rule reads of it: a value that may change stays apart from the rest."""
        tongue = setting.locale
        words = [word.lower() for word in _WORD.findall(part)]
        vague = tongue.words["open_never"] | tongue.words["open_talk"]
        passes = tongue.has("passing_state", part) or tongue.has("veto", part)
        if not self.verb or passes or len(words) > _PART_MAX_COUNT or vague & {*words}:
            return found
        own = _own_verb(part, tongue)
        changing = found[0].slot is not None and not found[0].slot.startswith(_FRAME)
        if changing and bodily(found[0], tongue):
            return found  # it is kept whole with the rest of its sentence
        if len(found) == 1 and (not changing or (own and self.who.owns)):
            return [self.whole(found[0], setting)]
        said = part if own else f"{self.verb} {part}"
        return [*found, self._told(found[0], said, setting)]


def _shared(first: Reading, setting: Setting, last: Subject | None) -> _Shared | None:
    tongue = setting.locale
    parsed = subject(first.said, setting.speaker, tongue, last) if first.rest else None
    if parsed is None or parsed[0].plural or parsed[0].through:
        return None
    who, predicate = parsed
    verb = _verb(predicate, tongue, owned=who.owns)
    if who.owns and not verb:
        return None
    lead = first.said[: len(first.said) - len(predicate)]
    return _Shared(who=who, lead=lead, verb=verb, predicate=predicate + first.rest)


def _verb(predicate: str, tongue: Tongue, *, owned: bool) -> str:
    """Up to the verb, where the next predicate may go without it: "is", "has been", "dog is"."""
    words = predicate.split()
    shared = tongue.words["verbs_being"] | tongue.words["verbs_having"]
    for at, word in enumerate(words):
        if third(word, tongue) in shared:
            been = words[at + 1 : at + 2]
            more = been if been and been[0] in tongue.words["been"] else []
            return " ".join([*words[: at + 1], *more])
        if word.lower() not in tongue.words["adverbs"] and not owned:
            break
    return ""


def _own_verb(part: str, tongue: Tongue) -> bool:
    words = [word for word in _WORD.findall(part.lower()) if word not in tongue.words["adverbs"]]
    tags = tongue.frames.get(words[0], frozenset()) if words else frozenset()
    return (
        any(tag.endswith((":bare", ":now")) for tag in tags)
        or opens_with_verb(part, tongue)
        or bool(_verb(part.lower(), tongue, owned=False))
    )


def _clausal(part: str, tongue: Tongue) -> bool:
    """Whether a part has a verb, and perhaps a subject, of its own: "lithium keeps me stable",
    "sneezes all spring"."""
    words = part.lower().split()
    finite = tongue.words["verbs_being"] | tongue.words["verbs_having"] | tongue.words["verbs_able"]
    verb = any(word in finite for word in words[1:]) or tongue.has("speaker_acted_on", part)
    opens = words[1:] and words[0].endswith("s") and words[1] in tongue.words["after_verbs"]
    return verb or bool(opens)


def _part(rest: str, tongue: Tongue) -> str:
    """What follows "and" or "but", or a comma in a list that has one of these."""
    words = _WORD.findall(rest.lower())
    if not tongue.words["coordinating"] & {*words}:
        return ""
    joined = rest.lstrip(" ,")
    first, _, after = joined.partition(" ")
    if first.lower() in tongue.words["coordinating"]:
        return after.strip()
    return joined if joined != rest.lstrip() else ""


def _following(
    shared: _Shared, part: str, piece: Piece, quote: str, setting: Setting, last: Subject | None
) -> Reading | None:
    """The next predicate, with a verb of its own or with that of the first."""
    own = _own_verb(part, setting.locale)
    if shared.who.owns and own:
        return None
    shares = shared.verb and not own and not _clausal(part, setting.locale)
    ways = [f"{shared.lead}{shared.verb} {part}"] if shares else []
    for way in ways if shared.who.owns else [*ways, f"{shared.lead}{part}"]:
        reading = read(replace(piece, text=way), quote, setting, last)
        if reading.statement:
            return reading
    return None


def _before_joined(
    piece: Piece, quote: str, setting: Setting, last: Subject | None
) -> Reading | None:
    """The first predicate of "I'm asthmatic but otherwise healthy": what follows "but" may narrow
    it, so that it does not stand alone."""
    tongue = setting.locale
    text = written_out(piece.text, tongue)
    cut = tongue.patterns["narrowed"].search(text)
    if cut is None:
        return None
    reading = read(replace(piece, text=text[: cut.start()]), quote, setting, last)
    if reading.statement is None or reading.rest:
        return None
    return replace(reading, rest=text[cut.start() :])
