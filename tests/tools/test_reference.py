"""The tools of the reference memory server, over this store: what they do, and in which form."""

from itertools import pairwise
from typing import Any

from tacit import limits
from tacit.memory import Memory
from tests.contract.rooms import ALICE, BOB, group, private, said
from tests.tools.calling import ANN, WORKS, call, data

ACME: dict[str, Any] = {"name": "Acme", "entityType": "company", "observations": []}


def graph(memory: Memory) -> Any:
    return data(private(memory, ALICE), "read_graph")


def test_what_is_created_is_answered_and_read_back(memory: Memory) -> None:
    own = private(memory, ALICE)
    assert graph(memory) == {"entities": [], "relations": []}
    made = data(own, "create_entities", entities=[ANN, ACME])
    assert made == {"entities": [ANN, ACME]}
    assert data(own, "create_relations", relations=[WORKS]) == {"relations": [WORKS]}
    found = graph(memory)
    assert sorted(found["entities"], key=lambda one: one["name"]) == [ACME, ANN]
    assert found["relations"] == [WORKS]


def test_what_is_there_is_not_created_again(memory: Memory) -> None:
    own = private(memory, ALICE)
    data(own, "create_entities", entities=[ANN])
    data(own, "create_relations", relations=[WORKS])
    other = {**ANN, "entityType": "robot", "observations": ["likes oil"]}
    assert data(own, "create_entities", entities=[other, ACME]) == {"entities": [ACME]}
    assert data(own, "create_relations", relations=[WORKS]) == {"relations": []}
    assert ANN in graph(memory)["entities"]


def test_observations_keep_their_order_and_are_added_once(memory: Memory) -> None:
    own = private(memory, ALICE)
    data(own, "create_entities", entities=[ANN])
    more = ["has a cat", "likes tea", "speaks Dutch"]
    added = data(own, "add_observations", observations=[{"entityName": "Ann", "contents": more}])
    assert added["results"] == [{"entityName": "Ann", "addedObservations": ["has a cat", "speaks Dutch"]}]
    gone = [{"entityName": "Ann", "observations": ["has a cat", "never said"]}]
    assert data(own, "delete_observations", deletions=gone)["success"] is True
    last = [{"entityName": "Ann", "contents": ["sings"]}]
    data(own, "add_observations", observations=last)
    (ann,) = graph(memory)["entities"]
    assert ann["observations"] == ["likes tea", "speaks Dutch", "sings"]


def test_an_observation_names_its_entity_wherever_it_is_read_on_its_own(memory: Memory) -> None:
    own = private(memory, ALICE)
    told = ["Deadline is March", "Moon_Base uses Rust", "the moon base is cold", "Moon Base: far"]
    base = {"name": "Moon_Base", "entityType": "project", "observations": told}
    near = {**base, "name": "Base", "observations": ["Deadline is June", "x" * limits.CONTENT_MAX_CHARS]}
    data(own, "create_entities", entities=[base, near])
    assert "] Moon_Base: Deadline is March" in own.block().text
    assert own.recall("deadline of the moon base")[0].memory.content == ("Moon_Base: Deadline is March")
    kept = said(own.list(prefix="node:Moon_Base|", category="fact"))
    assert kept == sorted(["Moon_Base: Deadline is March", *told[1:]])
    found = {one["name"]: one for one in graph(memory)["entities"]}
    assert found == {"Moon_Base": base, "Base": near}
    assert data(own, "open_nodes", names=["Moon_Base"])["entities"] == [base]
    assert data(own, "search_nodes", query="line is march")["entities"] == [base]
    twice = [{"entityName": "Moon_Base", "contents": ["Deadline is March", "Moon_Base: far"]}]
    (added,) = data(own, "add_observations", observations=twice)["results"]
    assert added["addedObservations"] == ["Moon_Base: far"]
    gone = [{"entityName": "Moon_Base", "observations": ["Deadline is March", *told[1:]]}]
    data(own, "delete_observations", deletions=gone)
    (left,) = data(own, "open_nodes", names=["Moon_Base"])["entities"]
    assert left["observations"] == ["Moon_Base: far"]


