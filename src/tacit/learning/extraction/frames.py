"""Read clauses that match no form by the class of their verb."""

from __future__ import annotations

import re

from tacit.learning.extraction.locale import Locale
from tacit.learning.extraction.mentions import ClauseTiming
from tacit.records.memory import Kind

# The words of a clause and the lists that they are looked up in: what open frames share.

OBJECT_MAX_COUNT = 24  # words
MARK = re.compile(r"⟦[dt]\d⟧")
_TOKEN = re.compile(r"⟦[dt]\d⟧|[^\s,]+")


class ClauseWords:
    """A clause, or what follows its subject, as words in lower case."""

    def __init__(self, text: str, locale: Locale) -> None:
        self.locale = locale
        found = [word.strip("'.") for word in _TOKEN.findall(text)]
        self.words = [word.lower() for word in found]
        capital = locale.texts["names"] == "capital"
        self.proper = {word.lower() for word in found if capital and word[:1].isupper()}

    def _listed(self, name: str) -> frozenset[str]:
        return self.locale.words[name]

    def _tags(self, word: str) -> frozenset[str]:
        return self.locale.frames.get(word, frozenset())

    def _adverb(self, word: str) -> bool:
        return word in self._listed("adverbs") or self.locale.has("manner", word)

    def _vague(self, words: list[str]) -> bool:
        """Whether it is left open what is meant, or is about the talk itself."""
        never, talk = self._listed("open_never"), self._listed("open_talk")
        return any(word in never or word in talk for word in words)

    def _weighs(self, rest: list[str]) -> bool:
        """Whether anything is said beside the dates."""
        return any(not MARK.fullmatch(word) for word in rest)


# Open frames: a plain clause that no form knows, read by the class of its verb. It says something
# that lasts, comes back or has a day, whatever its object; what passes is refused by class, too.


