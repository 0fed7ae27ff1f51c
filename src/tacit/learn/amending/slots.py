"""Whether a newer statement takes the place of an older one: same slot, same subject, new value."""

from __future__ import annotations

import re

from tacit.learn.amending.change import Tone
from tacit.learn.amending.comments import is_comment
from tacit.learn.amending.compare import same_frame
from tacit.learn.amending.cues import Cues, cues
from tacit.learn.amending.gist import known_gist
from tacit.learn.amending.known import Known
from tacit.learn.facts import Mention, Statement
from tacit.learn.reading.tongue import guess, tongue

# Whose these are is said one time and left out the next: "my exam", "the exam".
_OF_THINGS = frozenset({"event", "thing"})
# Somebody holds it, and who does is its value: "Ivo is the team lead".
_ROLE = "role"
# Of these there may be two at a time: only what is said as a change takes another's place.
_SEVERAL = frozenset(
    {"job", "schedule", "plan", "pet_name", "roommate", "neighbour", "teacher", "trainer"}
    | {"nanny", "commute", "goal", "reading", "school", "frame", _ROLE}
)
# Ends whatever closes with its value: "sold the boat" what "has a boat" said.
_END = "end"
# What somebody likes, does or learns may have been said in other words: "uses Duolingo".
_LOOSE_ENDS = frozenset({_END, "likes", "activity", "learning"})
_LOOSE = frozenset({"", "frame", "schedule"})
_LOOSE_FRAMES = frozenset({"", "frame"})
_YEAR = re.compile(r"\b(?:19|20)\d\d$")  # the year in which something happened
_PARTNER = "partner"
_DATED = re.compile(r" (?:\w+ )?\d.*$")  # a date behind the words that count
# The value of an end that names nothing: "I quit my job" ends whatever the job was.
_WHATEVER = frozenset({None, "none", "0"})
_FRAME = "frame"
_MEASURED = frozenset({"rent", "salary", "price", "weight", "height", "age", "thing"})
_WHOSE = re.compile(r"\w+'s ([a-z-]+)\b")
_COUNTED = re.compile(r"(?P<who>[a-z]+) \d+")
_WITH = re.compile(r"\bwith ([A-Z]\w+) (?:is|are|starts|begins)\b")
_SETTABLE = frozenset({"phone", "computer", "car", "email", "thing", "device", "bike"})
_SWAPPED_MAX_COUNT = 3  # words
_TELLING_MIN_CHARS = 4
_OPENING_COUNT = 2  # words


def replaces(old: Statement | Known, new: Statement) -> bool:
    """Whether `new` puts an end to what `old` says: another value of the same single-valued slot
    of the same subject, an opposite preference (the slot of a taste is the thing, its value yes
    or no), or a negation. The same value again is the same fact, and replaces nothing. Slots of
    which there may be several need `new` to be said as a change ("now", "instead"), so compare
    statements with this function, never by their slots alone."""
    return _takes_place(old, new) and not (is_comment(new) or _stands_beside(old, new))


def _takes_place(old: Statement | Known, new: Statement) -> bool:
    if _kind_of(old) == _ROLE == _kind_of(new):
        return _role_passed(old, new)
    if not _same_subject(old, new):
        return False
    if new.negated and _kind_of(new) in _LOOSE_ENDS and _ended(old, new):
        return True
    if old.slot is None or old.slot != new.slot:
        return _gained(old, new) or _swapped(old, new) or _one_at_a_time(old, new)
    if _happened_twice(old, new):
        return False
    if _kind_of(new) in _SEVERAL and not (new.turned or new.negated or old.negated):
        return _one_at_a_time(old, new)
    if old.negated:
        # What has ended is followed by what holds now: "left Lidl", then "works at Aldi".
        return not new.negated and old.value != new.value
    if new.negated:
        return new.value in _WHATEVER or _ends(old, new)
    if old.slot == _PARTNER and new.turned and old.content != new.content:
        return True  # "Ola is my wife now": the same one, no longer the same
    return old.value is not None and new.value is not None and old.value != new.value


def _stands_beside(old: Statement | Known, new: Statement) -> bool:
    """ "Also works at a bar", "the one-to-one with Ingrid", "a phone for work": of these there
    are two, whatever their slots say."""
    if new.negated:
        return False
    own = cues(guess(new.quote or new.content))
    if own.has("beside", new.content) or own.has("beside", new.quote):
        return True
    if _relations_differ(old, new, own.code) or _differ_twice(old, new):
        return True
    if _number_and_word(old, new):
        return True  # "the rent is 800", "the rent is late"
    if new.content.split()[-1] in own.words["manifold"]:
        return True  # "a morning person", "a dog person"
    if _kind_of(new) in _OF_THINGS and _met(old.content) and _met(new.content):
        return _met(old.content) != _met(new.content)
    if new.turned:
        return False
    values = {one.value for one in (old, new)}
    wide = {value for value in values if value in own.words["countries"]}
    if len(wide) == 1 and len(values) > 1 and _same_opening(old, new):
        return True  # England, and a town in it
    return own.has("beside", old.content) or _set_apart(old, new, own)


def _relations_differ(old: Statement | Known, new: Statement, code: str) -> bool:
    """ "Kim's daughter goes by Liz", "Kim's niece goes by Beth"."""
    found = [_WHOSE.match(one.content) for one in (old, new)]
    kin = tongue(code).kin
    words = [match[1].casefold() for match in found if match and match[1].casefold() in kin]
    return len(words) == len(found) and kin[words[0]].word != kin[words[1]].word


