"""A person's memories as a picture, and what happened to them, over HTTP: each for their own."""

from tests.server.calls import ALICE, BOB, TEAM, World


def test_a_picture_is_of_ones_own_and_for_ones_own_eyes(world: World) -> None:
    asked = world.caller()
    asked.did("/api/remember", content="Tom likes tea", about=["Tom"])
    graph = asked.told("/api/graph")
    assert {(node["kind"], node["label"]) for node in graph["nodes"]} == {
        ("memory", "Tom likes tea"),
        ("person", "Tom"),
    }
    assert [edge["kind"] for edge in graph["edges"]] == ["about"]
    assert asked.told("/api/graph", limit=1)["edges"] == []
    nothing = {"nodes": [], "edges": [], "left_out": 0}
    assert world.caller(BOB).told("/api/graph") == nothing
    assert world.caller(ALICE, TEAM).told("/api/graph") == nothing


def test_what_happened_is_told_in_pages_and_counted_by_day(world: World) -> None:
    asked = world.caller()
    made = asked.did("/api/remember", content="I live in Rome")["id"]
    asked.did(f"/api/memory/{made}/update", content="I live in Porto")
    newest = asked.told("/api/activity", limit=1)
    assert [(one["event"], one["content"]) for one in newest["items"]] == [("UPDATE", "I live in Porto")]
    rest = asked.told("/api/activity", limit=1, cursor=newest["cursor"])
    assert [one["event"] for one in rest["items"]] == ["ADD"]
    assert asked.told("/api/activity", since="2999-01-01T00:00:00Z")["items"] == []
    days = asked.told("/api/activity/days", days=2)
    assert [one["counts"] for one in days] == [{}, {"learned": 1, "updated": 1}]
    assert world.caller(BOB).told("/api/activity")["items"] == []
    assert world.caller(ALICE, TEAM).told("/api/activity/days") == []
