"""What each reader makes of the records of its format."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tacit.records.drafts import ImportItem
from tacit.transfer import importers
from tacit.transfer.importers import FoundItem, SkippedPart
from tests.transfer.conftest import SAMPLES


def items(path: Path, form: str, only: str | None = None) -> list[ImportItem]:
    source = importers.open_source(path, form, only=only)
    return [one.item for one in source if isinstance(one, FoundItem)]


def written(tmp_path: Path, text: str, name: str = "list.txt") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_mem0_keeps_times_metadata_categories_and_who_was_there() -> None:
    seats, cello, pass_ = items(SAMPLES / "mem0.json", "mem0")
    assert seats.data == {"topic": "travel", "confidence": 0.9}
    assert seats.created_at == datetime(2025, 3, 4, 17, 12, 44, 120_000, tzinfo=UTC)
    assert cello.tags == ("music", "hobbies-leisure")
    assert cello.data == {
        "agent_id": "concierge", "run_id": "trip-7", "actor_id": "mara", "role": "user"
    }  # fmt: skip
    assert cello.source == "5f0c7f0e-9d3b-4a53-8f0e-1f4f6d7f1a02"
    assert pass_.expires_at is not None
    assert pass_.expires_at.date().isoformat() == "2999-12-31"  # to the end of that day


@pytest.mark.parametrize(
    "text",
    [
        '[{"memory": "Likes tea"}, {"memory": "Likes rain"}]',
        '{"results": [{"memory": "Likes tea"}, {"memory": "Likes rain"}]}',
        '{"memories": [{"data": "Likes tea"}, {"text": "Likes rain"}], "total": 2}',
        '{"memory": "Likes tea"}\n\n{"memory": "Likes rain"}\n',
        json.dumps({"results": [{"memory": "Likes tea"}, {"memory": "Likes rain"}]}, indent=1),
    ],
)
def test_mem0_is_read_in_each_of_its_shapes(tmp_path: Path, text: str) -> None:
    found = items(written(tmp_path, text, "m.json"), "mem0")
    assert [one.content for one in found] == ["Likes tea", "Likes rain"]


def test_an_export_of_the_platform_has_facts_as_fields_and_relations(tmp_path: Path) -> None:
    own = {"full_name": "Mara Lindqvist", "languages": ["Portuguese", "Swedish"], "age": 41}
    found = items(written(tmp_path, json.dumps(own), "m.json"), "mem0")
    assert [one.content for one in found] == [
        "full name: Mara Lindqvist", "languages: Portuguese, Swedish", "age: 41"
    ]  # fmt: skip
    graph = {
        "results": [{"memory": "Likes tea"}],
        "relations": [{"source": "mara", "relationship": "works_at", "target": "timber_office"}],
    }
    found = items(written(tmp_path, json.dumps(graph), "m.json"), "mem0")
    assert [one.content for one in found] == ["Likes tea", "mara works at timber office"]


def test_the_graph_of_the_reference_server_is_read_as_a_document_too(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (SAMPLES / "mcp.json").read_text().splitlines()]
    document = {
        "entities": [one for one in lines if one.pop("type") == "entity"],
        "relations": [one for one in lines if "from" in one],
    }
    path = written(tmp_path, json.dumps(document, indent=2), "memory.json")
    assert items(path, "mcp") == items(SAMPLES / "mcp.json", "mcp")


def test_a_note_becomes_observations_relations_prose_and_fields() -> None:
    found = {one.content: one for one in items(SAMPLES / "basic-memory", "basic-memory")}
    told = found["Sourdough Baking: An overnight rest in the fridge gives a sourer crumb"]
    assert told.tags == ("baking", "kitchen", "technique", "fermentation")
    assert told.category == "procedure"
    assert told.created_at == datetime(2025, 2, 14, tzinfo=UTC)
    note = {"note": "kitchen/sourdough-baking", "type": "note"}
    assert told.data == {**note, "category": "technique"}
    dark = "Sourdough Baking: Loaves are baked dark, in a cast iron pot (learned from Inês)"
    assert found[dark].data == {**note, "category": "preference", "context": "learned from Inês"}
    taught = found["Sourdough Baking was taught by Inês Duarte (2023)"]
    assert taught.data == {
        **note, "relation": "was taught by", "target": "Inês Duarte", "context": "2023"
    }  # fmt: skip
    assert "Sourdough Baking: status: ongoing" in found
    assert "Sourdough Baking: - [ ] Try a wholemeal batch" in found
    bees = found["Inês Duarte: Lives two doors down and keeps bees"]
    assert (bees.about, bees.tags) == (["Inês Duarte"], ("neighbours", "baking", "fact"))
    assert not any("app.md" in str(one.data) for one in found.values())  # hidden folders


def test_an_observation_keeps_a_label_that_tells_what_it_is(tmp_path: Path) -> None:
    body = "- [birthday] 3 May\n- [Fact] Keeps bees\n- [shoe_size] 44\n- [city] City of Porto\n"
    found = items(written(tmp_path, body, "Tom.md"), "basic-memory")
    assert [one.content for one in found] == [
        "Tom, birthday: 3 May",
        "Tom: Keeps bees",
        "Tom, shoe size: 44",
        "Tom: City of Porto",
    ]


def test_only_what_is_below_a_namespace_is_read_from_langgraph() -> None:
    found = items(SAMPLES / "langgraph.jsonl", "langgraph", "people/mara")
    assert [one.key for one in found] == ["people/mara//diet", "people/mara/trips//lisbon"]
    assert len(items(SAMPLES / "langgraph.jsonl", "langgraph")) == 3


@pytest.mark.parametrize(
    "line",
    [
        "- [2025-01-03] Likes tea", "1. [2025-01-03]. Likes tea", "[2025-01-03] - Likes tea",
        "* 2025-01-03: Likes tea", "[Jan 3, 2025] – Likes tea", "2025-01-03 - Likes tea",
        "• [3 January 2025] Likes tea", "- [ ] [2025/01/03] Likes tea",
        "  - [2025-01-03T00:00:00Z] - Likes tea",
    ],
)  # fmt: skip
def test_dates_before_an_entry_are_when_it_was_saved(tmp_path: Path, line: str) -> None:
    (found,) = items(written(tmp_path, line), "chatgpt")
    assert (found.content, found.created_at) == ("Likes tea", datetime(2025, 1, 3, tzinfo=UTC))


def test_other_brackets_belong_to_the_entry(tmp_path: Path) -> None:
    lines = "- [unknown] Likes tea\n- [sic] is how it was written\n- [2025-13-41] is no date\n"
    found = items(written(tmp_path, lines), "chatgpt")
    assert [(one.content, one.created_at) for one in found] == [
        ("Likes tea", None),
        ("[sic] is how it was written", None),
        ("[2025-13-41] is no date", None),
    ]


def test_a_list_is_filed_by_its_headings_and_joined_where_lines_were_broken(tmp_path: Path) -> None:
    text = """This is everything that I remember about you, in the order it was saved:
