"""What each tool enforces, whatever a model would like."""

import pytest

import tacit
from tacit.memory import Memory
from tacit.settings import Settings
from tacit.tools import tools
from tests.contract.rooms import ALICE, BOB, group, kept, private, said
from tests.tools.calling import call, data

ZONE = {"namespace": "profile", "key": "timezone"}


def test_a_value_that_a_tool_would_have_public_waits_for_its_owner(memory: Memory) -> None:
    own = private(memory, ALICE)
    assert data(own, "memory_put", **ZONE, value="Lisbon", visibility="public_ok")["asked"]
    assert data(group(memory, ALICE), "memory_get", **ZONE) == {"memory": None}
    (asked,) = own.proposals.list()
    assert asked.content == "Lisbon"
    own.proposals.approve(asked.id)
    heard = data(group(memory, ALICE), "memory_get", **ZONE)["memory"]
    assert heard["content"] == "Lisbon"


def test_in_a_group_a_value_is_private_too_and_is_asked_about_in_private(memory: Memory) -> None:
    room = group(memory, ALICE)
    data(room, "memory_put", **ZONE, value="Lisbon", visibility="public_ok")
    assert data(room, "memory_list")["memories"] == []
    assert room.proposals.list() == []
    assert [one.content for one in private(memory, ALICE).proposals.list()] == ["Lisbon"]


def test_to_write_a_value_again_keeps_how_far_it_may_go(memory: Memory) -> None:
    own = private(memory, ALICE)
    own.put("profile", "timezone", "Lisbon", visibility="public_ok")
    data(own, "memory_put", **ZONE, value="Porto")
    assert data(group(memory, ALICE), "memory_get", **ZONE)["memory"]["content"] == "Porto"
    data(own, "memory_put", **ZONE, value="Porto", visibility="private_only")
    assert data(group(memory, ALICE), "memory_get", **ZONE) == {"memory": None}


def test_category_is_another_word_for_namespace(memory: Memory) -> None:
    own = private(memory, ALICE)
    data(own, "memory_put", category="profile", key="zone", value="Lisbon")
    assert data(own, "memory_get", category="profile", key="zone")["memory"]["content"] == "Lisbon"
    assert data(own, "memory_delete", category="profile", key="zone") == {"forgotten": 1}


def test_to_forget_reaches_the_person_s_own_alone(memory: Memory) -> None:
    kept(private(memory, BOB), "Bob's", category="goal")
    own = private(memory, ALICE)
    kept(own, "Alice's", category="goal")
    assert data(own, "memory_delete_namespace", namespace="goal") == {"forgotten": 1}
    assert said(private(memory, BOB).list()) == ["Bob's"]
    assert data(own, "memory_delete", namespace="goal", key="none") == {"forgotten": 0}


def test_something_alike_is_suggested_and_not_stored_twice(memory: Memory) -> None:
    own = private(memory, ALICE)
    fact = {"category": "person", "subject": "Sarah"}
    first = data(own, "add_to_memory", content="Sarah works on the Platform team", **fact)
    again = data(own, "add_to_memory", content="Sarah works on the Design team", **fact)
    assert (first["stored"], again["stored"]) == (True, False)
    assert again["suggestion"]["id"] == first["id"]
    changed = data(own, "update_memory", memory_id=first["id"], content="Sarah is in Design")
    assert changed["old_content"] == "Sarah works on the Platform team"
    assert (changed["id"], changed["version"]) == (first["id"], 2)
    forced = data(own, "add_to_memory", content="Sarah leads Design", force=True, **fact)
    assert forced["stored"]


@pytest.mark.parametrize("content", ["four", "x" * 501])
def test_a_fact_has_five_to_five_hundred_characters(memory: Memory, content: str) -> None:
    own = private(memory, ALICE)
    assert call(own, "add_to_memory", content=content, category="context").failed
    id = kept(own, "A fact")
    assert call(own, "update_memory", memory_id=id, content=content).failed
    assert said(own.list()) == ["A fact"]