def _differ_twice(old: Statement | Known, new: Statement) -> bool:
    """ "Owes Bob 20", "owes Ann 30": another person, and another sum."""
    sides = [_COUNTED.fullmatch(one.value or "") for one in (old, new)]
    if not sides[0] or not sides[1]:
        return False
    return sides[0]["who"] != sides[1]["who"] and _kind_of(new) == _FRAME


def _number_and_word(old: Statement | Known, new: Statement) -> bool:
    sides = [one.value or "" for one in (old, new)]
    counted = [any(char.isdecimal() for char in side) for side in sides]
    words = [side.isalpha() and side not in _WHATEVER for side in sides]
    return counted[0] != counted[1] and any(words) and _kind_of(new) in _MEASURED


def _met(content: str) -> str | None:
    match = _WITH.search(content)
    return match[1] if match else None


def _same_opening(old: Statement | Known, new: Statement) -> bool:
    """The same subject and verb."""
    words = [one.content.split(None, _OPENING_COUNT)[:_OPENING_COUNT] for one in (old, new)]
    return words[0] == words[1]


def _set_apart(old: Statement | Known, new: Statement, own: Cues) -> bool:
    """One is for work, the other is not."""
    found = [own.patterns["setting"].findall(one.content) for one in (old, new)]
    return bool(found[0]) != bool(found[1]) and _kind_of(new) in _SETTABLE


def _role_passed(old: Statement | Known, new: Statement) -> bool:
    """A role has another holder, or its holder another role."""
    if not new.turned or old.negated:
        return False
    return (old.slot == new.slot) != (old.value == new.value)


def _ended(old: Statement | Known, new: Statement) -> bool:
    thing = new.value if new.slot == _END else (new.slot or "").partition(":")[2]
    if old.negated or not thing or (new.slot != _END and _kind_of(old) not in _LOOSE):
        return False
    named = thing in (old.value, (old.slot or "").partition(":")[2])
    return named or _last_words(old.content, thing)


def _last_words(content: str, value: str) -> bool:
    plain = _plain(_DATED.sub("", content))
    return plain.endswith((f" {value}", f" {value}s"))


def _gained(old: Statement | Known, new: Statement) -> bool:
    """ "Has no car", "has a Fiat"."""
    return old.slot == f"has:{new.slot}" and old.value == "no" and not new.negated


def _swapped(old: Statement | Known, new: Statement) -> bool:
    """Two statements without slots of their own that differ in a word or two before a word that
    tells: "drinks oat milk", and "drinks soy milk" said as a change."""
    loose = _kind_of(old) in _LOOSE and _kind_of(new) in _LOOSE
    if not (loose and new.turned) or old.negated or new.negated:
        return False
    before, after = _plain(old.content).split(), _plain(new.content).split()
    front = _shared(before, after)
    back = _shared(before[front:][::-1], after[front:][::-1])
    changed = max(len(before), len(after)) - front - back
    both = min(len(before), len(after)) > front + back
    telling = any(len(word) >= _TELLING_MIN_CHARS for word in after[len(after) - back :])
    return both and front > 1 and changed <= _SWAPPED_MAX_COUNT and telling


def _one_at_a_time(old: Statement | Known, new: Statement) -> bool:
    """Two statements without slots of their own whose subject and verb are the same, and whose
    verb or noun has one value by its nature: "starts at 9", "starts at 10"."""
    loose = _kind_of(old) in _LOOSE_FRAMES and _kind_of(new) in _LOOSE_FRAMES
    # The cheap question first: this is asked of everything that is known.
    if not loose or not _same_opening(old, new) or old.negated or new.negated:
        return False
    code = guess(f"{old.content} {new.content}")
    tone = Tone(strong=False, weak=new.turned, added=False, corrects=False, done=False)
    before, after = known_gist(old.content, "", code), known_gist(new.content, "", code)
    return same_frame(before, after, tone, cues(code)) is not None


def _happened_twice(old: Statement | Known, new: Statement) -> bool:
    """ "Moved to Norwich in 2008", "moved to Sheffield in 2017": two events, each in its year."""
    years = [_YEAR.search(one.content) for one in (old, new)]
    if new.turned or not (years[0] and years[1]) or years[0][0] == years[1][0]:
        return False
    code = guess(f"{old.content} {new.content}")
    return all(known_gist(one.content, "", code).past for one in (old, new))


def _shared(one: list[str], other: list[str]) -> int:
    """How many words two lists begin with alike."""
    count = 0
    for this, that in zip(one, other, strict=False):
        if this != that:
            break
        count += 1
    return count


def _ends(old: Statement | Known, new: Statement) -> bool:
    """Whether an end speaks of the value that held. Tastes and habits say it as yes and no."""
    if new.value in ("yes", "no"):
        return old.value != new.value
    return old.value is None or old.value == new.value


def _same_subject(old: Statement | Known, new: Statement) -> bool:
    of_thing = _kind_of(new) in _OF_THINGS
    if old.about_speaker or new.about_speaker:
        both = old.about_speaker and new.about_speaker
        return both or (of_thing and not _others(old) and not _others(new))
    if not old.about or not new.about:
        return not old.about and not new.about
    return _same(old.about[0], new.about[0])


def _kind_of(statement: Statement | Known) -> str:
    return (statement.slot or "").split(":", 1)[0]


def _others(statement: Statement | Known) -> bool:
    return bool(statement.about) and not statement.about_speaker


def _same(one: Mention, other: Mention) -> bool:
    """Names count before relations: of two brothers, one is Erik."""
    for this, that in ((one.username, other.username), (one.name, other.name)):
        if this and that:
            return _plain(this) == _plain(that)
    if one.name or other.name or one.username or other.username:
        return False
    return one.relation is not None and one.relation == other.relation


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())
