"""What another process writes is heard by the very next question of one that is warm."""

from collections.abc import Callable
from typing import Any

import tacit
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.processes import elsewhere
from tests.contract.rooms import ALICE, BOB, CAROL, FAMILY, TEAM, SetClock, group, kept, private

PHONE = ALICE
ACCOUNT = tacit.Requester("acct:alice", name="Alice")
SAID: Any = {"visibility": "room", "sensitivity": "public"}
LENT: Any = {"visibility": "public_ok", "sensitivity": "public"}
EVERYBODY = (ALICE, BOB, CAROL)


def views(memory: Memory) -> list[View]:
    return [
        private(memory, PHONE),
        private(memory, ACCOUNT),
        private(memory, BOB),
        private(memory, CAROL),
        group(memory, ALICE, here=()),
        group(memory, BOB, here=()),
        group(memory, CAROL, FAMILY, here=()),
    ]


def observed(memory: Memory) -> list[object]:
    return [
        [
            [(one.memory.content, one.score, one.why, one.rule, one.signals) for one in view.recall("apple", top_k=50)],
            [[other.content for other in one.related] for one in view.recall("apple", top_k=50)],
            view.block().text,
            sorted(one.content for one in view.list()),
        ]
        for view in views(memory)
    ]


def world(memory: Memory) -> dict[str, str]:
    """Something of everybody's, said everywhere."""
    for who in EVERYBODY:
        memory.chats.join(TEAM, who.key)
    for who in (BOB, CAROL):
        memory.chats.join(FAMILY, who.key)
    memory.admin.link("telegram:1001", "acct:alice")
    alice, bob = private(memory, ALICE), private(memory, BOB)
    alice.imports.add("moved", [{"content": "apple that moved in"}], source="mem0")
    return {
        "mine": kept(alice, "apple of mine"),
        "account": kept(private(memory, ACCOUNT), "apple of the account"),
        "lent": kept(alice, "apple that is lent", **LENT),
        "beside": kept(alice, "a pear beside it"),
        "said": kept(group(memory, BOB, here=()), "apple said by Bob", **SAID),
        "about": kept(group(memory, BOB, here=()), "apple for Alice", about=["telegram:1001"], **SAID),
        "family": kept(group(memory, CAROL, FAMILY, here=()), "apple of the family", **SAID),
        "bob": kept(bob, "apple of Bob", **LENT),
        "room": kept(group(memory, ALICE, here=()), "apple of the room", for_room=True, **SAID),
        "gone": kept(alice, "apple forgotten before"),
    }