- A first thing

Projects:
- The glasshouse in the courtyard of the office, of which the beams are to be
  of larch

### Family

Her sister Elin lives in Umeå and visits every summer with two children and
an old dog.
Her parents moved to Gothenburg.

---
Likes rain
Likes tea
"""
    path = written(tmp_path, text)
    found = [one for one in importers.open_source(path, "claude") if isinstance(one, FoundItem)]
    assert [(one.where, one.item.content, one.item.category, one.item.tags) for one in found] == [
        ("line 2", "A first thing", None, None),
        (
            "line 5",
            "The glasshouse in the courtyard of the office, of which the beams are to be\nof larch",
            "project",
            ("projects",),
        ),
        (
            "line 10",
            ("Her sister Elin lives in Umeå and visits every summer with two children and\nan old dog."),
            "relationship",
            ("family",),
        ),
        ("line 12", "Her parents moved to Gothenburg.", "relationship", ("family",)),
        ("line 15", "Likes rain", "relationship", ("family",)),
        ("line 16", "Likes tea", "relationship", ("family",)),
    ]
    (beside,) = [one for one in importers.open_source(path, "claude") if isinstance(one, SkippedPart)]
    assert (beside.where, beside.why, beside.is_no_memory) == ("line 1", "only introduces a list", True)


def test_what_a_line_above_a_list_says_goes_as_far_as_the_list(tmp_path: Path) -> None:
    text = """Saved memories
