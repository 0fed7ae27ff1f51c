"""The labelled set: large enough, balanced, without duplicates, and strict about bad lines."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.learn_data import (
    FOLDER,
    LANGUAGES,
    SAID_AT,
    TAGS_NOT_TO_KEEP,
    TAGS_TO_KEEP,
    BadLine,
    coexisting,
    corrections,
    fact,
    message,
    messages,
)
from tacit.records.memory import ChatKind, Kind, Sensitivity

A_FACT = {
    "content": "Ada prefers window seats",
    "kind": ["preference", "identity"],
    "about": ["speaker"],
    "sensitivity": "public",
    "portable": True,
    "hearsay": False,
    "withheld_from": [],
    "hold": None,
}
A_MESSAGE = {
    "id": "m1",
    "text": "I prefer window seats",
    "speaker": "Ada",
    "chat": "private",
    "lang": "en",
    "keep": True,
    "tags": ["preference"],
    "facts": [A_FACT],
}


def test_there_are_enough_lines_of_every_sort() -> None:
    assert len(messages()) >= 480
    assert len(corrections()) >= 120
    assert len(coexisting()) >= 240
    assert sum(one.lang == "de" for one in messages()) >= 40
    assert sum(one.chat is ChatKind.GROUP for one in messages()) >= 80


def test_somewhat_more_than_half_of_the_messages_are_to_keep() -> None:
    assert 0.5 <= sum(one.keep for one in messages()) / len(messages()) <= 0.6


def test_the_facts_cover_what_is_measured_with_them() -> None:
    facts = [fact for one in messages() for fact in one.facts]
    assert {*Sensitivity} == {fact.sensitivity for fact in facts}
    assert {"private", "room", "share", None} == {fact.hold for fact in facts}
    ordinary = {*Kind} - {Kind.OBSERVATION, Kind.INSIGHT, Kind.PROCEDURE}
    assert ordinary == {kind for fact in facts for kind in fact.kinds}
    assert sum(fact.hearsay for fact in facts) >= 20
    assert sum(bool(fact.withheld_from) for fact in facts) >= 5
    assert sum(len(one.facts) > 1 for one in messages()) >= 20


def test_every_tag_is_in_use() -> None:
    assert {tag for one in messages() if one.keep for tag in one.tags} == TAGS_TO_KEEP
    assert {tag for one in messages() if not one.keep for tag in one.tags} == TAGS_NOT_TO_KEEP


def test_a_chat_is_private_or_a_group_and_both_languages_are_everywhere() -> None:
    assert {one.chat for one in messages()} == {ChatKind.PRIVATE, ChatKind.GROUP}
    for lines in (messages(), corrections(), coexisting()):
        assert {one.lang for one in lines} == LANGUAGES


def test_no_pair_is_both_a_correction_and_one_that_must_coexist() -> None:
    corrected = {(one.before.casefold(), one.after.casefold()) for one in corrections()}
    assert not corrected & {(one.first.casefold(), one.second.casefold()) for one in coexisting()}


def test_relative_dates_count_from_a_wednesday() -> None:
    assert f"{SAID_AT:%A %Y-%m-%d}" == "Wednesday 2025-06-11"


def test_the_readme_counts_what_is_there() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    kept = [one for one in messages() if one.keep]
    facts, rest = sum(len(one.facts) for one in kept), len(messages()) - len(kept)
    counted = f"{len(messages())} messages: {len(kept)} to keep ({facts} facts), {rest} not"
    german = [sum(one.lang == "de" for one in lines) for lines in (messages(), corrections(), coexisting())]
    assert f"| {counted} | {german[0]} |" in readme
    assert f"| {len(corrections())} pairs | {german[1]} |" in readme
    assert f"| {len(coexisting())} pairs | {german[2]} |" in readme


def test_a_good_line_is_read_as_it_stands() -> None:
    read = message(A_MESSAGE, "here")
    assert read.facts[0].kinds == {Kind.PREFERENCE, Kind.IDENTITY}
    assert read.facts[0].about_speaker


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"speaker": " Ada"}, "without spaces around it"),
        ({"chat": "channel"}, "one of private, group, unknown"),
        ({"lang": "xx"}, "one of \\['de', 'en'\\]"),
        ({"keep": "yes"}, "true or false"),
        ({"keep": False}, "tags that say nothing here"),
        ({"keep": False, "tags": ["joke"]}, "no other message has one"),
        ({"facts": []}, "has a list of facts"),
        ({"tags": ["preference", "preference"]}, "says something twice"),
        ({"tags": ["preferrence"]}, "preferrence"),
        ({"mood": "fine"}, "unknown fields \\['mood'\\]"),
    ],
)
def test_a_bad_message_is_refused_with_its_place(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadLine, match=f"^here: .*{problem}"):
        message({**A_MESSAGE, **change}, "here")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"kind": "opinion"}, "kind must be one or more of"),
        ({"kind": []}, "kind must be one or more of"),
        ({"sensitivity": "secret"}, "sensitivity must be one of"),
        ({"hold": "forever"}, "hold must be one of"),
        ({"hearsay": True}, "about others"),
        ({"withheld_from": ["Bob"]}, "at least personal"),
        ({"hold": "room", "sensitivity": "personal"}, "not portable"),
        ({"kind": "event"}, "only a lasting kind"),
        ({"content": "x" * 281}, "longer than 280"),
    ],
)
def test_a_bad_fact_is_refused_with_its_place(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadLine, match=f"^here: .*{problem}"):
        fact({**A_FACT, **change}, "here")


def test_a_message_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    again = {**A_MESSAGE, "id": "m2", "text": "i prefer  window seats"}
    lines = f"{json.dumps(A_MESSAGE)}\n{json.dumps(again)}\n"
    (tmp_path / "messages.jsonl").write_text(lines, "utf-8")
    with pytest.raises(BadLine, match="twice in the file"):
        messages(tmp_path)


def test_a_line_that_is_not_json_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "coexist.jsonl").write_text("{}{\n", "utf-8")
    with pytest.raises(BadLine, match=r"^coexist.jsonl:1: not JSON"):
        coexisting(tmp_path)


def test_a_correction_that_changes_nothing_is_refused(tmp_path: Path) -> None:
    fields = ("id", "before", "after", "speaker", "before_fact", "after_fact", "slot_hint")
    line = json.dumps(dict.fromkeys(fields, "same") | {"lang": "en"})
    (tmp_path / "corrections.jsonl").write_text(line, "utf-8")
    with pytest.raises(BadLine, match="a correction changes something"):
        corrections(tmp_path)