class VerbPhrase(ClauseWords):
    """What is said of a person, as words: the verb, and what follows it."""

    def __init__(self, text: str, when: ClauseTiming, locale: Locale, *, noted: bool, own: bool = False) -> None:
        super().__init__(text, locale)
        self.when, self.noted, self.own = when, noted, own
        self.adverbs: set[str] = set()
        self.habit = False

    def kind(self) -> Kind | None:
        """What the predicate states; None where it passes, or cannot be told."""
        words = self._plain(self.words)
        self.habit = self.when.weekly or self._by_habit()
        if not words or len(words) > OBJECT_MAX_COUNT or self._vague(words):
            return None
        return self._of(words[0], words[1:])

    def _plain(self, words: list[str]) -> list[str]:
        """Words without the adverbs that they open with."""
        while words and self._adverb(words[0]):
            self.adverbs.add(words[0])
            words = words[1:]
        return words

    def _of(self, verb: str, rest: list[str]) -> Kind | None:
        if verb in self._listed("verbs_being"):
            return self._being(rest, now=verb in self._listed("verbs_being_now"))
        if verb in self._listed("verbs_having"):
            return self._having(rest)
        if verb in self._listed("verbs_denying") and rest[:1] == [self.locale.texts["not"]]:
            return self._denied(self._plain(rest[1:]))
        if verb in self._listed("verbs_able"):
            return self._able(self._plain(rest))
        if verb in self._listed("verbs_to_come"):
            return Kind.EVENT if self.when.ahead and self._weighs(self._planned(rest)) else None
        if verb in self._listed("verbs_needing"):
            return self._needing(rest)
        return self._acting(verb, rest)

    def _planned(self, rest: list[str]) -> list[str]:
        """ "I'll take Monday" chooses a day, and plans nothing."""
        return rest[1:] if rest and rest[0] in self._listed("choosing") else rest

    def _says(self, rest: list[str]) -> bool:
        """Whether more than a manner is said: "drives carefully" tells nothing."""
        beside = [word for word in rest if not self.locale.has("manner", word)]
        alone = set(beside) <= self._listed("where") | self._listed("noun_ends")
        return (self._weighs(beside) and not alone) or self.when.weekly or self.when.hour

    # -- verbs

    def _acting(self, verb: str, rest: list[str]) -> Kind | None:
        tags = self._tags(verb)
        if "mental:now" in tags or "mental:past" in tags:
            return None
        if self._idiom(verb, rest):
            return None
        if "lasting:now" in tags and (self._says(rest) or "alone:now" in tags):
            return self._habitual()
        if "alone:now" in tags or "narrow:now" in tags:
            return self._narrow(verb, rest, tags)
        if "alone_event:past" in tags and self.when.dated:
            return Kind.EVENT
        changed = "event:past" in tags or self._weakly(tags, rest)
        lasts = self.locale.has("past_lasts", " ".join([verb, *rest]))
        if lasts or (changed and self._object(rest) and not self.when.ahead):
            return Kind.EVENT if self.when.dated else Kind.IDENTITY
        if self.noted and tags and self._weighs(rest):
            return Kind.KNOWLEDGE
        return self._timed(verb, tags, rest) or self._simply(verb, tags, rest)

    def _simply(self, verb: str, tags: frozenset[str], rest: list[str]) -> Kind | None:
        """The plain present of a verb that no class knows says what others do as a rule. Of
        oneself it may be a move of a game, or a step of something that does not work."""
        if tags or self.own or not self.locale.has("verb_now", verb) or not self._weighs(rest):
            return None
        return None if self.locale.has("talking", " ".join([verb, *rest])) else self._habitual()

    def _timed(self, verb: str, tags: frozenset[str], rest: list[str]) -> Kind | None:
        """Any verb, where the clause says when."""
        past = any(tag.endswith(":past") for tag in tags) or self.locale.has("past", verb)
        now = any(tag.endswith(":now") for tag in tags) or self.locale.has("verb_now", verb)
        if self.habit and now and not past and (self.when.weekly or self._weighs(rest)):
            return self._habitual()
        if self.when.ahead and now and not past:
            return Kind.EVENT
        if self.when.behind and past and "daily:past" not in tags and self._weighs(rest):
            return Kind.EVENT
        return None

    def _habitual(self) -> Kind:
        if self.when.ahead:
            return Kind.EVENT
        return Kind.PREFERENCE if self._by_habit() else Kind.IDENTITY

    def _by_habit(self) -> bool:
        return bool(self.adverbs & self._listed("habit_adverbs"))

    def _narrow(self, verb: str, rest: list[str], tags: frozenset[str]) -> Kind | None:
        """Verbs that say much or nothing, by what follows: "gets migraines", "goes to …"."""
        if "alone:now" in tags and not rest:
            return self._habitual()
        text = " ".join([verb, *rest])
        return self._habitual() if self.locale.has("narrow", text) else self._timed(verb, tags, rest)

    def _idiom(self, verb: str, rest: list[str]) -> bool:
        if rest[1:] and rest[0] in self._listed("the_all") and rest[1] in self.proper:
            return False  # "reads the Guardian"
        return self.locale.has("idiom", " ".join([verb, *rest]))

    def _object(self, rest: list[str]) -> bool:
        """Whether a definite thing was not mentioned before: "moved the button"."""
        if not self._weighs(rest):
            return False
        definite = rest[0] in self._listed("the_all")
        known = any(word in self._listed("known_things") or word in self.proper for word in rest)
        return self.when.dated or known or not definite

    def _weakly(self, tags: frozenset[str] | set[str], rest: list[str]) -> bool:
        """ "Broke" and "got" say much or little: with a date, or of a thing that lasts."""
        if not {"weak:past", "weak:done"} & tags:
            return False
        return any(word in self._listed(name) for word in rest for name in ("lasting_things", "kin", "pets", "jobs"))

    def _needing(self, rest: list[str]) -> Kind | None:
        if self.when.dated and self._weighs(rest):
            return Kind.TASK
        lasting = self.when.weekly or self.locale.has("need_lasts", " ".join(rest))
        return Kind.IDENTITY if lasting else None

    def _denied(self, rest: list[str]) -> Kind | None:
        if not rest:
            return None
        tags = self._tags(rest[0])
        if "mental:bare" in tags or self._idiom(rest[0], rest[1:]):
            return None
        if rest[0] in self._listed("denied_not"):
            return None  # not said before
        known = {"lasting:bare", "alone:bare", "own:bare"} & tags and "narrow:bare" not in tags
        narrow = "narrow:bare" in tags and self.locale.has("narrow", " ".join(rest))
        alone = "alone:bare" in tags or len(rest) > 1
        classes = {tag.partition(":")[0] for tag in tags}
        plain = not classes & {"mental", "daily", "narrow", "weak", "event"}
        strange = plain and len(rest) > 1 and not self.locale.has("talking", " ".join(rest))
        the = len(rest) > 1 and rest[1] in self._listed("the_all")
        over = rest[-1] in self._listed("no_longer") and not the
        lasts = (known and alone) or narrow or strange or over or self.when.weekly
        return Kind.IDENTITY if lasts else None

    def _able(self, rest: list[str]) -> Kind | None:
        denied = rest[:1] == [self.locale.texts["not"]]
        rest = rest[1:] if denied else rest
        if self.when.ahead:
            return None
        if self.when.weekly and len(rest) > 1:
            return Kind.PREFERENCE
        return Kind.IDENTITY if rest and self.locale.has("ability", " ".join(rest)) else None

    # -- having

    def _having(self, rest: list[str]) -> Kind | None:
        rest = self._plain(rest)
        if not rest or rest[0] == self.locale.texts["not"]:
            return None
        if rest[0] in self._listed("to"):
            return self._bound(rest[1:])
        done = {tag for word in (rest[0], rest[-1]) for tag in self._tags(word)}
        if rest[0] in self._listed("been"):
            return self._lasted(rest[1:])
        if any(tag.endswith(":done") for tag in done):
            return self._done(rest, done)
        return self._possessed(rest)

    def _bound(self, rest: list[str]) -> Kind | None:
        trifling = bool(rest) and rest[0] in self._listed("deeds_not_kept")
        if not rest or (trifling and not self.locale.has("got_done", " ".join(rest))):
            return None
        if self.when.dated:
            return Kind.TASK
        lasting = self.habit or self.locale.has("need_lasts", " ".join(rest))
        return Kind.IDENTITY if lasting else None

    def _lasted(self, rest: list[str]) -> Kind | None:
        recent = self.when.weekly or bool(set(rest) & self._listed("lately"))
        ever = bool(self.adverbs & self._listed("habit_adverbs"))
        if self.locale.has("passing_state", " ".join(rest)):
            return None
        if (self.when.since or recent or ever) and self._weighs(rest):
            return Kind.IDENTITY
        return self._being(rest, now=False)

    def _done(self, rest: list[str], tags: set[str]) -> Kind | None:
        if "mental:done" in tags:
            return None
        began = bool(set(rest) & self._listed("backward"))
        lasting = self.when.since or self.habit or began
        if lasting and len(rest) > 1:
            return Kind.IDENTITY
        changed = "event:done" in tags or self._weakly(tags, rest)
        if changed and self._object(rest[1:] or rest[:-1]):
            return Kind.EVENT if self.when.dated else Kind.IDENTITY
        return None

    def _possessed(self, rest: list[str]) -> Kind | None:
        if self.locale.has("had_not", " ".join(rest)) or not self._weighs(rest):
            return None
        if all(word in self._listed("numbers") or word.isdecimal() for word in rest):
            return None  # "we have two": of what was said before
        if self.when.ahead:
            return Kind.EVENT
        if self.when.hour and not self.when.weekly:
            return None  # "class at 9" is today's
        return Kind.PREFERENCE if self._by_habit() else Kind.IDENTITY

    # -- being

    def _being(self, rest: list[str], *, now: bool) -> Kind | None:
        rest = self._plain(rest)
        if rest[:1] == [self.locale.texts["not"]]:
            return None  # "I'm not from Texas" denies what a person said
        if not rest or not self._weighs(rest):
            return None
        text = " ".join(rest)
        if self.locale.has("passing_state", text):
            return None
        if self.locale.has("state", text):
            return Kind.IDENTITY
        if self.when.since and rest[-1] in self._listed("kin") | self._listed("someone"):
            return Kind.IDENTITY
        if rest[0] in self._listed("one_of"):
            return Kind.IDENTITY if self._someone(rest) else None
        if now and rest[0].endswith(self.locale.texts["going"]):
            return self._going(rest)
        if self._done_to(rest):
            return Kind.EVENT if self.when.dated else Kind.IDENTITY
        return self._placed(rest, now=now)

    def _someone(self, rest: list[str]) -> bool:
        """ "A keen beekeeper", "the eldest of three": what a person is, by the noun."""
        phrase: list[str] = []
        for word in rest[1:]:
            if MARK.fullmatch(word) or word in self._listed("noun_ends"):
                break
            phrase.append(word)
        if not phrase or set(phrase) & self._listed("no_someone"):
            return False
        last = phrase[-1]
        known = last in self._listed("someone") or last in self._listed("jobs")
        return known or self.locale.has("someone_ends", last)

    def _going(self, rest: list[str]) -> Kind | None:
        tags = self._tags(rest[0])
        if self.when.ahead and "mental:going" not in tags:
            return None if set(rest) & self._listed("trivial") else Kind.EVENT
        lasting = bool(self.adverbs & self._listed("lately")) or "ongoing:going" in tags
        alone = "alone_event:going" in tags
        if not lasting or (len(rest) < 2 and not alone) or self._idiom(rest[0], rest[1:]):
            return None
        return Kind.IDENTITY if "lasting:going" in tags else Kind.CONTEXT

    def _done_to(self, rest: list[str]) -> bool:
        tags = self._tags(rest[0]) | self._tags(rest[-1])
        if "done_to:done" not in tags:
            return False
        return len(rest) > 1 or self.when.dated or self.noted

    def _placed(self, rest: list[str], *, now: bool) -> Kind | None:
        if (self.when.ahead or (self.when.stay and not now)) and rest[0] in self._listed("where"):
            return Kind.EVENT
        return Kind.IDENTITY if self.when.weekly and rest[0] in self._listed("where") else None


