r"""Dialogues with the bot, as text files tell them, and the driver that plays them.

== the title of a dialogue | one word; another       it is played with each of them as {word}
alice: what she writes to the bot                    alice@team: in the group, which bob reads
alice~team: not to the bot                           alice presses Undo: the newest button of that name
= the whole answer, or nothing                       + a part, - what it has not, ^ its start
buttons: All | None                                  of the message that was shown last
alice has: one memory | another                      alice waits: what needs her yes
alice knows (name): what is stored beforehand        ... category/key: value. {name} is its id
    alice updates (name): what it says now               alice forgets: a category
alice tells 3: so many of the facts below, each of them in a message
restart, forward 8 days, alice joins
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.bots.chats import ALICE, BOB, TEAM, Driver, Person, Room, Shown, alone, bot_of, remembered, view, waiting
from tests.bots.local_driver import LocalDriver

PEOPLE = {"alice": ALICE, "bob": BOB}
FACTS = {
    "I have a cat called Miso": "Alice has a cat called Miso",
    "I live in Lisbon": "Alice lives in Lisbon",
    "I work at ACME as a designer": "Alice works at ACME as a designer",
    "My brother Tom lives in Porto": "Alice's brother Tom lives in Porto",
    "I am allergic to peanuts": "Alice is allergic to peanuts",
    "I have a dog called Rex": "Alice has a dog called Rex",
    "I play the cello": "Alice plays the cello",
}
SAID, KNOWN = list(FACTS), list(FACTS.values())
_STEP = re.compile(
    r"(?P<who>alice|bob)(?P<where>[@~]team)?"
    r"(?: (?P<verb>has|waits|tells|presses|joins|knows|updates|forgets)(?: \((?P<name>\w+)\))?"
    r"(?: (?P<category>\w+)/(?P<key>\w+))?)?(?::? ?(?P<text>.*))"
)


@dataclass(frozen=True)
class Dialogue:
    title: str
    lines: tuple[str, ...]


def read_dialogues(path: Path) -> Iterator[Dialogue]:
    """One for each word of a title: `{word}` in its lines."""
    for block in path.read_text("utf-8").split("== ")[1:]:
        head, *lines = block.splitlines()
        title, _, words = head.partition(" | ")
        own = tuple(line for line in lines if line.strip())
        for word in words.split("; "):
            told = tuple(line.replace("{word}", word) for line in own)
            yield Dialogue(f"{title}: {word}" if word else title, told)


@dataclass
class Player:
    driver: Driver
    history: list[Shown] = field(default_factory=list)
    shown: tuple[Shown, ...] = ()  # of these the last ones
    ids: dict[str, str] = field(default_factory=dict)

    def play(self, dialogue: Dialogue) -> None:
        for line in dialogue.lines:
            self.history += self.shown
            self._step(re.sub(r"\{(\w+)\}", lambda found: self.ids[found[1]], line))

    @property
    def text(self) -> str:
        return "\n".join(one.text for one in self.shown).replace("\n", "\\n")

    def _step(self, line: str) -> None:
        mark, _, text = line.partition(" ")
        wrong = f"{line}, but it says: {self.text}"
        match mark:
            case "=":
                assert self.text == ("" if text == "nothing" else text), wrong
            case "+":
                assert text in self.text, wrong
            case "-":
                assert text not in self.text, wrong
            case "^":
                assert self.text.startswith(text), wrong
            case "buttons:":
                assert " | ".join(self.shown[-1].buttons) == text
            case "restart":
                assert isinstance(self.driver, LocalDriver)
                self.driver.bot = bot_of(self.driver.stage)
            case "forward":
                self.driver.stage.clock.forward(days=float(text.removesuffix(" days")))
            case _:
                self._act(line)

    def _act(self, line: str) -> None:
        found = _STEP.fullmatch(line)
        assert found is not None, f"{line!r} is no step"
        who, text = PEOPLE[found["who"]], found["text"]
        room = TEAM if found["where"] else alone(who)
        expected = sorted(filter(None, text.split(" | ")))
        match found["verb"]:
            case None:
                to_bot = found["where"] != "~team"
                self.shown = self.driver.say(who, room, text, to_bot=to_bot).shown
            case "presses":
                asked = next(one for one in reversed(self.history) if text in one.buttons)
                self.shown = self.driver.press(who, asked, text)
            case "has":
                assert remembered(self.driver, who, room) == expected, line
            case "waits":
                assert waiting(self.driver, who, room) == expected, line
            case "tells":
                for said in SAID[: int(text)]:
                    self.shown = self.driver.say(who, room, said).shown
            case "joins":
                self.driver.join(who, TEAM)
            case _:
                self._write(who, room, found)

    def _write(self, who: Person, room: Room, found: re.Match[str]) -> None:
        own, key = view(self.driver, who, room), found["key"]
        if found["verb"] == "forgets":
            own.forget_category(found["text"])
            return
        if found["verb"] == "updates":
            kept = own.update(self.ids[found["name"]], found["text"])
        elif key is not None:
            kept = own.put(found["category"], key, found["text"])
        else:
            kept = own.remember(found["text"], visibility="room" if room is TEAM else None)
        self.ids[found["name"] or ""] = kept.id
        self.driver.stage.clock.forward(seconds=1)
