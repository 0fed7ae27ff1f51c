"""Secrets are refused on every way in: the kind is named, the secret is not; nothing is kept."""

import json
from collections.abc import Callable

import pytest

import tacit
from tacit.memory import Memory
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.conversations import KEEP
from tests.contract.rooms import ALICE, kept, private
from tests.contract.rows import rows
from tests.contract.traces import rows_with
from tests.screening.secret_values import BASE62, card, some

TOKEN = "ghp_" + some(36, BASE62)
SAID = f"my token is {TOKEN}"
Way = Callable[[View, str], object]

WAYS: dict[str, Way] = {
    "remember": lambda v, _: v.remember(SAID),
    "put": lambda v, _: v.put("profile", "token", TOKEN),
    "put under a key": lambda v, _: v.put("profile", TOKEN, "in the safe"),
    "update": lambda v, id: v.update(id, SAID),
    "tags": lambda v, _: v.remember("it is in the safe", tags=[TOKEN]),
    "tags of another": lambda v, id: v.update(id, tags=[TOKEN]),
    "about": lambda v, _: v.remember("is my friend", about=[TOKEN]),
    "withheld from": lambda v, id: v.withhold_from(id, [TOKEN]),
    "name": lambda v, _: v.people.name("Bob", TOKEN),
    "a name for": lambda v, _: v.people.name(TOKEN, "Bob"),
    "record": lambda v, _: v.record([tacit.Message("user", SAID)]),
    "record of somebody": lambda v, _: v.record([tacit.Message("tool", "done", name=TOKEN)]),
}


@pytest.fixture
def remembering(database_url: str, opened: Open) -> Memory:
    return opened(database_url, settings=KEEP)


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_refused_on_every_way_in(remembering: Memory, database_url: str, way: str) -> None:
    view = private(remembering, ALICE)
    id = kept(view, "it is in the safe")
    before = rows(remembering, "SELECT count(*) FROM memories")
    with pytest.raises(tacit.SecretRefused) as refusal:
        WAYS[way](view, id)
    assert refusal.value.kind == "github_token"
    assert "github_token" in str(refusal.value)
    assert TOKEN not in f"{refusal.value!r} {refusal.value} {refusal.value.__dict__}"
    assert rows(remembering, "SELECT count(*) FROM memories") == before
    if ":memory:" not in database_url and database_url != "sqlite://":
        assert rows_with(database_url, TOKEN) == []
    assert view.show(id).content == "it is in the safe"


def test_an_operator_is_refused_too(memory: Memory) -> None:
    id = kept(private(memory, ALICE), "it is in the safe")
    with pytest.raises(tacit.SecretRefused):
        memory.operator("carol").update(id, SAID)


def test_lines_with_secrets_are_left_out_of_an_import_and_the_others_kept(memory: Memory) -> None:
    view = private(memory, ALICE)
    number = card("4", 16)
    lines = [
        json.dumps({"content": "tea with milk"}),
        json.dumps({"content": SAID}),
        json.dumps({"content": "it is in the safe", "versions": [{"content": f"my card is {number}"}]}),
        json.dumps({"content": "coffee", "tags": [TOKEN]}),
        json.dumps({"content": "cake"}),
    ]
    done = view.imports.add_lines(lines)
    assert done.created == 2
    assert len(done.refused) == 3
    said = " ".join(done.refused)
    assert "github_token" in said
    assert "payment_card" in said
    assert TOKEN not in said
    assert number not in said


def test_what_only_looks_like_a_secret_is_kept(memory: Memory) -> None:
    view = private(memory, ALICE)
    for said in (
        "I forgot my password again",
        "my password manager is Bitwarden",
        "the order number is 4111-2222",
        "the commit is 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "call me on +351 912 345 678",
    ):
        assert view.remember(said).created


def test_a_display_name_that_holds_a_secret_is_not_kept(memory: Memory) -> None:
    somebody = tacit.Requester("telegram:77", name=f"Eve {TOKEN}", username="eve")
    view = memory.view(somebody, tacit.Chat.private("telegram:77"))
    view.remember("tea with milk")
    assert [one.memory.content for one in view.recall("milk")] == ["tea with milk"]
    names = rows(memory, "SELECT name FROM person_names")
    assert names == [("eve",)]