[unknown] - Speaks Finnish

Wants recipes:

- without shellfish
- under 30 minutes
Loves tango
Projects:
- The glasshouse

Never said why:
Likes rain

**Brief history**

*Recent months*

Built a boat.

*She is proud of it.*
"""
    found = items(written(tmp_path, text), "claude")
    told = ("brief-history", "recent-months")
    assert [(one.content, one.category, one.tags) for one in found] == [
        ("Speaks Finnish", None, None),
        ("Wants recipes: without shellfish", None, None),
        ("Wants recipes: under 30 minutes", None, None),
        ("Loves tango", None, None),
        ("The glasshouse", "project", ("projects",)),
        ("Never said why:", None, None),
        ("Likes rain", None, None),
        ("Built a boat.", "event", told),
        ("*She is proud of it.*", "event", told),
    ]


def test_a_paragraph_that_ends_in_a_colon_is_not_lost_to_the_list_below_it(tmp_path: Path) -> None:
    above = "Her sister Elin lives in Umeå, keeps an old dog that came from Porto and"
    text = f"{above}\nlikes these:\n\n- Tea\n- Rain\n"
    found = [one.content for one in items(written(tmp_path, text), "claude")]
    assert found == [f"{above}\nlikes these:", "Tea", "Rain"]


def test_a_sample_of_code_in_a_text_does_not_hide_the_rest(tmp_path: Path) -> None:
    text = "- Likes tea\n- Likes rain\n- Writes functions:\n```\ndef f(): ...\n```\n- Likes snow\n"
    found = [one.content for one in items(written(tmp_path, text), "claude")]
    assert found == [
        "Likes tea", "Likes rain", "Writes functions:", "def f(): ...", "Likes snow"
    ]  # fmt: skip


def test_what_chatgpt_was_asked_to_forget_or_had_switched_off_is_not_taken_in(tmp_path: Path) -> None:
    saved = [
        {"id": "1", "content": "Likes tea", "created_at": "2025-01-03T00:00:00Z"},
        {"id": "2", "content": "Likes gin", "enabled": False},
        "Likes rain",
        {"mapping": {"n": {"message": {"recipient": "bio", "content": {"parts": ["Forget gin"]}}}}},
    ]
    path = written(tmp_path, json.dumps(saved), "memories.json")
    assert [one.content for one in items(path, "chatgpt")] == ["Likes tea", "Likes rain"]
    skipped = [one for one in importers.open_source(path, "chatgpt") if isinstance(one, SkippedPart)]
    assert all(one.is_no_memory for one in skipped)
    assert "gin" not in str(skipped)


def test_the_same_file_is_the_same_import_and_another_is_another(tmp_path: Path) -> None:
    one = importers.open_source(written(tmp_path, "- Likes tea\n", "a.txt"), "claude")
    same = importers.open_source(written(tmp_path, "- Likes tea\n", "b.txt"), "claude")
    other = importers.open_source(written(tmp_path, "- Likes rain\n", "a.txt"), "claude")
    assert one.run == same.run != other.run
    whole = importers.open_source(SAMPLES / "langgraph.jsonl", "langgraph")
    part = importers.open_source(SAMPLES / "langgraph.jsonl", "langgraph", only="people/mara")
    assert whole.run != part.run
