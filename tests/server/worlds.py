"""Two stores that differ in one thing: what Bob has. Alice may not notice which one she asks."""

import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tacit
from tacit.memory import Memory
from tacit.settings import Settings
from tacit.settings.sections import LearnSettings, MemorySettings, SessionsSettings
from tacit.tools.reference import reference_tools
from tacit.view.view import View
from tests.contract.rooms import ALICE, BOB, CAROL, SetClock, group, private
from tests.contract.sessions import WHOLE

CANARY = re.compile(r"zq[a-z]+z")
BOBS_ROOM = "telegram:-300"  # Alice was never in it
ROOM: Any = {"visibility": "room", "sensitivity": "public"}
ABSENT = "AAAAAAAA"  # of the right form, and nobody's

SETTINGS = Settings(
    memory=MemorySettings(sessions=SessionsSettings(keep=True, retention_days=7)),
    # No threads of its own: a test says when something is learned. In passing means: ask first.
    learn=LearnSettings(workers=0, confirm="new"),
)
# Nobody here is in a hurry: what is looked at is what is said, and not how often.
UNHURRIED = replace(SETTINGS, server=replace(SETTINGS.server, rate_per_minute=100_000))


@dataclass(frozen=True, kw_only=True)
class World:
    memory: Memory
    clock: SetClock
    known: dict[str, str]  # what requests name: ids, paths and keys of Alice and of Bob


def open_world(path: Path, clock: SetClock) -> Memory:
    return tacit.open(f"sqlite:///{path}", clock=clock, settings=UNHURRIED, embedder=None)


def prepare(folder: Path) -> dict[str, str]:
    """With Bob's things, and without, as files. All that Alice's requests name exists in the first;
    what is Bob's does not in the second, so that forbidden and absent are compared on the way."""
    clock = SetClock()
    with open_world(folder / "without.db", clock) as memory:
        known = shared(memory, clock)
    shutil.copy(folder / "without.db", folder / "with.db")
    with open_world(folder / "with.db", clock) as memory:
        add_in_private(memory, known["heard"])
        return known | bobs(memory, clock)


def opened(source: Path, folder: Path, name: str, known: dict[str, str]) -> World:
    """A copy of its own, in the evening of the day."""
    shutil.copy(source / f"{name}.db", folder / f"{name}.db")
    clock = SetClock()
    clock.forward(seconds=8 * 3600)
    return World(memory=open_world(folder / f"{name}.db", clock), clock=clock, known=known)


def shared(memory: Memory, clock: SetClock) -> dict[str, str]:
    """What is the same in both: Alice's own things, and a room where Bob is, too."""
    alice, team, bob = private(memory, ALICE), group(memory, ALICE), group(memory, BOB)
    known = {
        "own": alice.remember("Alice lives in Lisbon", category="profile").id,
        "other": alice.remember("Alice waters the ferns", category="fact", tags=["garden"]).id,
        "keyed": alice.put("profile", "timezone", "Europe/Lisbon").id,
    }
    for content in ("Standup is at nine", "The office dog is called Rufus"):
        clock.forward(seconds=1)
        team.remember(content, **ROOM)
    clock.forward(seconds=1)
    known["heard"] = bob.remember("Bob plays chess on Sundays", **ROOM).id
    clock.forward(seconds=1)
    alice.update(known["own"], "Alice lives in Porto")
    gone = alice.remember("Alice rents a garage", category="fact")
    alice.forget(gone.id)
    alice.relate(known["own"], known["other"])
    alice.people.name("Sarah", "my sister", "relation")
    alice.files.write("trips.md", "# Trips\n\n- Lisbon in May\n")
    alice.checkpoints.save({"step": 1}, thread="plan")
    alice.imports.add("moving", [tacit.ImportItem(content="Alice keeps bees")], source="mem0")
    alice.sessions.end(draft=WHOLE)
    clock.forward(seconds=1)
    alice.record([tacit.Message("user", "We fly to Lisbon in May")])
    alice.learn([tacit.Message("user", "I'm allergic to peanuts")])
    memory.jobs.wait_for_learning()
    memory.operator("root").browse(tacit.Search(owner=ALICE.key))
    (asked,) = alice.proposals.list()
    clock.forward(seconds=1)
    mine = frozenset({"read", "write", "erase"})
    revoked = memory.keys.create("old", scopes=mine, requester=ALICE.key)
    memory.keys.revoke(revoked.key.id)
    return known | {
        "gone": gone.id,
        "proposal": asked.id,
        "alice_token": memory.keys.create("alice", scopes=mine, requester=ALICE.key).token,
        "revoked_token": revoked.token,
        "reader_token": memory.keys.create("reads", scopes=["read"], requester=ALICE.key).token,
        "adapter_token": memory.keys.create("bot", scopes=[*mine, "act-as"]).token,
        "narrow_token": memory.keys.create(
            "narrow", scopes=mine, requester=ALICE.key, categories=["relationship"]
        ).token,
        "elsewhere_token": memory.space("elsewhere").keys.create("elsewhere", scopes=[*mine, "act-as"]).token,
        "admin_token": memory.keys.create("ops", scopes=["admin"]).token,
    }


