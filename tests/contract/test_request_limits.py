"""What one call may ask for is bounded: what is over is refused by name, before it is read."""

from collections.abc import Callable
from typing import Any

import pytest

import tacit
from tacit import ImportItem, limits
from tacit.memory import Memory
from tacit.records import validation
from tacit.screening.secrets import Secret, find_secret
from tests.contract.embedders import Table
from tests.contract.rooms import ALICE, private, said

PROSE = "On Tuesday we talked about the trip, and what it would cost to go by train. "


def prose(chars: int) -> str:
    return (PROSE * (chars // len(PROSE) + 1))[:chars]


def turns(count: int, chars: int) -> list[tacit.Message]:
    return [tacit.Message("user", prose(chars)) for _ in range(count)]


@pytest.fixture
def screened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many characters each text had that was looked at for secrets."""
    seen: list[int] = []

    def counted(words: str) -> Secret | None:
        seen.append(len(words))
        return find_secret(words)

    monkeypatch.setattr(validation, "find_secret", counted)
    return seen


def test_messages_are_counted_together_before_any_is_read(memory: Memory, screened: list[int]) -> None:
    view = private(memory, ALICE)
    many = [*turns(5, limits.CONTENT_MAX_CHARS), *turns(1, 1)]
    assert sum(len(one.content) for one in many) == limits.MESSAGES_MAX_CHARS + 1
    for act in (view.learn, view.record, view.sessions.end):
        screened.clear()
        with pytest.raises(tacit.InvalidInput, match=r"80,001 characters.*80,000.*send fewer"):
            act(many)
        assert not screened
    assert memory.jobs.pending().turns == 0
    view.learn(turns(20, 4_000))
    assert memory.jobs.pending().turns == 20


def test_things_to_import_are_counted_together_also_where_data_holds_itself(
    memory: Memory, screened: list[int]
) -> None:
    view = private(memory, ALICE)
    ordinary = [
        ImportItem(content=f"{n}: {prose(400)}", source=f"m{n}", tags=["trip", "cost"])
        for n in range(limits.IMPORT_ITEMS_MAX_COUNT)
    ]
    assert view.imports.preview(ordinary, source="mem0").new == 200
    screened.clear()
    large = [ImportItem(content=f"{n}: {prose(15_000)}") for n in range(7)]
    in_data = [ImportItem(content="a", data={str(n): [[[n]]] for n in range(1_000)})] * 3
    for items in (large, in_data):
        with pytest.raises(tacit.InvalidInput, match=r"items: .*100,000.*fewer at once"):
            view.imports.preview(items, source="mem0")
        with pytest.raises(tacit.InvalidInput, match="items: "):
            view.imports.add("run", items, source="mem0")
    assert max(screened) == len("mem0")  # the names of the source and of the run
    assert [*view.imports.list()] == []
    # One alone is held to its own limits.
    assert view.imports.preview(in_data[:1], source="mem0").new == 1
    ring: dict[str, Any] = {}
    ring["again"] = ring
    endless = ImportItem(content="a", data=ring)
    with pytest.raises(tacit.InvalidInput, match="items: "):
        private(memory, ALICE).imports.preview([endless, endless], source="mem0")


def state(messages: int) -> dict[str, Any]:
    """As a graph of an agent has it."""
    return {
        "step": 7,
        "vectors": [[0.25] * 384] * 4,
        "messages": [
            {"role": "user", "id": f"m{n}", "content": f"{n} {prose(180)}", "tokens": 40 + n} for n in range(messages)
        ],
    }


def test_the_state_of_a_graph_is_saved(memory: Memory) -> None:
    view = private(memory, ALICE)
    assert view.checkpoints.save(state(450), thread="t").version == 1  # about 110 KB
    assert view.checkpoints.save({"n": [0] * 500_000}, thread="n").version == 1  # about 1 MB
    assert view.checkpoints.save(prose(400_000), thread="prose").version == 1


HOSTILE = {
    "one text under four names of secrets": {"pin": {"code": {"secret": {"password": "key=" * 250_000}}}},
    "marks that have to be put in order": ["x" + "\u0301" * 250_000 + "\u0316" * 250_000],
    "many names of secrets": {f"pin{n:06}": "a" for n in range(60_000)},
    "many texts under one": {"pin": [f"a{n}" for n in range(100_000)]},
    "signs that stand for sentences": {"password": "\ufdfa" * 340_000},
    "prose that is too long": prose(1_000_000),
}


def test_a_checkpoint_is_looked_at_only_so_far_and_too_much_text_is_refused_by_name(
    memory: Memory, screened: list[int]
) -> None:
    view = private(memory, ALICE)
    for what, value in HOSTILE.items():
        screened.clear()
        with pytest.raises(tacit.InvalidInput, match="data: "):
            view.checkpoints.save(value, thread="t")
        assert sum(screened) <= limits.SCREENED_MAX_CHARS, what
        assert len(screened) <= limits.SCREENED_MAX_CHARS / limits.SCREENED_TEXT_CHARS, what
    with pytest.raises(tacit.InvalidInput, match=r"data: .*500,000 characters.*in parts"):
        view.checkpoints.save({"log": [prose(5_000) for _ in range(200)]}, thread="t")
    assert view.checkpoints.get("t") is None


def test_a_secret_is_found_wherever_it_stands(memory: Memory) -> None:
    view = private(memory, ALICE)
    values: list[Any] = [
        {"password": "hunter2 " + prose(5_000)},
        {"password": " " * 2_000 + "hunter2"},
        {"password": "\u200b" * 2_000 + "hunter2"},
        {"login": {"pin": ["x", 4821]}},
        {"note": prose(5_000) + " my password is hunter2"},
        [{"name": "pin", "value": "4821"}],
    ]
    for value in values:
        with pytest.raises(tacit.SecretRefused):
            view.checkpoints.save(value, thread="t")
        with pytest.raises(tacit.SecretRefused):
            view.remember("a fact", data={"v": value})


def test_a_file_changes_only_so_many_lines_at_once(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FILE_CHANGED_LINES_MAX_COUNT", 20)
    view = private(memory, ALICE)
    most = limits.FILE_CHANGED_LINES_MAX_COUNT
    first = "".join(f"- fact number {n}\n" for n in range(most))
    second = first + "".join(f"- thing number {n}\n" for n in range(most))
    with pytest.raises(tacit.InvalidInput, match=r"text: changes more than 20 lines.*in parts"):
        view.files.write("trips.md", second)
    view.files.write("trips.md", first)
    view.files.write("trips.md", second)
    for other in ("- all is gone\n", second.replace("number", "no")):
        with pytest.raises(tacit.InvalidInput, match="text: changes more than 20 lines"):
            view.files.write("trips.md", other)
    assert view.files.read("trips.md").count("- ") == 2 * most


def test_a_draft_of_a_session_is_counted_as_a_whole(memory: Memory) -> None:
    view = private(memory, ALICE)
    long = prose(limits.CONTENT_MAX_CHARS)
    draft = tacit.SessionDraft(facts=(long, long), tasks=(tacit.TaskDraft(text=long), tacit.TaskDraft(text=long)))
    with pytest.raises(tacit.InvalidInput, match=r"draft: is 64,\d+ characters.*60,000"):
        view.sessions.end(draft=draft)
    assert said(view.list()) == []


def test_of_a_long_session_the_end_is_read(memory: Memory) -> None:
    view = private(memory, ALICE)
    early = tacit.Message("user", "I have to call the dentist by Friday")
    late = tacit.Message("user", "I have to buy a ladder by Monday")
    ended = view.sessions.end([early, *turns(3, 15_000), late])
    assert ended.note is not None
    assert "ladder" in view.files.read(ended.path)
    assert "dentist" not in view.files.read(ended.path)


def test_a_write_waits_for_few_vectors_and_the_others_come_later(
    database_url: str, opened: Callable[..., Memory]
) -> None:
    table = Table({"tea": [1.0]})
    table.gate.clear()  # the background does nothing yet
    memory = opened(database_url, embedder=table)
    view = private(memory, ALICE)
    view.imports.add("one", [{"content": f"tea {n}"} for n in range(20)], source="mem0")
    assert len(table.asked) == 20
    many = [{"content": f"tea {n} {prose(300)}"} for n in range(8)]
    view.imports.add("two", many, source="mem0")
    assert len(table.asked) == 20
    table.gate.set()
    memory.admin.reembed()
    assert len(table.asked) == 28
    assert memory.admin.embedding().complete