def test_nothing_is_added_if_one_entity_is_unknown(memory: Memory) -> None:
    own = private(memory, ALICE)
    data(own, "create_entities", entities=[ANN])
    asked = [{"entityName": "Ann", "contents": ["sings"]}, {"entityName": "Nobody", "contents": ["x"]}]
    assert call(own, "add_observations", observations=asked).failed
    assert graph(memory)["entities"] == [ANN]


def test_nothing_is_created_if_one_holds_a_secret(memory: Memory) -> None:
    own = private(memory, ALICE)
    secret = {**ACME, "observations": ["the key is AKIA" + "Q3EGRWWDGZ4XN5VT"]}
    assert call(own, "create_entities", entities=[ANN, secret]).failed
    assert graph(memory) == {"entities": [], "relations": []}


def test_with_an_entity_go_its_observations_and_relations(memory: Memory) -> None:
    own = private(memory, ALICE)
    data(own, "create_entities", entities=[ANN, ACME])
    data(own, "create_relations", relations=[WORKS])
    assert data(own, "delete_entities", entityNames=["Ann", "Nobody"])["success"] is True
    assert graph(memory) == {"entities": [ACME], "relations": []}
    assert said(own.list()) == ["Acme is a company"]


def test_relations_are_deleted_by_all_three_of_their_parts(memory: Memory) -> None:
    own = private(memory, ALICE)
    other = {**WORKS, "relationType": "owns"}
    data(own, "create_relations", relations=[WORKS, other])
    data(own, "delete_relations", relations=[WORKS, {**WORKS, "to": "Nowhere"}])
    assert graph(memory)["relations"] == [other]


def test_a_search_looks_into_names_types_and_observations(memory: Memory) -> None:
    own = private(memory, ALICE)
    data(own, "create_entities", entities=[ANN, ACME])
    data(own, "create_relations", relations=[WORKS])
    for query, names in (("ann", ["Ann"]), ("COMPANY", ["Acme"]), ("tea", ["Ann"]), ("zebra", [])):
        found = data(own, "search_nodes", query=query)
        assert [one["name"] for one in found["entities"]] == names, query
        assert found["relations"] == ([WORKS] if names else [])
    assert len(data(own, "search_nodes", query="")["entities"]) == 2


def test_odd_names_come_back_as_they_are(memory: Memory) -> None:
    own = private(memory, ALICE)
    names = ["a|b", "100%", "%7C", "Ærø / ø", "node:x", "日本", "a\\b", "_", "is a"]
    entities = [{"name": name, "entityType": "thing", "observations": ["x"]} for name in names]
    assert data(own, "create_entities", entities=entities) == {"entities": entities}
    pairs = list(pairwise(names))
    relations = [{"from": a, "to": b, "relationType": "is %|"} for a, b in pairs]
    data(own, "create_relations", relations=relations)
    found = graph(memory)
    assert {one["name"] for one in found["entities"]} == set(names)
    assert {(one["from"], one["to"]) for one in found["relations"]} == set(pairs)
    data(own, "delete_entities", entityNames=["a|b"])
    assert len(graph(memory)["relations"]) == len(pairs) - 1


def test_keys_that_only_look_like_the_graphs_do_not_break_it(memory: Memory) -> None:
    own = private(memory, ALICE)
    data(own, "create_entities", entities=[ANN])
    for key in ("node:Ann|note", "node:Ann|", "node:|", "node:Ann|1", "edge:Ann", "edge:"):
        own.put("fact", key, "somebody's own")
    assert ANN in graph(memory)["entities"]
    data(own, "add_observations", observations=[{"entityName": "Ann", "contents": ["has a cat"]}])
    assert {**ANN, "observations": ["likes tea", "has a cat"]} in graph(memory)["entities"]


def test_what_is_somebody_elses_stays_and_the_rest_is_forgotten(memory: Memory) -> None:
    room: dict[str, Any] = {"visibility": "room", "sensitivity": "public"}
    own, here = private(memory, ALICE), group(memory, ALICE)
    own.put("fact", "node:Rome", "Rome is a city", visibility="public_ok", sensitivity="public")
    group(memory, BOB).put("fact", "node:Rome|000000", "Bob was there", **room)
    assert len(here.list("fact", prefix="node:Rome")) == 2
    data(here, "delete_entities", entityNames=["Rome"])
    assert said(here.list("fact", prefix="node:Rome")) == ["Bob was there"]
