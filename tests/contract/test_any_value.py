"""Any Python value in any argument: a result or a TacitError, and nothing half done."""

import inspect
from collections.abc import Callable
from datetime import timedelta
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.memory import Memory
from tacit.records.memory import ChatKind, Kind, Sensitivity, State, Visibility
from tacit.view.context import resource
from tacit.view.view import VIEW_OPERATIONS
from tests.contract.hostile import BROKEN, EMPTY, INVISIBLE, NAIVE, ODD
from tests.contract.rooms import ALICE, BOB, TEAM, group, kept, private

# Close calls are likelier to find something than noise: words of ours in the wrong places.
WORDS = [
    "", "me", "profile", "fact", "k", "telegram:1001", "acct:a", "ext:telegram:1001",
    "person:AAAAAAAA", "AAAAAAAA", TEAM, *Kind, *Visibility, *Sensitivity, *State,
    *ODD, *EMPTY, *BROKEN, *INVISIBLE,
]  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, 1, 2**31, 2**63, 10**400, -1]),
    st.floats(),
    st.text(max_size=30),
    st.sampled_from(WORDS),
    st.binary(max_size=10),
    st.datetimes(),
    st.datetimes(timezones=st.timezones()),
    st.sampled_from([NAIVE, timedelta(1), Path("x"), ALICE, object, Ellipsis, 1j, range(3)]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=5), inner, max_size=2),
        st.sets(st.integers(), max_size=2),
    ),
    max_leaves=5,
)
FIELDS = [
    "kind", "category", "key", "slot", "about", "withheld_from", "visibility", "sensitivity",
    "portable", "importance", "confidence", "pinned", "tags", "observed_at", "expires_at",
    "message", "agent", "run", "role", "for_room", "data", "trust", "owner",
]  # fmt: skip


def plain(thing: type) -> list[str]:
    methods = inspect.getmembers(thing, inspect.isfunction)
    return sorted(name for name, _ in methods if not name.startswith("_"))


VIEW_METHODS = [name for name in VIEW_OPERATIONS if ".steps." not in name]
# Not what would end the test's own memory, or write files wherever it is told to.
LEFT_OUT = {"admin.erase_space", "admin.maintain", "admin.backup"}
MEMORY_METHODS = [
    f"{name}.{method}"
    for name, held in vars(Memory).items()
    if isinstance(held, resource)
    for method in plain(held.kind)
    if f"{name}.{method}" not in LEFT_OUT
]
OPERATOR_METHODS = [
    "erase", "forget", "lower_visibility", "restore", "update", "withhold_from",
    "browse", "browse_count", "graph", "history", "show",
    "audience.chats", "audience.of", "audience.preview", "audience.recall",
    "audit.access_log", "audit.activity", "audit.daily_counts", "people.about", "people.list",
]  # fmt: skip


GOOD: dict[str, Any] = {
    "content": "two", "category": "profile", "key": "k", "value": "v", "visibility": "private_only",
    "who": ["telegram:2002"], "person": "Sarah", "name": "Al", "lines": ['{"content": "x"}'],
    "query": "one", "since": 0, "limit": 5, "cursor": None, "prefix": None, "state": None,
    "pinned": None, "on": True, "if_version": None, "chat": TEAM, "external_key": "telegram:1001",
    "account": "acct:a", "verified": True, "actor": "root", "identity": "acct:a", "old": TEAM,
    "wait_seconds": 0, "task": "expire", "messages": [tacit.Message("user", "I live in Rome")],
    "new": "telegram:-7", "subject": "telegram:2002", "into": "telegram:2002", "asked_by": None,
    "run": "20260101", "repair": True, "checks": None, "format": "jsonl", "everything": True,
    "draft": tacit.SessionDraft(summary="Talked.", facts=("one", "two")),
    "path": "a.md", "text": "- one\n", "folder": "", "data": {"step": 1}, "version": None,
    "code": "ABCDE-23456",
    "channel": "telegram", "updates": [tacit.Update("1", TEAM, "{}", "telegram:1001")], "after": 0,
    "message": "m1", "search": tacit.Search(words="one"), "source": "mem0", "total": None,
    "items": [tacit.ImportItem(content="one", data={"a": 1}, about=["Sarah"])],
}  # fmt: skip
GOOD_ELSEWHERE = {
    ("events", "since"): None,
    ("activity", "since"): None,
    ("daily_counts", "days"): 30,
    ("erase_about", "person"): "telegram:2002",
    ("OperatorPeople.about", "person"): "telegram:2002",
    ("export", "turns"): False,
    ("name", "kind"): "alias",
    ("list", "kind"): None,
    ("Files.write", "new"): False,
    ("Files.rename", "old"): "a.md",
    ("Files.rename", "new"): "b.md",
    ("explain", "chat"): tacit.Chat.private("telegram:1001"),
    ("OperatorAudience.recall", "chat"): tacit.Chat.private("telegram:1001"),
    ("OperatorAudience.recall", "asked_by"): ALICE,
    ("preview", "chat"): tacit.Chat.group(TEAM, ["telegram:1001"]),
    ("merge_people", "person"): "person:AAAAAAAA",
    ("People.merge", "person"): "person:AAAAAAAA",
    ("People.unmerge", "person"): "person:AAAAAAAA",
    ("unmerge_people", "person"): "person:AAAAAAAA",
    ("People.merge", "into"): "person:BBBBBBBB",
    ("join", "person"): "telegram:2002",
    ("leave", "person"): "telegram:2002",
    ("resolve", "id"): TEAM,
    ("resolve", "requester"): ALICE,
    ("Keys.create", "requester"): "telegram:2002",
    ("Keys.create", "scopes"): ["read", "act-as"],
}