def add_in_private(memory: Memory, id: str) -> None:
    """What Bob adds, alone, to something that he said where Alice heard it."""
    bob = private(memory, BOB)
    labels: Any = {"agent": "zqagentz", "run": "zqlabelrunz", "role": "zqrolez"}
    bob.update(id, tags=["zqroomtagz"], slot="zqslotz", importance=5, confidence=0.3, **labels)
    bob.pin(id)


def bobs(memory: Memory, clock: SetClock) -> dict[str, str]:
    """What Bob has, alone and before others, with a word in each place that tells on it."""
    bob, here = private(memory, BOB), group(memory, BOB)
    known = {
        "theirs": bob.remember("Bob hides zqcontentz in the cellar", category="fact").id,
        "theirs_too": bob.remember("Bob feeds zqfoxz at dawn", category="goal", tags=["zqtagz"]).id,
    }
    bob.relate(known["theirs"], known["theirs_too"])
    bob.put("profile", "timezone", "Mars/zqzonez")
    bob.put("preference", "zqkeyz", "Bob likes zqvaluez")
    bob.remember("Alice cheats at zqcardsz", about=[ALICE.key], category="person")
    bob.remember("Ines works on the zqteamz", category="person", about=["Ines"])
    bob.remember("Alice lives in zqhousez", category="profile", about=[ALICE.key])
    here.put("goal", "zqgoalz", "Bob leaves the team in zqmonthz")
    here.remember("A zqcakez for Alice on Friday", withheld_from=[ALICE.key], **ROOM)
    memory.operator("zqoperatorz").browse(tacit.Search(owner=BOB.key))
    bob.people.name("Ines", "zqnamez")
    bob.people.name(ALICE.key, "zqnickz")
    _draw(bob)
    _write_and_talk(memory, clock)
    gone = bob.remember("Bob owes zqsumz", category="fact").id
    bob.forget(gone)
    (asked,) = bob.proposals.list()
    memory.admin.link(BOB.key, "acct:zqaccountz")
    key = memory.keys.create("zqlabelz", scopes=["read"], requester=BOB.key).key
    code = bob.account.offer_link().code
    private(memory, tacit.Requester("matrix:zqbobz")).account.accept_link(code)
    brought = [
        tacit.ImportItem(content="Bob brews zqmeadz", source="zqforeignz"),
        tacit.ImportItem(content="Alice keeps bees"),
    ]
    for run in ("zqrunz", "moving"):
        bob.imports.add(run, brought, source="mem0")
    bob.once("a-token-of-both").remember("Bob sails to zqportz", category="fact")
    return known | {
        "theirs_gone": gone,
        "theirs_proposal": asked.id,
        "theirs_key": key.id,
        "theirs_file": "zqfilez.md",
        "theirs_note": "2026-03-01/zqsessionz.md",
        "theirs_folder": "2026-03-01",
        "theirs_thread": "zqthreadz",
        "theirs_room": BOBS_ROOM,
        "theirs_item": "zqkeyz",
        "theirs_link": BOB.key,
        "theirs_person": next(one.id for one in bob.people.list() if one.id.startswith("person:")),
        "theirs_code": code,
    }


def _draw(view: View) -> None:
    """A graph, as the tools of the reference profile keep it."""
    tools = {tool.name: tool for tool in reference_tools(view)}
    known = [("Ines", "works on the zqteamz"), ("zqentityz", "is a zqthingz")]
    entities = [{"name": name, "entityType": "person", "observations": [says]} for name, says in known]
    relations = [{"from": "Ines", "to": "zqentityz", "relationType": "zqrelationz"}]
    assert not tools["create_entities"].call({"entities": entities}).failed
    assert not tools["create_relations"].call({"relations": relations}).failed


def _write_and_talk(memory: Memory, clock: SetClock) -> None:
    bob = private(memory, BOB)
    thread = private(memory, BOB, thread="zqthreadz")
    away = group(memory, BOB, BOBS_ROOM, here=(BOB, CAROL))
    memory.chats.set_confidential(BOBS_ROOM)
    away.remember("Carol meets Bob at zqplacez", **ROOM)
    away.remember("Alice is talked about at zqplacez", about=[ALICE.key], **ROOM)
    bob.files.write("zqfilez.md", "# Plans\n\n- Bob buys a zqboatz\n")
    bob.files.write("trips.md", "# Trips\n\n- Bob flies to zqcityz\n")
    bob.checkpoints.save({"step": "zqstepz"}, thread="plan")
    bob.checkpoints.save({"step": "zqstepz"}, thread="zqthreadz")
    thread.sessions.begin("zqsessionz")
    draft = tacit.SessionDraft(summary="Spoke of zqtopicz.", facts=("The zqfactz is red",))
    thread.sessions.end(draft=draft, session="zqsessionz")
    bob.record([tacit.Message("user", "We sail to zqislandz in May")])
    bob.learn([tacit.Message("user", "I'm allergic to zqnutz")])
    memory.jobs.wait_for_learning()
    # Still waits.
    bob.learn([tacit.Message("user", "Remember that I moved to zqtownz", id="zqmessagez")])
    clock.forward(seconds=1)
