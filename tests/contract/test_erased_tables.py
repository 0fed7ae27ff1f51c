"""Table by table: which of them may mention what was erased. None."""

from typing import Any

import pytest
from sqlalchemy import Boolean, Table, insert, select

import tacit
from tacit import Message
from tacit.memory import Memory
from tacit.records.checkpoints import GraphStep, StepValue, StepWrite
from tacit.settings import MemorySettings, SessionsSettings, Settings
from tacit.settings.sections import LearnSettings
from tacit.storage.schema import metadata
from tests.contract.conftest import Open
from tests.contract.rooms import BOB, FAMILY, OPEN, group, kept, private
from tests.contract.traces import rows_with

WORD = "Qxerasedword"
DORA = tacit.Requester("telegram:777123", name=f"Dora {WORD}", username=f"dora_{WORD}")
SETTINGS = Settings(learn=LearnSettings(workers=0), memory=MemorySettings(sessions=SessionsSettings(keep=True)))
# What is about nobody and nothing in particular, and so has nothing to mention.
ABOUT_NOTHING = {"spaces", "embedded_spaces", "job_runs", "clock_guard", "llm_usage", "erasures"}
ONLY_HASHES = {"tombstones", "erasures"}
# Of others: whom their memory is kept from, who heard it, and who else that was.
OF_OTHERS = {"memories", "memory_people", "audience_people", "identity_links"}


def plant(memory: Memory, table: str, **values: Any) -> None:
    """A row as some later stage writes it."""
    found: Table = metadata.tables[table]
    row: dict[str, Any] = {"space_id": "default"}
    for column in found.columns:
        if not column.nullable and column.name not in row and column.server_default is None:
            whole = column.type.python_type is int
            row[column.name] = False if isinstance(column.type, Boolean) else 1 if whole else "x"
            if column.type.python_type is float:
                row[column.name] = 0.5
    memory._storage.database.write(lambda c: c.execute(insert(found).values(**{**row, **values})))


def lived(memory: Memory) -> str:
    """Dora, with a row of hers in every table; and Bob, who never met her."""
    own, who = private(memory, DORA), "ext:telegram:777123"
    turns = own.record([Message("user", f"{WORD} in a turn")]).ids
    id = kept(own, f"one {WORD}", category="profile", key=WORD, about=[f"Zelda {WORD}"],
              tags=[WORD], turns=list(turns))  # fmt: skip
    own.update(id, f"two {WORD}")
    other = kept(own, f"another {WORD}")
    own.relate(id, other)
    insight = kept(own, f"thought of {WORD}", kind="insight")
    further = kept(own, f"thought of the thought, {WORD}", kind="insight")
    plant(memory, "derived_from", memory_id=insight, turn_id=id)
    plant(memory, "derived_from", memory_id=further, turn_id=insight)
    plant(memory, "learned_facts", memory_id=id, owner=who, about=f'["{WORD}"]')
    plant(memory, "proposals", memory_id=other, concerns=who, replaces=id)
    plant(memory, "declined_proposals", concerns=who)
    plant(memory, "learning_days", owner=who)
    plant(memory, "reflections", owner=who)
    plant(memory, "pair_checks", first_id=min(id, other), second_id=max(id, other))
    plant(memory, "vectors", memory_id=id, home_path=f"p:{who}")
    path, day = f"2026-03-01/{WORD}.md", "2026-03-01"
    plant(memory, "notes", path=path, subject=who, contact_id=who, summary_id=id, day=day)
    plant(memory, "note_items", path=path, memory_id=id)
    plant(memory, "note_files", path=path, subject=who)
    plant(memory, "note_lines", path=path, memory_id=id)
    plant(memory, "events", id="e1", owner=who, thread="telegram:777123", memory_id=id)
    plant(memory, "events", id="e2", owner=who, thread="telegram:777123")
    plant(memory, "api_keys", requester="telegram:777123", digest=b"x" * 32)
    plant(memory, "access_log", id="l1", memory_id=id, actor=f"operator:{WORD}")
    plant(memory, "access_log_people", entry_id="l1", person=who)
    plant(memory, "sign_in_links", person=who, operator=None, digest=b"x" * 32)
    plant(memory, "web_sessions", person=who, operator=None, digest=b"x" * 32)
    plant(memory, "same_people", known_to=who, person=f"person:{WORD}")
    memory.inbox.add("telegram", [tacit.Update("1", FAMILY, WORD, DORA.key)])
    plant(memory, "link_offers", offered_by="ext:telegram:3003", accepted_by=who)
    plant(memory, "link_attempts", person=who)
    own.checkpoints.save({"said": [WORD]})
    steps, said = own.checkpoints.steps, id.encode()
    steps.save(
        GraphStep(thread=WORD, id="1", type="x", data=said, metadata={"said": id}),
        [StepValue(channel=id, version="1", type="x", data=said)],
    )
    steps.write(WORD, "", "1", [StepWrite(task=id, index=0, channel="c", type="x", data=said)])
    own.imports.add(WORD, [tacit.ImportItem(content=f"{WORD} moved in")], source=WORD)
    plant(memory, "imported_items", person=who, run=WORD, memory_id=id)
    own.once(WORD).pin(id)
    own.block()
    own.learn([Message("user", f"I like {WORD}")])
    alone = group(memory, DORA, FAMILY, here=(DORA,))
    alone.remember(f"{WORD} in a room", **OPEN)
    alone.remember(f"{WORD} for the room", for_room=True, sensitivity="public")
    private(memory, BOB).remember("Bob's own")
    return id


