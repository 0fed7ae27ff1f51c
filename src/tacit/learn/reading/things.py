"""Open frames of things: "the spare fuses are in the drawer", "our dog only eats wet food"."""

from __future__ import annotations

from tacit.learn.reading.days import Days
from tacit.learn.reading.frames import Predicate
from tacit.learn.reading.tongue import Tongue
from tacit.learn.reading.wording import MARK, OBJECT_MAX_COUNT, Wording
from tacit.records.memory import Kind

_NAMED_MAX_COUNT = 6  # words of a thing
# Lists of what a home or a group has.
_OURS = (
    *("household", "shared_things", "organisations", "purchases"),
    *("vehicles", "pets", "known_things"),
)


class Thing(Wording):
    """A clause about a thing: which one, the verb, and what is said of it."""

    def __init__(self, text: str, when: Days, tongue: Tongue, *, owned: bool, noted: bool) -> None:
        super().__init__(text, tongue)
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
        if self.tongue.has("thing_passes", " ".join([verb, *rest])):
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
        there = bool(rest) and self.tongue.has("thing_is_there", " ".join(rest))
        passing = self._listed("perishables") | self._listed("no_things") | self._listed("pets")
        home = any(word in self._listed("household") for word in rest)
        return there and home and not set(named) & passing

    def _resting(self, at: int, verb: str, rest: list[str]) -> bool:
        """Who lives does not stay where they are: "the cat is on the keyboard"."""
        alive = set(self.words[:at]) & (self._listed("pets") | self._listed("restless"))
        where = (
            verb in self._listed("verbs_being") and rest[:1] and rest[0] in self._listed("where")
        )
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
            if self.noted and self.tongue.has("verb_now", word) and at + 1 < len(self.words):
                return at
        return self._plainly(start)

    def _plainly(self, start: int) -> int | None:
        """The verb of a shared thing that no class knows: "staging mirrors the live data"."""
        for at in range(start, min(len(self.words) - 1, start + 2)):
            word, before = self.words[at], self.words[at - 1]
            known = before in self._listed("shared_things") and not before.endswith("s")
            if known and self.tongue.has("verb_now", word):
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
        if verb in self._listed("verbs_having") and self.tongue.has("had_not", " ".join(rest)):
            return None
        if not rest and not (self.owned or self.noted):
            return None
        if self.tongue.has("befell", verb) and not (self.noted or self._timed()):
            return None  # "got delayed" is today's
        if self.tongue.has("past_lasts", " ".join([verb, *rest])):
            return Kind.KNOWLEDGE
        return Kind.EVENT if self.when.ahead else Kind.KNOWLEDGE

    def _named(self, rest: list[str]) -> bool:
        """A name, with or without an article: "our hotel is the Excelsior"."""
        bare = rest[1:] if rest[0] in self._listed("articles") else rest
        return bool(bare) and bare[0] in self.proper

    def _fails(self, said: str) -> bool:
        if self.noted or any(word in self._listed("appliances") for word in self.words):
            return False
        shared = self.shared and self.tongue.has("shared_passes", said)
        return shared or self.tongue.has("thing_fails", said)

    def _being(self, verb: str, rest: list[str]) -> Kind | None:
        denied = rest[:1] == [self.tongue.texts["not"]]
        rest = self._plain(rest[1:]) if denied else rest
        if not rest:
            return None
        if self._fails(" ".join(rest)):
            return None
        if MARK.fullmatch(rest[0]):
            timed = self._timed() or self.when.hour or self.when.since or self.owned
            return (Kind.EVENT if self.when.ahead else Kind.KNOWLEDGE) if timed else None
        if self._timed() and self.tongue.has("thing_timed", " ".join(rest)):
            return Kind.EVENT if self.when.ahead else Kind.KNOWLEDGE
        if self.owned and self._named(rest):
            return Kind.KNOWLEDGE
        if verb not in self._listed("verbs_being_now"):
            return (
                Kind.EVENT if self.when.dated and self.tongue.has("thing_done", rest[0]) else None
            )
        text = " ".join(rest)
        household = any(word in self._listed("household") for word in self.words)
        near = self.owned or self.noted or self.shared or household
        if self.tongue.has("thing_is" if near else "thing_is_there", text) or (
            self.noted and not denied
        ):
            return Kind.CONTEXT if self.tongue.has("thing_fails", text) else Kind.KNOWLEDGE
        if self.owned:
            said = " ".join([verb, *rest])
            return Predicate(said, self.when, self.tongue, noted=self.noted).kind()
        return None
