"""The stories that every channel tells: the scenarios of the memory's first design, 1 to 6, and
what belongs to them. Those of groups are in `group_scenarios`, the rest beside it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tacit.settings import ChatSettings
from tests.bots.chats import ALICE, Driver, Scenario, alone, remembered, view, waiting
from tests.bots.every_command import EVERY_COMMAND
from tests.bots.group_scenarios import IN_GROUPS
from tests.bots.scripted import Called, Prompt
from tests.bots.speaking import id_of, speaks
from tests.bots.three_rooms import THREE_ROOMS
from tests.bots.without_model import WITHOUT_MODEL
from tests.contract.scripted import fact

HOME = alone(ALICE)
ALEC = "Would you like me to remember that Alec is your boss for future conversations?"
BOSS = {"content": "Alec is the user's boss", "category": "person", "subject": "Alec"}


def _suggested(driver: Driver) -> None:
    told = driver.say(ALICE, HOME, "Alec is my boss by the way")
    assert told.text == ALEC
    assert remembered(driver, ALICE) == [], "nothing is kept before the person said yes"
    assert waiting(driver, ALICE) == ["Alec is Alice's boss"]

    told = driver.say(ALICE, HOME, "Yes")
    assert told.text == "Done - I'll remember that Alec is your boss."
    assert "Alec is Alice's boss" in driver.stage.prompts[1].said, "the model knows what waits"
    assert remembered(driver, ALICE) == ["Alec is Alice's boss"], "once, and in her own words"
    assert waiting(driver, ALICE) == []


SUGGESTED = Scenario(
    "1 a new fact is kept after a yes",
    _suggested,
    speaks(
        {
            "Alec is my boss": (ALEC,),
            "Yes": (Called("add_to_memory", BOSS), "Done - I'll remember that Alec is your boss."),
        }
    ),
)


def _recalled(driver: Driver) -> None:
    view(driver, ALICE).remember("Alec is the user's boss", category="person", about=["Alec"])
    first = driver.say(ALICE, HOME, "Can you create a task to update Alec on the project?")
    assert first.text == "I'll create a task to update Alec on the project."
    driver.say(ALICE, HOME, "And another one, please?")
    one, two = driver.stage.prompts
    assert "Alec is the user's boss" in one.instructions
    assert one.instructions == two.instructions, "the beginning of a prompt stays, to the byte"
    assert one.body["tools"] == two.body["tools"]

    driver.stage.clock.now += timedelta(hours=3)
    driver.say(ALICE, HOME, "Hello again")
    assert "Alec is the user's boss" in driver.stage.prompts[-1].instructions


RECALLED = Scenario(
    "2 what is remembered is known in a new conversation",
    _recalled,
    speaks({"create a task": ("I'll create a task to update Alec on the project.",)}),
)


def _moved(prompt: Prompt) -> Called:
    return Called("update_memory", {"memory_id": id_of("Sarah", prompt), "content": "Sarah works on the Design team"})


def _updated(driver: Driver) -> None:
    mine = view(driver, ALICE)
    kept = mine.remember("Sarah works on the Platform team", category="person", about=["Sarah"])
    told = driver.say(ALICE, HOME, "Sarah moved to the Design team last week")
    assert told.text == "Updated - I now have Sarah on the Design team."
    assert remembered(driver, ALICE) == ["Sarah works on the Design team"]
    assert mine.show(kept.id).version == 2, "it is the same memory"


UPDATED = Scenario(
    "3 what changed is updated without asking",
    _updated,
    speaks({"Sarah moved": (_moved, "Updated - I now have Sarah on the Design team.")}),
)

JAMES = "Would you like me to remember that James is a project collaborator?"


def _reads_of_james(body: Mapping[str, Any]) -> object:
    quote = "I'm working with James"
    if quote not in str(body["messages"][-1]["content"]):
        return {"facts": []}
    return {"facts": [fact("Alice is working with James", quote, about=["James"])]}


def _declined(driver: Driver) -> None:
    words = "I'm working with James on this project"
    assert driver.say(ALICE, HOME, words).text == JAMES
    assert waiting(driver, ALICE) == ["Alice is working with James"]
    told = driver.say(ALICE, HOME, "No, it's just for this task")
    assert told.text == "No problem, I won't store that."
    assert remembered(driver, ALICE) == waiting(driver, ALICE) == []
    assert all(prompt.results == [] for prompt in driver.stage.prompts), "no tool was called"
    driver.say(ALICE, HOME, words)
    assert waiting(driver, ALICE) == [], "who said no is not asked again"


DECLINED = Scenario(
    "4 a no is a no",
    _declined,
    speaks({"James": (JAMES,), "No, it's": ("No problem, I won't store that.",)}),
    learn=_reads_of_james,
)


def _listed(driver: Driver) -> None:
    mine = view(driver, ALICE)
    alec = mine.remember("Alec is the user's boss", category="person", about=["Alec"]).id
    sarah = mine.remember("Sarah works on the Design team", category="person", about=["Sarah"]).id
    friday = mine.remember("User prefers Thursday due dates", category="preference").id
    told = driver.say(ALICE, HOME, "/memory")
    for heading in ("Your memories", "Person", "Preference"):
        assert heading in told.text
    for id, content in (
        (alec, "Alec is the user's boss"),
        (sarah, "Sarah works on the Design team"),
        (friday, "User prefers Thursday due dates"),
    ):
        assert f"[{id}] {content}" in told.text
    command = driver.typed("/memory delete <id>")
    assert told.text.rstrip().endswith(f"Use {command} to remove a memory.")
    assert driver.stage.prompts == [], "commands are between the person and their memory"


LISTED = Scenario("5 a person sees what is remembered", _listed, speaks({}))


def _deleted(driver: Driver) -> None:
    friday = view(driver, ALICE).remember("User prefers Thursday due dates", category="preference")
    told = driver.say(ALICE, HOME, f"/memory delete {friday.id}")
    assert told.text == "Deleted: 'User prefers Thursday due dates'"
    assert remembered(driver, ALICE) == []
    driver.press(ALICE, told.shown[0], "Undo")
    assert remembered(driver, ALICE) == ["User prefers Thursday due dates"]
    assert driver.stage.prompts == []


DELETED = Scenario("6 a person deletes a memory, and takes that back", _deleted, speaks({}))

FRIDAY = {"content": "The user prefers Friday due dates", "category": "preference"}


def _explicit(driver: Driver) -> None:
    told = driver.say(ALICE, HOME, "Remember that I prefer Friday due dates")
    assert told.text == "Noted - I'll remember your preference for Friday due dates."
    assert remembered(driver, ALICE) == ["The user prefers Friday due dates"], "and not twice"
    changed = driver.edit(told, "Remember that I am left-handed")
    assert changed.text == "All right."
    assert remembered(driver, ALICE) == ["Alice is left-handed"], "what was edited away is gone"


EXPLICIT = Scenario(
    "what a person asks for is kept at once",
    _explicit,
    speaks(
        {
            "Friday due dates": (
                Called("add_to_memory", FRIDAY),
                "Noted - I'll remember your preference for Friday due dates.",
            )
        }
    ),
)


def _looked_up(driver: Driver) -> None:
    view(driver, ALICE).remember("Alice's bicycle is a green tandem", category="context")
    told = driver.say(ALICE, HOME, "What do I ride?")
    assert told.text == "A green tandem."
    last = driver.stage.prompts[-1]
    assert "green tandem" in last.results[0]
    assert "The limit of lookups is reached" in last.results[-1], "on-demand recall has a budget"
    assert len(last.results) == 3


LOOKED_UP = Scenario(
    "what was not at hand is looked up, so often and no more",
    _looked_up,
    speaks(
        {
            "What do I ride": (
                Called("memory_query", {"query": "bicycle"}),
                Called("search_memories", {"query": "tandem"}),
                Called("memory_query", {"query": "ride"}),
                "A green tandem.",
            )
        }
    ),
    chat=ChatSettings(recall_calls=2),
)

SCENARIOS: tuple[Scenario, ...] = (
    SUGGESTED,
    RECALLED,
    UPDATED,
    DECLINED,
    LISTED,
    DELETED,
    EXPLICIT,
    LOOKED_UP,
    *IN_GROUPS,
    *WITHOUT_MODEL,
    EVERY_COMMAND,
    THREE_ROOMS,
)
