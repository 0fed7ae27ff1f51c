"""Secrets are refused on every way in: the kind is named, the secret is not; nothing is kept."""

import json
from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.integrations.langgraph import Store
from tacit.memory import Memory
from tacit.records.memory import Memory as Record
from tacit.records.memory import Sensitivity
from tacit.tools import tools
from tacit.view.view import View
from tests.contract.conftest import Open
from tests.contract.conversations import KEEP
from tests.contract.rooms import ALICE, BOB, group, kept, private
from tests.contract.rows import rows
from tests.contract.traces import rows_with
from tests.learning.sensitive_words import SENSITIVE
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


def test_an_operator_is_refused_a_secret_and_rewords_no_looser(memory: Memory) -> None:
    id = kept(private(memory, ALICE), "it is in the safe")
    with pytest.raises(tacit.SecretRefused):
        memory.operator("carol").update(id, SAID)
    own = private(memory, ALICE)
    id = own.remember("Alice plays the cello", sensitivity="public").id
    memory.operator("ops").update(id, "Alice has anxiety")
    assert own.show(id).sensitivity is Sensitivity.SENSITIVE


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


Write = Callable[[View, str], object]


NUMBERS = count()


def called(view: View, name: str, **arguments: object) -> None:
    tool = next(one for one in tools(view) if one.name == name)
    assert not tool.call(arguments).failed


def reworded(view: View, word: str, **fields: str) -> None:
    view.update(view.remember("it is a value").id, f"it is about {word}", **fields)  # type: ignore[arg-type]


def updated_by_tool(view: View, word: str) -> None:
    id = view.remember("it is a value").id
    called(view, "update_memory", memory_id=id, content=f"it is about {word}")


def line(word: str) -> str:
    return json.dumps({"content": f"it is about {word}", "sensitivity": "public"})


WRITES: dict[str, Write] = {
    "remember": lambda view, word: view.remember(f"it is about {word}"),
    "remember as public": lambda view, word: view.remember(
        f"it is about {word}", sensitivity="public", visibility="public_ok"
    ),
    "put": lambda view, word: view.put("item", "about", word, sensitivity="public"),
    "put a key": lambda view, word: view.put("item", word, "a value", visibility="public_ok"),
    "put data": lambda view, word: view.put("item", "about", "a value", data={"all": [word]}),
    "put again": lambda view, word: [view.put("item", "about", one) for one in ("tea", word)],
    "update": reworded,
    "update as public": lambda view, word: reworded(view, word, sensitivity="public"),
    "import lines": lambda view, word: view.imports.add_lines([line(word)]),
    "import items": lambda view, word: view.imports.add("a run", [{"content": f"it is about {word}"}], source="mem0"),
    "memory_put": lambda view, word: called(view, "memory_put", namespace="item", key="about", value=word),
    "add_to_memory": lambda view, word: called(
        view, "add_to_memory", content=f"it is about {word}", category="context"
    ),
    "add_memory": lambda view, word: called(view, "add_memory", content=f"it is about {word}", sensitivity="personal"),
    "update_memory": updated_by_tool,
    "write_file": lambda view, word: view.files.write("about.md", f"- it is about {word}\n"),
    "a graph's store": lambda view, word: Store(view).put(("about",), "one", {"text": word}),
}


def everything(view: View) -> list[Record]:
    return [*view.list(limit=200)]


def in_the_group(memory: Memory) -> list[str]:
    views = (group(memory, ALICE), group(memory, BOB), group(memory, ALICE, here=[ALICE, BOB]))
    return [one.content for view in views for one in view.list()]


def test_no_way_to_write_goes_below_the_floor(memory: Memory, subtests: pytest.Subtests) -> None:
    for number, (way, write) in enumerate(WRITES.items()):
        space = memory.space(f"way-{number}")
        own = private(space, ALICE)
        with subtests.test(way):
            write(own, "my salary")
            (found,) = everything(own)
            assert found.sensitivity is Sensitivity.SENSITIVE
            own.set_visibility(found.id, "public_ok")
            assert in_the_group(space) == []


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(way=st.sampled_from(sorted(WRITES)), word=st.sampled_from(SENSITIVE))
def test_no_word_of_the_lexicon_reaches_a_group(memory: Memory, way: str, word: str) -> None:
    space = memory.space(f"floor-{next(NUMBERS)}")
    own = private(space, ALICE)
    WRITES[way](own, word)
    (found,) = everything(own)
    assert found.sensitivity is Sensitivity.SENSITIVE
    own.set_visibility(found.id, "public_ok")
    assert in_the_group(space) == []


def test_a_turn_is_as_sensitive_as_what_was_said(database_url: str, opened: Open) -> None:
    memory = opened(database_url, settings=KEEP)
    own = private(memory, ALICE)
    said = [tacit.Message("user", "my salary is 90k"), tacit.Message("user", "I play the cello")]
    own.record(said)
    found = {
        one.memory.content: one.memory.sensitivity
        for query in ("salary", "cello")
        for one in own.recall(query, include=["turns"])
    }
    assert found == {"my salary is 90k": Sensitivity.SENSITIVE, "I play the cello": Sensitivity.PERSONAL}


def test_plain_words_stay_personal_and_public_ones_public(memory: Memory) -> None:
    own = private(memory, ALICE)
    plain = own.remember("Alice plays the cello").id
    public = own.remember("The standup is at nine", sensitivity="public").id
    assert own.show(plain).sensitivity is Sensitivity.PERSONAL
    assert own.show(public).sensitivity is Sensitivity.PUBLIC


def test_a_person_lowers_it_in_private_and_the_history_tells(memory: Memory) -> None:
    own = private(memory, ALICE)
    id = own.put("profile", "salary", "90k", visibility="public_ok").id
    group(memory, ALICE).list()
    own.update(id, sensitivity="personal")
    assert own.show(id).sensitivity is Sensitivity.PERSONAL
    assert own.history(id)[-1].detail["sensitivity"] == "sensitive to personal"
    assert in_the_group(memory) == ["90k", "90k"]  # the owner asks, by their own public_ok
    own.put("profile", "salary", "90k")
    own.update(id, tags=["work"])
    assert own.show(id).sensitivity is Sensitivity.PERSONAL
    own.put("profile", "salary", "95k")
    assert own.show(id).sensitivity is Sensitivity.SENSITIVE
    assert in_the_group(memory) == []


def test_neither_a_group_nor_a_model_lowers_it(memory: Memory) -> None:
    own, room = private(memory, ALICE), group(memory, ALICE)
    said = room.remember("my salary is a topic", visibility="room").id
    assert own.show(said).sensitivity is Sensitivity.SENSITIVE
    with pytest.raises(tacit.NotFound):
        room.update(said, sensitivity="public")
    own.update(said, sensitivity="public", by_model=True)
    assert own.show(said).sensitivity is Sensitivity.SENSITIVE


def test_a_new_value_is_private_whatever_a_linked_identity_said(memory: Memory) -> None:
    own, account = private(memory, ALICE), tacit.Requester("acct:1", name="Alice")
    own.put("preference", "drink", "tea", visibility="public_ok", sensitivity="public")
    memory.admin.link(ALICE.key, account.key)
    web = private(memory, account)
    id = web.put("preference", "drink", "a drink that stays between us").id
    assert web.show(id).visibility == "private_only"
    assert in_the_group(memory) == []
    assert web.put("preference", "drink", "juice", visibility="public_ok").id == id
    assert set(in_the_group(memory)) == {"juice"}
