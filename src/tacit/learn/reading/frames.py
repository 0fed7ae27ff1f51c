"""Open frames: a plain clause that no form knows, read by the class of its verb. It says something
that lasts, comes back or has a day, whatever its object; what passes is refused by class, too."""

from __future__ import annotations

from tacit.learn.reading.days import Days
from tacit.learn.reading.tongue import Tongue
from tacit.learn.reading.wording import MARK, OBJECT_MAX_COUNT, Wording
from tacit.records.memory import Kind


class Predicate(Wording):
    """What is said of somebody, as words: the verb, and what follows it."""

    def __init__(
        self, text: str, when: Days, tongue: Tongue, *, noted: bool, own: bool = False
    ) -> None:
        super().__init__(text, tongue)
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
        if verb in self._listed("verbs_denying") and rest[:1] == [self.tongue.texts["not"]]:
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
        beside = [word for word in rest if not self.tongue.has("manner", word)]
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
        lasts = self.tongue.has("past_lasts", " ".join([verb, *rest]))
        if lasts or (changed and self._object(rest) and not self.when.ahead):
            return Kind.EVENT if self.when.dated else Kind.IDENTITY
        if self.noted and tags and self._weighs(rest):
            return Kind.KNOWLEDGE
        return self._timed(verb, tags, rest) or self._simply(verb, tags, rest)

    def _simply(self, verb: str, tags: frozenset[str], rest: list[str]) -> Kind | None:
        """The plain present of a verb that no class knows says what others do as a rule. Of
        oneself it may be a move of a game, or a step of something that does not work."""
        if tags or self.own or not self.tongue.has("verb_now", verb) or not self._weighs(rest):
            return None
        return None if self.tongue.has("talking", " ".join([verb, *rest])) else self._habitual()

    def _timed(self, verb: str, tags: frozenset[str], rest: list[str]) -> Kind | None:
        """Any verb, where the clause says when."""
        past = any(tag.endswith(":past") for tag in tags) or self.tongue.has("past", verb)
        now = any(tag.endswith(":now") for tag in tags) or self.tongue.has("verb_now", verb)
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
        return (
            self._habitual() if self.tongue.has("narrow", text) else self._timed(verb, tags, rest)
        )

    def _idiom(self, verb: str, rest: list[str]) -> bool:
        if rest[1:] and rest[0] in self._listed("the_all") and rest[1] in self.proper:
            return False  # "reads the Guardian"
        return self.tongue.has("idiom", " ".join([verb, *rest]))

    def _object(self, rest: list[str]) -> bool:
        """A definite thing that nobody named before is one of the talk: "moved the button"."""
        if not self._weighs(rest):
            return False
        definite = rest[0] in self._listed("the_all")
        known = any(word in self._listed("known_things") or word in self.proper for word in rest)
        return self.when.dated or known or not definite

    def _weakly(self, tags: frozenset[str] | set[str], rest: list[str]) -> bool:
        """ "Broke" and "got" say much or little: with a date, or of a thing that lasts."""
        if not {"weak:past", "weak:done"} & tags:
            return False
        return any(
            word in self._listed(name)
            for word in rest
            for name in ("lasting_things", "kin", "pets", "jobs")
        )

    def _needing(self, rest: list[str]) -> Kind | None:
        if self.when.dated and self._weighs(rest):
            return Kind.TASK
        lasting = self.when.weekly or self.tongue.has("need_lasts", " ".join(rest))
        return Kind.IDENTITY if lasting else None

    def _denied(self, rest: list[str]) -> Kind | None:
        if not rest:
            return None
        tags = self._tags(rest[0])
        if "mental:bare" in tags or self._idiom(rest[0], rest[1:]):
            return None
        if rest[0] in self._listed("denied_not"):
            return None  # what nobody had said
        known = {"lasting:bare", "alone:bare", "own:bare"} & tags and "narrow:bare" not in tags
        narrow = "narrow:bare" in tags and self.tongue.has("narrow", " ".join(rest))
        alone = "alone:bare" in tags or len(rest) > 1
        classes = {tag.partition(":")[0] for tag in tags}
        plain = not classes & {"mental", "daily", "narrow", "weak", "event"}
        strange = plain and len(rest) > 1 and not self.tongue.has("talking", " ".join(rest))
        the = len(rest) > 1 and rest[1] in self._listed("the_all")
        over = rest[-1] in self._listed("no_longer") and not the
        lasts = (known and alone) or narrow or strange or over or self.when.weekly
        return Kind.IDENTITY if lasts else None

    def _able(self, rest: list[str]) -> Kind | None:
        denied = rest[:1] == [self.tongue.texts["not"]]
        rest = rest[1:] if denied else rest
        if self.when.ahead:
            return None
        if self.when.weekly and len(rest) > 1:
            return Kind.PREFERENCE
        return Kind.IDENTITY if rest and self.tongue.has("ability", " ".join(rest)) else None

    # -- having

    def _having(self, rest: list[str]) -> Kind | None:
        rest = self._plain(rest)
        if not rest or rest[0] == self.tongue.texts["not"]:
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
        if not rest or (trifling and not self.tongue.has("got_done", " ".join(rest))):
            return None
        if self.when.dated:
            return Kind.TASK
        lasting = self.habit or self.tongue.has("need_lasts", " ".join(rest))
        return Kind.IDENTITY if lasting else None

    def _lasted(self, rest: list[str]) -> Kind | None:
        recent = self.when.weekly or bool(set(rest) & self._listed("lately"))
        ever = bool(self.adverbs & self._listed("habit_adverbs"))
        if self.tongue.has("passing_state", " ".join(rest)):
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
        if self.tongue.has("had_not", " ".join(rest)) or not self._weighs(rest):
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
        if rest[:1] == [self.tongue.texts["not"]]:
            return None  # "I'm not from Texas" denies what somebody said
        if not rest or not self._weighs(rest):
            return None
        text = " ".join(rest)
        if self.tongue.has("passing_state", text):
            return None
        if self.tongue.has("state", text):
            return Kind.IDENTITY
        if self.when.since and rest[-1] in self._listed("kin") | self._listed("someone"):
            return Kind.IDENTITY
        if rest[0] in self._listed("one_of"):
            return Kind.IDENTITY if self._someone(rest) else None
        if now and rest[0].endswith(self.tongue.texts["going"]):
            return self._going(rest)
        if self._done_to(rest):
            return Kind.EVENT if self.when.dated else Kind.IDENTITY
        return self._placed(rest, now=now)

    def _someone(self, rest: list[str]) -> bool:
        """ "A keen beekeeper", "the eldest of three": what somebody is, by the noun."""
        phrase: list[str] = []
        for word in rest[1:]:
            if MARK.fullmatch(word) or word in self._listed("noun_ends"):
                break
            phrase.append(word)
        if not phrase or set(phrase) & self._listed("no_someone"):
            return False
        last = phrase[-1]
        known = last in self._listed("someone") or last in self._listed("jobs")
        return known or self.tongue.has("someone_ends", last)

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
