"""One story of Alice, Bob and the room they share, in words that every surface has. It is told
through each of them, and what each step answers must be the same."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import tacit
from tests.contract.rooms import ALICE, BOB

ALICES_CHAT = tacit.Chat.private(ALICE.key)
BOBS_CHAT = tacit.Chat.private(BOB.key)
THE_GROUP = tacit.Chat.group("telegram:-5", [ALICE, BOB], complete=True)
ALICE_ON_SLACK = tacit.Requester("slack:T1:U9", name="Alice")
ON_SLACK = tacit.Chat.private("slack:T1:U9")

MARRIED = "Sarah is the wife of Alice"
MOVED = "Sarah works in Porto these days"
# Put together here, so that nobody takes it for one of ours.
A_SECRET = "the deploy token is ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@dataclass(frozen=True, slots=True)
class At:
    """Somebody in one chat."""

    who: tacit.Requester
    chat: tacit.Chat


ALONE = At(ALICE, ALICES_CHAT)
TOGETHER = At(ALICE, THE_GROUP)
SLACK = At(ALICE_ON_SLACK, ON_SLACK)
BOB_ALONE = At(BOB, BOBS_CHAT)
BOB_TOGETHER = At(BOB, THE_GROUP)


class Refused(Exception):
    """A surface said no, in these words."""


class Surface(Protocol):
    """What the story needs of a surface. Everything is asked as somebody, in some chat."""

    def add(self, at: At, content: str, category: str, subject: str) -> str:
        """Says the id; Refused where a memory like it is better updated, with its words."""

    def update(self, at: At, id: str, content: str) -> int:
        """Says the version."""

    def put(self, at: At, category: str, key: str, value: str) -> str: ...

    def get(self, at: At, category: str, key: str) -> str | None: ...

    def listed(self, at: At, category: str) -> Sequence[str]: ...

    def forget_key(self, at: At, category: str, key: str) -> int: ...

    def recalled(self, at: At, question: str) -> Sequence[str]:
        """What comes to mind, the strongest first."""

    def block(self, at: At) -> str: ...

    def share(self, at: At, category: str, key: str) -> None:
        """The owner lets a value travel: public_ok, with their own yes."""

    def said(self, at: At, words: str) -> None:
        """The channel hands over what somebody said, and it is learned."""

    def link(self, key: str, account: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Step:
    says: str
    answer: Any


class Telling:
    """Collects what each step answered. Ids are chance, so they go by the order they came in."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.steps: list[Step] = []
        self.ids: dict[str, str] = {}

    def step(self, says: str, act: Callable[[], Any]) -> Any:
        try:
            answer = act()
        except Refused as refusal:
            answer = f"refused: {refusal}"
        self.steps.append(Step(says, self._plain(answer)))
        return answer

    def new(self, says: str, act: Callable[[], str]) -> str:
        id = act()
        self.ids[id] = f"<{len(self.ids) + 1}>"
        self.steps.append(Step(says, self.ids[id]))
        return id

    def _plain(self, answer: Any) -> Any:
        if isinstance(answer, str):
            for id, name in self.ids.items():
                answer = answer.replace(id, name)
            return re.sub(r"\[id:\w{8}\]", "[id:<learned>]", answer)
        return [self._plain(one) for one in answer] if isinstance(answer, list | tuple) else answer


def tell(surface: Surface) -> list[Step]:
    telling = Telling(surface)
    wife = _alices_chat(telling)
    _the_group(telling)
    _bobs_chat(telling, wife)
    _across_channels(telling)
    _a_forgotten_secret(telling)
    return telling.steps


def _alices_chat(telling: Telling) -> str:
    s, step = telling.surface, telling.step
    wife = telling.new("Alice tells who Sarah is", lambda: s.add(ALONE, MARRIED, "person", "Sarah"))
    telling.new("and her time zone", lambda: s.put(ALONE, "profile", "timezone", "Lisbon"))
    step("she asks who Sarah is", lambda: s.recalled(ALONE, "who is Sarah?"))
    step("she asks for her time zone", lambda: s.get(ALONE, "profile", "timezone"))
    step("she lists her profile", lambda: s.listed(ALONE, "profile"))
    step("a model is told about her", lambda: s.block(ALONE))
    step("she says it again", lambda: s.add(ALONE, MARRIED, "person", "Sarah"))
    step("she corrects it", lambda: s.update(ALONE, wife, MOVED))
    step("and hears the correction", lambda: s.recalled(ALONE, "Sarah"))
    return wife