def mentions(memory: Memory, url: str, *needles: str) -> set[str]:
    """The tables with one of these in any column."""
    if not url.startswith("sqlite://") or len(url) > len("sqlite://"):
        return {name for needle in needles for name in rows_with(url, needle)}
    found = set()
    with memory._storage.database.read() as connection:
        for table in metadata.sorted_tables:
            told = repr(connection.execute(select(table)).all()).lower()
            found |= {table.name for needle in needles if needle.lower() in told}
    return found


@pytest.mark.parametrize("act", ["memory", "person", "space"])
def test_no_table_mentions_what_was_erased(shared_url: str, opened: Open, act: str) -> None:
    memory = opened(shared_url, settings=SETTINGS)
    id = lived(memory)
    needles = (id,) if act == "memory" else ("777123", WORD, id)
    before = mentions(memory, shared_url, *needles)
    if act == "memory":
        private(memory, DORA).erase(id)
    elif act == "person":
        memory.admin.erase_person(DORA.key)
    else:
        memory.admin.erase_space()
    after = mentions(memory, shared_url, *needles)
    assert after.isdisjoint(table.name for table in metadata.sorted_tables), after
    expected = {one.name for one in metadata.sorted_tables} - ABOUT_NOTHING - ONLY_HASHES
    if act == "memory":
        some = {"memories", "history", "change_log", "pair_checks", "events", "idempotency_memories"}
        some |= {"graph_steps", "graph_values", "graph_writes"}
        some |= {"imported_items"}
        assert some <= before
    else:
        assert expected - {"identity_links"} <= before
    if not shared_url.startswith("sqlite"):
        return
    assert {name for name in after if name.startswith("search_")} == set()


def test_what_was_thought_because_of_a_memory_goes_with_it(memory: Memory) -> None:
    own = private(memory, DORA)
    id, other = kept(own, "seen"), kept(own, "not an insight")
    first, second = kept(own, "thought", kind="insight"), kept(own, "again", kind="insight")
    for one, why in ((first, id), (second, first), (other, id)):
        plant(memory, "derived_from", memory_id=one, turn_id=why)
    done = own.erase(id)
    assert done.count == 3
    assert [one.content for one in own.list()] == ["not an insight"]


def test_of_an_erased_person_only_what_keeps_others_secrets_is_left(shared_url: str, opened: Open) -> None:
    """Whom somebody else's memory is kept from, who heard it, and which identities are one."""
    memory = opened(shared_url, settings=SETTINGS)
    memory.admin.link(DORA.key, "acct:dora")
    here = (DORA, BOB)
    private(memory, DORA).remember("mine")
    group(memory, BOB, here=here).remember("A party", withheld_from=[DORA.key], **OPEN)
    group(memory, BOB, here=here).remember("It rains", **OPEN)
    memory.admin.erase_person(DORA.key)
    assert mentions(memory, shared_url, "777123") == OF_OTHERS
    assert [one.content for one in private(memory, DORA).list()] == ["It rains"]
