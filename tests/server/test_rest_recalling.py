"""What comes to mind, over HTTP: for the requester and the chat that the request names."""

from typing import Any

from tacit.records.accounts import Scope
from tests.server.calls import ALICE, BOB, World, refused

SEED: dict[str, Any] = {
    "query": "deployment plan context",
    "categories": ["task_state", "project"],
    "filters": {
        "user_id": ALICE,
        "agent_id": None,
        "run_id": None,
        "actor_id": None,
        "role": None,
        "pinned": False,
        "importance_min": 1,
        "importance_max": 5,
        "updated_after": "2025-07-01",
        "updated_before": None,
    },
    "top_k": 3,
    "return": "bullets",
    "budget_tokens": 512,
    "threshold": 0.01,
}


def kept(world: World, content: str, who: str = ALICE, **fields: Any) -> str:
    done: dict[str, Any] = world.caller(who).did("/api/remember", content=content, **fields)
    return str(done["id"])


def test_a_query_is_asked_and_answered_as_its_specification_says(world: World) -> None:
    id = kept(world, "the deployment plan is in the wiki", category="project")
    found = world.caller().did("/api/query", agent="planner", **SEED)
    text = "[project] the deployment plan is in the wiki"
    assert found == [{"id": id, "category": "project", "text": text}]


def test_a_full_query_has_the_records_behind_the_lines(world: World) -> None:
    id = kept(world, "the deployment plan is in the wiki", category="project", importance=4)
    (found,) = world.caller().did("/api/query", **{**SEED, "return": "full"})
    assert found["id"] == found["recalled"]["memory"]["id"] == id
    assert found["recalled"]["memory"]["importance"] == 4
    assert found["recalled"]["rule"] == "P1"
    assert found["related"] is False


def test_a_line_that_is_only_related_says_so(world: World) -> None:
    asked = world.caller()
    hit, beside = kept(world, "apple pie"), kept(world, "bake at 180 degrees")
    assert asked.did("/api/relations", id=hit, other=beside, relation="needs") is None
    first, second = asked.did("/api/query", query="apple")
    assert (first["id"], first.get("related")) == (hit, None)
    assert (second["id"], second["related"]) == (beside, True)


def test_what_is_no_json_is_refused(world: World) -> None:
    json = {"Content-Type": "application/json"}
    for content in (b"", b"{", b'{"query": NaN}', b"\xff", b"[" * 100_000):
        sent = world.caller().send("POST", "/api/query", content=content, headers=json)
        refused(sent, 422)
    refused(world.caller().send("POST", "/api/query", content=b"query=x"), 415)


def test_an_agents_key_asks_for_no_other_agent(world: World) -> None:
    own = world.keyed(Scope.READ, requester=ALICE, agent="planner")
    assert own.did("/api/query", query="x", agent="planner") == []
    refused(own.post("/api/query", query="x", agent="stylist"), 403)
    refused(world.caller(Agent="planner").post("/api/query", query="x", agent="b"), 422, "agent")


def test_a_narrow_key_recalls_nothing_outside_its_categories(world: World) -> None:
    kept(world, "apple pie", category="goal")
    kept(world, "apple tart", category="project")
    own = world.keyed(Scope.READ, requester=ALICE, categories=["goal"])
    assert [one["category"] for one in own.did("/api/query", query="apple", top_k=9)] == ["goal"]
    assert len(own.did("/api/recall", query="apple")) == 1
    refused(own.post("/api/recall", query="apple", categories=["project"]), 422, "categories")


def test_recall_says_how_strongly_why_and_by_which_rule(world: World) -> None:
    kept(world, "apple pie", pinned=True)
    (found,) = world.caller().did("/api/recall", query="apple", pinned=True, top_k=1)
    assert found["memory"]["content"] == "apple pie"
    assert found["rule"] == "P1"
    assert found["why"]
    assert 0 < found["score"] <= 1.5
    assert found["signals"]["words"] > 0


def test_recall_is_narrowed_by_times_that_have_a_zone(world: World) -> None:
    kept(world, "apple pie")
    day = world.clock().date().isoformat()
    asked = world.caller()
    assert asked.did("/api/recall", query="apple", updated_after=f"{day}T00:00:00Z")
    assert asked.did("/api/recall", query="apple", updated_before=f"{day}T00:00:00Z") == []
    refused(asked.post("/api/recall", query="apple", as_of=day), 422, "as_of")


def test_the_block_and_the_fresh_part_are_the_requesters_own(world: World) -> None:
    id = kept(world, "apple pie is for Sunday")
    block = world.caller().told("/api/block")
    assert block["ids"] == [id]
    assert "apple pie is for Sunday" in block["text"]
    assert world.caller().told("/api/block", style="filtered")["text"] != block["text"]
    fresh = world.caller().did("/api/fresh", query="apple", since=block["revision"])
    assert [one["memory"]["id"] for one in fresh["recalled"]] == [id]
    for path, told in (("/api/block", None), ("/api/fresh", "apple")):
        other = world.caller(BOB)
        answer = other.told(path) if told is None else other.did(path, query=told)
        assert "apple" not in answer["text"]


def test_a_delta_is_that_of_the_thread_in_the_path_or_the_header(world: World) -> None:
    weekend = world.caller(Thread="plans/weekend")
    weekend.did("/api/remember", content="apple pie")
    delta = weekend.told("/api/delta")
    assert [one["content"] for one in delta["changes"]] == ["apple pie"]
    assert world.caller().told("/api/threads/plans%2Fweekend/delta") == delta
    assert world.caller().told("/api/threads/plans/weekend/delta", since=0) == delta
    assert world.caller().told("/api/delta")["changes"] == []
    assert weekend.told("/api/delta", since=delta["revision"])["changes"] == []
    for wrong in ("-1", "x", "9" * 30, ""):
        refused(weekend.get("/api/delta", since=wrong), 422, "since")
    refused(weekend.get("/api/threads//delta"), 422, "thread")
    refused(weekend.get("/api/threads/two%0Alines/delta"), 422, "thread")
    refused(weekend.get("/api/delta?since=0&since=1"), 422, "since")
    refused(weekend.get("/api/delta", until="1"), 422, "until")
