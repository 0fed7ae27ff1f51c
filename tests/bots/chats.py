"""The people, the rooms, and the ways into them that the stories of tests/bots happen in.

A story is told to a `Driver`: to the bot itself, or through a channel as the world would.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import tacit
from tacit.bots.bot import Bot
from tacit.memory import Memory, View
from tacit.settings import ChatSettings, ConsoleSettings, Settings
from tacit.settings.sections import LearnSettings
from tests.bots.scripted import Answering, Prompt, ScriptedModel
from tests.contract.rooms import SetClock


@dataclass(frozen=True)
class Person:
    name: str
    number: int


@dataclass(frozen=True)
class Room:
    name: str
    number: int
    of: Person | None = None  # whose private chat with the bot it is; None: a group


ALICE, BOB, CAROL = Person("Alice", 1001), Person("Bob", 2002), Person("Carol", 3003)
CONSOLE = ConsoleSettings(url="https://memory.example.org")
TEAM, FAMILY = Room("team", 100), Room("family", 200)


def alone(who: Person) -> Room:
    return Room(f"{who.name} alone", who.number, who)


@dataclass(frozen=True)
class Shown:
    """One thing that a channel was told to show, as a person reads it there."""

    room: Room
    text: str
    buttons: tuple[str, ...] = ()  # their labels
    file: str | None = None  # the text of an attached one
    ref: object = None  # the driver's own: enough to press a button


@dataclass(frozen=True)
class Told:
    """A message that somebody sent, and what was shown after it."""

    who: Person
    room: Room
    message: str  # the channel's id of it
    shown: tuple[Shown, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(one.text for one in self.shown)


@dataclass
class Stage:
    """What is behind a bot: opened for one story, on one database."""

    memory: Memory
    settings: Settings
    clock: SetClock
    model: ScriptedModel | None

    def settle(self) -> None:
        """What was said is learned, and time goes on."""
        self.memory.jobs.wait_for_learning(20)
        self.clock.forward(seconds=1)

    @property
    def prompts(self) -> list[Prompt]:
        return self.model.prompts if self.model else []


class Driver(Protocol):
    """Each call returns when the update is done with, and what it taught is learned."""

    stage: Stage
    can_delete: bool  # whether the channel tells of deleted messages

    def requester(self, who: Person) -> tacit.Requester: ...

    def typed(self, command: str) -> str:
        """As people type it there."""
        ...

    def makes_admin(self, who: Person, room: Room) -> None: ...

    def chat(self, room: Room) -> tacit.Chat: ...

    def say(
        self,
        who: Person,
        room: Room,
        text: str,
        *,
        to_bot: bool = True,  # False: group chatter
        forwarded_from: str | None = None,  # all of it was written by somebody of that name
        quoting: str | None = None,  # it answers to this, which somebody elsewhere wrote
    ) -> Told: ...

    def edit(self, told: Told, text: str, *, to_bot: bool = True) -> Told: ...

    def delete(self, told: Told) -> None: ...

    def press(self, who: Person, shown: Shown, label: str) -> tuple[Shown, ...]: ...

    def join(self, who: Person, room: Room) -> None: ...

    def leave(self, who: Person, room: Room) -> None: ...


@dataclass(frozen=True)
class Scenario:
    """A story with everything that it needs."""

    name: str
    play: Callable[[Driver], None]
    answer: Answering | None  # what the model says; None: there is no model
    learn: Callable[[Mapping[str, Any]], object] | None = None  # what it reads in what was said
    chat: ChatSettings = field(default_factory=ChatSettings)


@contextmanager
def staged(url: str, scenario: Scenario) -> Iterator[Stage]:
    how, clock = scenario.chat, SetClock()
    learn = LearnSettings(workers=0, debounce_seconds=0, confirm=how.confirm)
    with ExitStack() as open_ones:
        model = None
        settings = Settings(learn=learn, chat=how, console=CONSOLE)
        if scenario.answer is not None:
            model = open_ones.enter_context(ScriptedModel(scenario.answer))
            model.learn = scenario.learn or model.learn
            settings = replace(settings, language=model.settings)
        memory = tacit.open(url, settings=settings, clock=clock, embedder=None)
        open_ones.enter_context(memory)
        yield Stage(memory, settings, clock, model)


def bot_of(stage: Stage) -> Bot:
    settings = stage.settings
    return Bot(stage.memory, settings.chat, stage.clock, console=settings.console)


def view(driver: Driver, who: Person, room: Room | None = None) -> View:
    """Memory as somebody may use it in a room; without one, in their own private chat."""
    found = driver.stage.memory.view(driver.requester(who), driver.chat(room or alone(who)))
    assert isinstance(found, View)
    return found


def remembered(driver: Driver, who: Person, room: Room | None = None) -> list[str]:
    return sorted(one.content for one in view(driver, who, room).list())


def waiting(driver: Driver, who: Person, room: Room | None = None) -> list[str]:
    return sorted(one.content for one in view(driver, who, room).proposals.list())


@dataclass
class Listening:
    """A driver whose every prompt is kept, with the room and the person that it was made for."""

    driver: Driver
    prompts: list[tuple[Room, Person, Prompt]] = field(default_factory=list)
    learned: list[tuple[Room, Person, Prompt]] = field(default_factory=list)  # what learning asked

    def say(self, who: Person, room: Room, text: str, *, to_bot: bool = True) -> list[Prompt]:
        """The prompts that came of it."""
        model = self.driver.stage.model
        assert model is not None
        before, asked = len(model.prompts), len(model.asked)
        self.driver.say(who, room, text, to_bot=to_bot)
        new = model.prompts[before:]
        assert bool(new) == to_bot, "whoever speaks to the bot is answered, and nobody else"
        self.prompts += [(room, who, one) for one in new]
        self.learned += [(room, who, one) for one in model.asked[asked:]]
        return new

    def of(self, *rooms: Room, who: Person | None = None) -> list[Prompt]:
        return [one for room, by, one in self.prompts if room in rooms and who in (None, by)]

    def learned_in(self, *rooms: Room) -> list[Prompt]:
        return [one for room, _, one in self.learned if room in rooms]