# Open frames of things: "the spare fuses are in the drawer", "our dog only eats wet food".

_NAMED_MAX_COUNT = 6  # words of a thing
# Lists of what a home or a group has.
_OURS = (*("household", "shared_things", "organisations", "purchases"), *("vehicles", "pets", "known_things"))


class ThingClause(ClauseWords):
    """A clause about a thing: which one, the verb, and what is said of it."""

    def __init__(self, text: str, when: ClauseTiming, locale: Locale, *, owned: bool, noted: bool) -> None:
        super().__init__(text, locale)
        self.when, self.owned, self.noted = when, owned, noted
        self.definite = owned or self._begins("definite")
        self.shared = False  # of a home or a group, and meant without an article

    def kind(self) -> Kind | None:
        if len(self.words) > OBJECT_MAX_COUNT or self._vague(self.words):
            return None
        at = self._verb()
        if at is None or self._begins("thing_never_first") or not self._nameable(self.words[:at]):
            return None
        verb, rest = self.words[at], self._plain(self.words[at + 1 :])
        self.shared = not self.definite and self._shared(at)
        if not (self.definite or self.shared) and not self.noted:
            return self._scheduled(verb, rest)
        if self._resting(at, verb, rest) or not self._ours(at):
            return None
        if self.locale.has("thing_passes", " ".join([verb, *rest])):
            return None
        if verb in self._listed("verbs_being"):
            return self._being(verb, rest)
        return self._acting(verb, rest)

    def _shared(self, at: int) -> bool:
        """ "Spare key is in the drawer": the noun that a thing is named by says which one."""
        named = self.words[:at]
        if any(word in self._listed("shared_things") for word in named):
            return True
        # What lies somewhere in the house, as long as it stays there.
        rest = self.words[at + 1 :]
        there = bool(rest) and self.locale.has("thing_is_there", " ".join(rest))
        passing = self._listed("perishables") | self._listed("no_things") | self._listed("pets")
        home = any(word in self._listed("household") for word in rest)
        return there and home and not set(named) & passing

    def _resting(self, at: int, verb: str, rest: list[str]) -> bool:
        """Who lives does not stay where they are: "the cat is on the keyboard"."""
        alive = set(self.words[:at]) & (self._listed("pets") | self._listed("restless"))
        where = verb in self._listed("verbs_being") and rest[:1] and rest[0] in self._listed("where")
        return bool(alive and where) and not (self.owned or self.when.dated)

    def _ours(self, at: int) -> bool:
        """A thing of a home or a group, or one that has a day: any other is one of the talk."""
        if self.owned or self.noted or self.shared or self._timed() or self.when.hour:
            return True
        named = self.words[:at]
        if any(word in self._listed(name) for word in named for name in _OURS):
            return True
        return self.words[at] in self._listed("verbs_being")

    def _begins(self, name: str) -> bool:
        return bool(self.words) and self.words[0] in self._listed(name)

    def _plain(self, words: list[str]) -> list[str]:
        while words and words[0] in self._listed("adverbs"):
            words = words[1:]
        return words

    def _verb(self) -> int | None:
        """Where the verb stands: the first that can be nothing else, or one that follows many."""
        start = 1 if self.owned else 2 if self._begins("definite") else 1
        for at in range(start, min(len(self.words), _NAMED_MAX_COUNT + start)):
            word, before = self.words[at], self.words[at - 1]
            if word in self._listed("verbs_being") or word in self._listed("verbs_having"):
                return at
            if self.words[at + 1 : at + 2] and self.words[at + 1] in self._listed("verbs_being"):
                continue  # "prod deploys are slow": what may be a verb is none here
            tags = self._tags(word)
            plural = self._many(at) or (before.endswith("s") and not before.endswith("ss"))
            sure = "thing:now" in tags and not (plural and at + 1 == len(self.words))
            if sure or (plural and "thing:bare" in tags):
                return at
            if self.owned and not plural and {"lasting:now", "alone:now"} & tags:
                return at
            if word in self._listed("verbs_of_things") or "thing:past" in tags:
                return at
            if word in self._listed("verbs_helping"):
                return at if self.noted or self._timed() else None
            if self.noted and self.locale.has("verb_now", word) and at + 1 < len(self.words):
                return at
        return self._plainly(start)

    def _plainly(self, start: int) -> int | None:
        """The verb of a shared thing that no class knows: "staging mirrors the live data"."""
        for at in range(start, min(len(self.words) - 1, start + 2)):
            word, before = self.words[at], self.words[at - 1]
            known = before in self._listed("shared_things") and not before.endswith("s")
            if known and self.locale.has("verb_now", word):
                return at
        return None

    def _many(self, at: int) -> bool:
        """Whether the noun that a thing is named by says more than one: "the keys to the shed"."""
        named = self.words[:at]
        ends = [i for i, word in enumerate(named) if i and word in self._listed("noun_ends")]
        head = named[ends[0] - 1] if ends else named[-1]
        return head.endswith("s") and not head.endswith("ss")

    def _nameable(self, name: list[str]) -> bool:
        if not name or any(MARK.fullmatch(word) for word in name[:1]):
            return False
        name = [word for word in name if word not in self._listed("adverbs")]
        if any(word in self._listed("secret_things") for word in name):
            return False
        return self._timed() or not any(word in self._listed("no_things") for word in name)

    def _timed(self) -> bool:
        return self.when.ahead or self.when.weekly

    def _scheduled(self, verb: str, rest: list[str]) -> Kind | None:
        """A thing without an article, where it has a day: "choir starts on 3 September"."""
        tags = self._tags(verb)
        timely = "schedule:now" in tags or "schedule:past" in tags or "schedule:bare" in tags
        being = verb in self._listed("verbs_being") and all(map(MARK.fullmatch, rest[:1]))
        if not (timely or being) or not self._timed():
            return None
        return Kind.EVENT if self.when.ahead else Kind.KNOWLEDGE

    def _acting(self, verb: str, rest: list[str]) -> Kind | None:
        if self.when.behind and not self.when.since:
            return Kind.EVENT if self._weighs(rest) or self.owned else None
        past = not any(tag.endswith((":now", ":bare")) for tag in self._tags(verb))
        plain = self._listed("verbs_of_things") | self._listed("verbs_helping")
        if past and verb not in plain | self._listed("verbs_having") and not self.noted:
            moved = "schedule:past" in self._tags(verb) and self._timed()
            if not moved and not ("event:past" in self._tags(verb) and self.owned):
                return None
        if verb in self._listed("verbs_having") and self.locale.has("had_not", " ".join(rest)):
            return None
        if not rest and not (self.owned or self.noted):
            return None
        if self.locale.has("befell", verb) and not (self.noted or self._timed()):
            return None  # "got delayed" is today's
        if self.locale.has("past_lasts", " ".join([verb, *rest])):
            return Kind.KNOWLEDGE
        return Kind.EVENT if self.when.ahead else Kind.KNOWLEDGE

    def _named(self, rest: list[str]) -> bool:
        """A name, with or without an article: "our hotel is the Excelsior"."""
        bare = rest[1:] if rest[0] in self._listed("articles") else rest
        return bool(bare) and bare[0] in self.proper

    def _fails(self, said: str) -> bool:
        if self.noted or any(word in self._listed("appliances") for word in self.words):
            return False
        shared = self.shared and self.locale.has("shared_passes", said)
        return shared or self.locale.has("thing_fails", said)

    def _being(self, verb: str, rest: list[str]) -> Kind | None:
        denied = rest[:1] == [self.locale.texts["not"]]
        rest = self._plain(rest[1:]) if denied else rest
        if not rest:
            return None
        if self._fails(" ".join(rest)):
            return None
        if MARK.fullmatch(rest[0]):
            timed = self._timed() or self.when.hour or self.when.since or self.owned
            return (Kind.EVENT if self.when.ahead else Kind.KNOWLEDGE) if timed else None
        if self._timed() and self.locale.has("thing_timed", " ".join(rest)):
            return Kind.EVENT if self.when.ahead else Kind.KNOWLEDGE
        if self.owned and self._named(rest):
            return Kind.KNOWLEDGE
        if verb not in self._listed("verbs_being_now"):
            return Kind.EVENT if self.when.dated and self.locale.has("thing_done", rest[0]) else None
        text = " ".join(rest)
        household = any(word in self._listed("household") for word in self.words)
        near = self.owned or self.noted or self.shared or household
        if self.locale.has("thing_is" if near else "thing_is_there", text) or (self.noted and not denied):
            return Kind.CONTEXT if self.locale.has("thing_fails", text) else Kind.KNOWLEDGE
        if self.owned:
            said = " ".join([verb, *rest])
            return VerbPhrase(said, self.when, self.locale, noted=self.noted).kind()
        return None