def arguments(method: Callable[..., Any], draw: Callable[[Any], Any], id: str) -> tuple[list[Any], dict[str, Any]]:
    """Good ones, but for a few: a call that is wrong in every part is refused at its first."""
    args: list[Any] = []
    named: dict[str, Any] = {}
    given_names = inspect.signature(method).parameters
    strange = draw(st.sets(st.sampled_from([*given_names, "-"]), max_size=2))
    for name, parameter in given_names.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            fields = st.sampled_from([field for field in FIELDS if field not in given_names])
            named |= {field: draw(VALUES) for field in draw(st.lists(fields, max_size=2))}
            continue
        usual = id if name == "id" else GOOD.get(name)
        good = GOOD_ELSEWHERE.get((method.__name__, name), usual)
        good = GOOD_ELSEWHERE.get((method.__qualname__, name), good)
        value = draw(VALUES) if name in strange else good
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            named[name] = value
        else:
            args.append(value)
    return args, named


def call(method: Callable[..., Any], args: Any, named: Any) -> None:
    try:
        answer = method(*args, **named)
        if inspect.isgenerator(answer):
            list(answer)
        repr(answer)
    except tacit.TacitError as error:
        str(error).encode()  # what an error says can be printed and sent


@pytest.mark.parametrize("surface", ["view", "memory", "operator"])
def test_any_value_anywhere_gives_a_result_or_a_tacit_error(memory: Memory, surface: str) -> None:
    room, own = group(memory, ALICE), private(memory, ALICE)
    things: dict[str, tuple[list[Any], list[str]]] = {
        "view": ([own, room], VIEW_METHODS),
        "memory": ([memory], MEMORY_METHODS),
        "operator": ([memory.operator("root")], OPERATOR_METHODS),
    }
    on, names = things[surface]

    @settings(suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def ask(data: st.DataObject) -> None:
        thing = data.draw(st.sampled_from(on))
        method = attrgetter(data.draw(st.sampled_from(names)))(thing)
        id = kept(own, "one", category="profile", key="k")
        call(method, *arguments(method, data.draw, id))

    ask()
    assert_nothing_is_half_done(memory)


def test_any_value_makes_a_view_or_a_tacit_error(memory: Memory) -> None:
    @settings(suppress_health_check=list(HealthCheck))
    @given(st.lists(VALUES, min_size=11, max_size=11))
    def ask(values: list[Any]) -> None:
        try:
            who = tacit.Requester(values[0] or ALICE.key, values[1], values[2])
            kind = values[4] or ChatKind.GROUP
            vouched = True if values[9] is None else values[9]
            chat = tacit.Chat(values[3] or TEAM, kind, values[5] or (), values[6], vouched)
            view = memory.view(who, chat, thread=values[7], categories=values[10])
            view.remember("one")
            view.people.list()
        except tacit.TacitError as error:
            str(error).encode()
        for make in (lambda: memory.space(values[8]), lambda: memory.operator(values[8])):
            try:
                make()
            except tacit.TacitError as error:
                str(error).encode()

    ask()
    assert_nothing_is_half_done(memory)


def assert_nothing_is_half_done(memory: Memory) -> None:
    """Every row has its version, history, people and words; and what was there still answers."""
    done = memory.admin.maintain()
    assert done.healthy, done.problems
    for who in (ALICE, BOB):
        view = private(memory, who)
        for one in view.list(limit=500):
            entries = view.history(one.id)
            assert entries[0].event == "ADD"
            assert {e.version for e in entries} == set(range(1, one.version + 1))
    view = private(memory, BOB)
    assert view.remember("still here")
