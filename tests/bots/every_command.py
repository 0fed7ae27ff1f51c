"""Every command there is, typed as people type it: alone, with another account, and in a group."""

import re
from dataclasses import dataclass, field

from tacit.bots import texts
from tacit.bots.commands import COMMANDS
from tacit.bots.phrases import parse_command
from tacit.records.memory import Visibility
from tests.bots.chats import ALICE, BOB, CAROL, TEAM, Driver, Person, Room, Scenario, Told, alone, remembered, view

HOME = alone(ALICE)
TEA = "Alice likes green tea and /help"  # which is what she said, in Slack too


@dataclass
class Typing:
    driver: Driver
    used: set[str] = field(default_factory=set)

    def __call__(self, text: str, who: Person = ALICE, room: Room | None = None) -> Told:
        found = parse_command(text)
        assert found is not None
        self.used.add(found[0])
        return self.driver.say(who, room or alone(who), text)


def _told_about(typed: Typing) -> None:
    driver = typed.driver
    assert "No language model is set" in typed("/start").text
    assert driver.typed("/memory delete <id>") in typed("/help").text
    for own in (driver.requester(ALICE).key, driver.chat(HOME).id):
        assert own in typed("/id").text
    assert len(typed("/privacy").text.splitlines()) == 5
    assert "don't know that command" in driver.say(ALICE, HOME, "/nonsense").text
    assert typed("/memory").text == texts.NO_MEMORIES
    link = re.search(r"https://memory\.example\.org/sign-in\?token=(\S+)", typed("/console").text)
    assert link is not None
    assert driver.stage.memory.console.sign_in(link[1]).sitting.person == driver.requester(ALICE).key


def _kept_and_forgotten(typed: Typing) -> None:
    driver, mine = typed.driver, view(typed.driver, ALICE)
    id = mine.remember(TEA).id
    assert f"[{id}] {TEA} (private)" in typed("/mem").text
    typed(f"/mem vis {id} public")
    assert mine.show(id).visibility is Visibility.PUBLIC_OK
    typed("/undo")
    assert mine.show(id).visibility is Visibility.PRIVATE_ONLY
    for command in (f"/mem del {id}", f"/memory delete {id}", f"/forget {id}", "/forget green tea"):
        assert f"'{TEA}'" in typed(command).text
        assert remembered(driver, ALICE) == []
        assert typed("/undo").text == f"Restored: '{TEA}'"
    for command in ("/export", "/export markdown"):
        (file,) = [one.file for one in typed(command).shown if one.file]
        assert TEA in file
    (asked,) = typed("/forget everything").shown
    driver.press(ALICE, asked, "Erase everything")
    assert mine.count() == 0


def _linked(typed: Typing) -> None:
    """Carol is another account of Alice's."""
    driver = typed.driver
    view(driver, ALICE).remember(TEA)
    code = re.search(r"[0-9A-Z]{5}-[0-9A-Z]{5}", typed("/link").text)
    assert code is not None
    (sure,) = typed(f"/link {code[0]}", CAROL).shown
    accepted = driver.press(CAROL, sure, "Yes, both are mine")
    assert remembered(driver, CAROL) == [], "nothing is shared before the other side said yes"
    (asked,) = [one for one in accepted if one.room == HOME]
    driver.press(ALICE, asked, "Yes, both are mine")
    assert remembered(driver, CAROL) == [TEA]
    typed("/unlink", CAROL)
    assert remembered(driver, CAROL) == [], "it ends at once"


def _in_a_group(typed: Typing) -> None:
    driver = typed.driver
    for who in (ALICE, BOB):
        driver.join(who, TEAM)
    for name in (*sorted(n for n, (where, _) in COMMANDS.items() if where == "private"), "forget everything"):
        assert typed(f"/{name}", room=TEAM).text == texts.PRIVATE_ONLY
    told = typed("/id", room=TEAM).text
    assert driver.chat(TEAM).id in told
    assert driver.requester(ALICE).key not in told, "others read it, too"
    assert "private chat" in typed("/privacy", room=TEAM).text
    assert driver.typed("/export") in typed("/help", room=TEAM).text
    assert typed("/confidential", BOB, TEAM).text == texts.ADMINS_ONLY
    driver.makes_admin(BOB, TEAM)
    assert typed("/confidential", BOB, TEAM).text == texts.CONFIDENTIAL
    assert typed("/confidential off", BOB, TEAM).text == texts.NOT_CONFIDENTIAL
    driver.say(ALICE, TEAM, "Remember that our standup is at 9:30", to_bot=False)
    (known,) = view(driver, ALICE, TEAM).list()
    assert typed(f"/forget {known.id}", room=TEAM).text == texts.DELETED_HERE
    assert remembered(driver, BOB, TEAM) == []


def _typed(driver: Driver) -> None:
    typed = Typing(driver)
    _told_about(typed)
    _kept_and_forgotten(typed)
    _linked(typed)
    _in_a_group(typed)
    assert typed.used == set(COMMANDS)


EVERY_COMMAND = Scenario("every command", _typed, None)
