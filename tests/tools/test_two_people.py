"""Two people, the same tools: nothing of the one is in any answer to the other."""

import json
from typing import Any

import pytest

from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, SetClock, group, private
from tests.tools.calling import REFERENCE, STANDARD, call, filled

CANARY = "Xylophone"


def played(view: View, calls: Any, id: str) -> list[str]:
    told = []
    for name, arguments in calls:
        answer = call(view, name, **filled(arguments, id))
        told.append(json.dumps([answer.text, answer.data, answer.failed]))
    return told


def fill(view: View) -> str:
    """What the other one has: under the same keys and names, and all of it with a canary."""
    view.put("profile", "timezone", f"{CANARY}/Town")
    id = view.remember(f"Sarah works at {CANARY}", category="person", about=["Sarah"]).id
    view.remember(f"The standup is at {CANARY}")
    view.files.write("trips.md", f"- {CANARY} in May\n")
    ann = {"name": "Ann", "entityType": "person", "observations": [f"likes tea and {CANARY}"]}
    assert not call(view, "create_entities", entities=[ann]).failed
    works = {"from": "Ann", "to": CANARY, "relationType": "works_at"}
    assert not call(view, "create_relations", relations=[works]).failed
    return id


@pytest.mark.parametrize("calls", [STANDARD, REFERENCE], ids=["standard", "reference"])
@pytest.mark.parametrize("where", ["private", "group"])
def test_answers_to_bob_are_the_same_whatever_alice_has(
    memory: Memory, clock: SetClock, calls: Any, where: str
) -> None:
    id = fill(private(memory, ALICE))
    other = memory.space(f"{where}-{len(calls)}")
    bobs = [private(one, BOB) if where == "private" else group(one, BOB) for one in (memory, other)]
    first, second = (played(view, calls, id) for view in bobs)
    assert CANARY not in "".join(first)
    assert [without_ids(one) for one in first] == [without_ids(one) for one in second]
    assert private(memory, ALICE).show(id).content == f"Sarah works at {CANARY}"


def without_ids(told: str) -> str:
    """Ids of new memories are chance; all else is compared."""
    text, data, failed = json.loads(told)
    ids = set(found(data))
    for id in ids:
        text = text.replace(id, "ID")
        data = json.loads(json.dumps(data).replace(id, "ID"))
    return json.dumps([text, data, failed])


def found(data: Any) -> list[str]:
    if isinstance(data, dict):
        own = [data["id"]] if isinstance(data.get("id"), str) else []
        return own + [id for value in data.values() for id in found(value)]
    return [id for one in data for id in found(one)] if isinstance(data, list) else []