Act = Callable[[Memory, dict[str, str]], object]
ACTS: dict[str, Act] = {
    "remember": lambda m, _: private(m, ALICE).remember("apple brand new"),
    "remember in the group": lambda m, _: group(m, BOB).remember("apple now", **SAID),
    "update": lambda m, ids: private(m, ALICE).update(ids["mine"], "apple reworded"),
    "update in the group": lambda m, ids: group(m, BOB).update(ids["said"], "apple again"),
    "pin": lambda m, ids: private(m, ALICE).pin(ids["mine"]),
    "importance": lambda m, ids: private(m, ALICE).update(ids["lent"], importance=5),
    "forget": lambda m, ids: private(m, ALICE).forget(ids["mine"]),
    "forget what was lent": lambda m, ids: private(m, ALICE).forget(ids["lent"]),
    "restore": lambda m, ids: private(m, ALICE).restore(ids["gone"]),
    "erase": lambda m, ids: private(m, ALICE).erase(ids["lent"]),
    "erase in the group": lambda m, ids: group(m, BOB).erase(ids["said"]),
    "lower visibility": lambda m, ids: private(m, ALICE).set_visibility(ids["lent"], "private_only"),
    "raise visibility": lambda m, ids: _raise(m, ids["mine"]),
    "withhold": lambda m, ids: private(m, ALICE).withhold_from(ids["lent"], ["telegram:2002"]),
    "withhold from a name": lambda m, ids: private(m, ALICE).withhold_from(ids["lent"], ["Zoe"]),
    "link": lambda m, _: m.admin.link("telegram:2002", "acct:bob"),
    "unlink": lambda m, _: m.admin.unlink("telegram:1001"),
    "join": lambda m, _: m.chats.join(FAMILY, "telegram:1001"),
    "leave": lambda m, _: m.chats.leave(TEAM, "telegram:1001"),
    "confidential": lambda m, _: m.chats.set_confidential(TEAM),
    "migrated": lambda m, _: m.chats.migrate(FAMILY, "telegram:-999"),
    "name": lambda m, _: private(m, ALICE).people.name("telegram:2002", "Apple"),
    "relate": lambda m, ids: private(m, ALICE).relate(ids["mine"], ids["beside"]),
    "operator updates": lambda m, ids: m.operator("x").update(ids["lent"], "apple of an operator"),
    "operator forgets": lambda m, ids: m.operator("x").forget(ids["said"]),
    "operator erases": lambda m, ids: m.operator("x").erase(ids["about"]),
    "import": lambda m, _: private(m, BOB).imports.add_lines(['{"content": "apple imported"}']),
    "import items": lambda m, _: private(m, BOB).imports.add(
        "moving", [{"content": f"apple {n} moved in"} for n in range(3)], source="mem0"
    ),
    "revert an import": lambda m, _: private(m, ALICE).imports.revert("moved"),
    "put": lambda m, _: private(m, ALICE).put("goal", "fruit", "apple goal"),
    "forget_subject": lambda m, _: m.admin.forget_person("telegram:2002"),
    "wipe": lambda m, _: private(m, ALICE).wipe(),
    "erase_subject": lambda m, _: m.admin.erase_person("telegram:2002"),
    "erase_space": lambda m, _: m.admin.erase_space(),
}
# Acts that need not show in what these views observe.
QUIET = {"confidential", "migrated", "link", "withhold from a name"}


def _raise(memory: Memory, id: str) -> None:
    view = private(memory, ALICE)
    view.update(id, sensitivity="public")
    view.set_visibility(id, "public_ok")


def test_a_warm_process_answers_like_a_cold_one(shared_url: str, opened: Open, clock: SetClock) -> None:
    """Each act in a space of its own, which the cold process has never looked at."""
    warm, other, cold = (opened(shared_url) for _ in range(3))
    unheard, unchanged = [], set()
    for number, (name, act) in enumerate(ACTS.items()):
        space = f"world-{number}"
        ids = world(other.space(space))
        private(other.space(space), ALICE).forget(ids["gone"])
        clock.forward(seconds=1)
        before = observed(warm.space(space))
        clock.forward(seconds=1)
        act(other.space(space), ids)
        after = observed(warm.space(space))
        if after != observed(cold.space(space)):
            unheard.append(name)
        if after == before:
            unchanged.add(name)
    assert unheard == []
    assert unchanged <= QUIET  # or this would say nothing


def test_a_process_that_stays_warm_through_everything_goes_on_answering(
    shared_url: str, opened: Open, clock: SetClock
) -> None:
    warm, other = opened(shared_url), opened(shared_url)
    ids = world(other)
    private(other, ALICE).forget(ids["gone"])
    for number, (name, act) in enumerate(ACTS.items()):
        clock.forward(seconds=1)
        try:
            act(other, ids)
        except (tacit.NotFound, tacit.Conflict):
            continue  # an earlier act took it away
        heard = observed(warm)
        if number % 5 == 4:
            assert heard == observed(opened(shared_url)), name


def test_another_process_is_heard_at_once(shared_url: str, opened: Open, clock: SetClock) -> None:
    warm = opened(shared_url)
    view, here = private(warm, ALICE), group(warm, BOB)
    id = kept(view, "apple that is lent", **LENT)
    assert len(view.recall("apple")) == len(here.recall("apple")) == 1
    elsewhere(shared_url, clock, 'private(memory, ALICE).remember("apple from elsewhere")')
    assert len(view.recall("apple")) == 2
    lower = f'private(memory, ALICE).set_visibility("{id}", "private_only")'
    elsewhere(shared_url, clock, lower)
    assert here.recall("apple") == []
    elsewhere(shared_url, clock, f'private(memory, ALICE).erase("{id}")')
    assert [one.memory.content for one in view.recall("apple")] == ["apple from elsewhere"]