def test_what_a_model_keeps_in_a_group_is_the_askers_own(memory: Memory) -> None:
    """Only what people say there is a room's: a tool call makes nothing for everybody to hear."""
    data(group(memory, ALICE), "add_memory", content="The standup is at nine")
    assert said(group(memory, BOB).list()) == []
    assert said(private(memory, ALICE).list()) == ["The standup is at nine"]
    refused = call(group(memory, ALICE), "add_memory", content="Ours", scope="group")
    assert refused.failed


def test_a_model_may_raise_sensitivity_and_not_lower_it(memory: Memory) -> None:
    own = private(memory, ALICE)
    assert call(own, "add_memory", content="Alice is ill", sensitivity="public").failed
    id = data(own, "add_memory", content="Alice is ill", sensitivity="sensitive")["id"]
    assert own.show(id).sensitivity == "sensitive"


def test_a_question_is_answered_in_the_forms_of_its_contract(memory: Memory) -> None:
    own = private(memory, ALICE)
    id = kept(own, "The deployment is on Friday", category="project")
    asked = {"query": "when is the deployment?", "categories": ["project"], "top_k": 3}
    (bullet,) = data(own, "memory_query", **asked)["bullets"]
    assert bullet == {"id": id, "category": "project", "text": "[project] The deployment is on Friday"}
    (full,) = data(own, "memory_query", **asked, **{"return": "full"})["bullets"]
    assert full["memory"]["content"] == "The deployment is on Friday"
    assert data(own, "memory_query", **asked, budget_tokens=1) == {"bullets": []}
    vague = {**asked, "query": "when is the deployment, and who comes to the party?"}
    assert data(own, "memory_query", **vague)["bullets"] == [bullet]
    assert data(own, "memory_query", **vague, threshold=0.99) == {"bullets": []}
    assert data(own, "memory_query", **asked, filters={"pinned": True}) == {"bullets": []}


def test_an_agent_gets_no_further_than_its_allow_list() -> None:
    settings = Settings(allowlists={"planner": ("goal",)})
    with tacit.open("sqlite://", settings=settings, embedder=None) as memory:
        kept(private(memory, ALICE), "Alice wants to run a marathon", category="goal")
        kept(private(memory, ALICE), "Alice has a marathon watch", category="fact")
        view = memory.view(ALICE, tacit.Chat.private(ALICE.key), agent="planner")
        found = data(view, "search_memories", query="marathon")["memories"]
        assert [one["category"] for one in found] == ["goal"]
        assert call(view, "memory_put", namespace="fact", key="k", value="v").failed
        assert call(view, "memory_query", query="marathon", categories=["fact"]).failed
        assert call(view, "memory_query", query="marathon", agent="other").failed
        assert {t.name for t in tools(view)} == {t.name for t in tools(private(memory, ALICE))}


def test_a_secret_is_refused_and_not_repeated(memory: Memory) -> None:
    secret = "AKIA" + "Q3EGRWWDGZ4XN5VT"
    own = private(memory, ALICE)
    for name, arguments in (
        ("memory_put", {"namespace": "fact", "key": "k", "value": f"It is {secret}"}),
        ("add_to_memory", {"content": f"It is {secret}", "category": "context"}),
        ("add_memory", {"content": f"It is {secret}"}),
        ("write_file", {"path": "a.md", "text": f"- It is {secret}\n"}),
    ):
        answer = call(own, name, **arguments)
        assert answer.failed
        assert secret not in answer.text
    assert own.stats().memories == 0


def test_a_call_lists_only_so_many_things_in_all(memory: Memory) -> None:
    own = private(memory, ALICE)

    def entities(count: int, observed: int) -> list[dict[str, object]]:
        facts = [f"fact {n}" for n in range(observed)]
        made = {"entityType": "thing", "observations": facts}
        return [{"name": f"E{n}", **made} for n in range(count)]

    for many in (entities(201, 0), entities(1, 200), entities(20, 10)):
        answer = call(own, "create_entities", entities=many)
        assert answer.failed
        assert "200 things in all; call it in steps" in answer.text
    assert said(own.list()) == []
    assert not call(own, "create_entities", entities=entities(10, 19)).failed