def _the_group(telling: Telling) -> None:
    s, step = telling.surface, telling.step
    step("the group hears nothing yet", lambda: s.recalled(BOB_TOGETHER, "Where does Alice live?"))
    step("not even with her", lambda: s.get(TOGETHER, "profile", "timezone"))
    step("she lets it travel", lambda: s.share(ALONE, "profile", "timezone"))
    step("now she hears it there", lambda: s.get(TOGETHER, "profile", "timezone"))
    step("and Bob not, it is personal", lambda: s.recalled(BOB_TOGETHER, "Lisbon"))
    step("she says in front of him", lambda: s.said(TOGETHER, "Remember that I prefer green tea"))
    step("which he heard", lambda: s.recalled(BOB_TOGETHER, "What does Alice drink? tea"))
    step("and which is listed there", lambda: s.listed(BOB_TOGETHER, "preference"))
    telling.new("she notes in front of Bob", lambda: s.put(TOGETHER, "goal", "boat", "a houseboat"))
    step("which Bob does not hear", lambda: s.recalled(BOB_TOGETHER, "houseboat"))
    step("nor list", lambda: s.listed(BOB_TOGETHER, "goal"))


def _bobs_chat(telling: Telling, wife: str) -> None:
    s, step = telling.surface, telling.step
    step("Bob alone hears nothing of her", lambda: s.recalled(BOB_ALONE, "Sarah Lisbon houseboat"))
    step("but what he heard himself", lambda: s.recalled(BOB_ALONE, "tea"))
    step("no value of hers", lambda: s.get(BOB_ALONE, "profile", "timezone"))
    step("no list", lambda: s.listed(BOB_ALONE, "profile"))
    step("he changes nothing of hers", lambda: s.update(BOB_ALONE, wife, "Sarah is nobody"))
    step("nor what is not there", lambda: s.update(BOB_ALONE, "AAAAAAAA", "Sarah is nobody"))
    telling.new("he says the same words", lambda: s.add(BOB_ALONE, MARRIED, "person", "Sarah"))
    telling.new("he has one, too", lambda: s.put(BOB_ALONE, "profile", "timezone", "Oslo"))
    step("which is his", lambda: s.get(BOB_ALONE, "profile", "timezone"))
    step("and hers is hers", lambda: s.get(ALONE, "profile", "timezone"))


def _across_channels(telling: Telling) -> None:
    s, step = telling.surface, telling.step
    step("on Slack nobody knows her", lambda: s.recalled(SLACK, "Sarah"))
    step("her Telegram is her account", lambda: s.link(ALICE.key, "acct:alice"))
    step("and so is her Slack", lambda: s.link(ALICE_ON_SLACK.key, "acct:alice"))
    step("now she is known there", lambda: s.recalled(SLACK, "Sarah"))
    step("hers, too", lambda: s.get(SLACK, "profile", "timezone"))
    step("Bob is where he was", lambda: s.recalled(BOB_ALONE, "Sarah Porto"))


def _a_forgotten_secret(telling: Telling) -> None:
    s, step = telling.surface, telling.step
    step("a token is refused", lambda: s.put(ALONE, "fact", "token", A_SECRET))
    telling.new("a hiding place is kept", lambda: s.put(SLACK, "fact", "key", "the key is under the fern"))
    step("she finds it", lambda: s.recalled(ALONE, "where is the key?"))
    step("she forgets it", lambda: s.forget_key(ALONE, "fact", "key"))
    step("it has no value", lambda: s.get(SLACK, "fact", "key"))
    step("it does not come to mind", lambda: s.recalled(SLACK, "where is the key?"))
    step("it is on no list", lambda: s.listed(ALONE, "fact"))
    step("nor in the block", lambda: s.block(SLACK))
    step("to forget it again does nothing", lambda: s.forget_key(ALONE, "fact", "key"))
