"""People, relations and counts over HTTP, in pages, and each for their own."""

from tacit.records.accounts import Scope
from tests.server.calls import ALICE, BOB, TEAM, World, refused


def test_people_are_named_and_told(world: World) -> None:
    asked = world.caller()
    names = ["Sarah", "Tom", "Uma", "Vic", "Wim"]
    for name in names:
        person = asked.did("/api/people/name", person=name, name=f"{name} B.")
        assert {one["text"] for one in person["names"]} >= {name, f"{name} B."}
    whole = asked.told("/api/people")["items"]
    assert world.caller(BOB).told("/api/people")["items"] != whole
    assert "Sarah" not in str(world.caller(BOB).told("/api/people"))


def test_what_is_about_a_person_is_told_newest_first(world: World) -> None:
    asked = world.caller()
    for number in range(3):
        asked.did("/api/remember", content=f"Sarah likes {number}", about=["Sarah"])
        world.clock.forward(seconds=1)
    page = asked.told("/api/about", person="Sarah", limit=2)
    assert [one["content"] for one in page["items"]] == ["Sarah likes 2", "Sarah likes 1"]
    assert asked.told("/api/about", person="Nobody Known")["items"] == []
    assert world.caller(BOB).told("/api/about", person="Sarah")["items"] == []


def test_relations_are_between_ones_own_memories(world: World) -> None:
    asked = world.caller()
    one, two = (asked.did("/api/remember", content=words)["id"] for words in ("apple", "pear"))
    again = asked.with_headers(Idempotency_Key="r1")
    for _ in range(2):
        assert again.did("/api/relations", id=one, other=two, strength=0.5) is None
    refused(again.post("/api/relations", id=two, other=one), 409)
    refused(asked.post("/api/relations", id=["x"], other=two), 404)


def test_counts_are_ones_own_and_in_private_alone(world: World) -> None:
    world.caller().did("/api/remember", content="apple")
    assert world.caller().told("/api/stats")["memories"] == 1
    assert world.caller(ALICE, TEAM).told("/api/stats")["memories"] == 0
    assert world.caller(BOB).told("/api/stats")["memories"] == 0


def test_a_view_says_whether_it_remembers(world: World) -> None:
    assert world.caller().told("/api/view") == {"enabled": True, "why_disabled": None}
    refused(world.caller(None).get("/api/view"), 422, "requester")
    refused(world.keyed(Scope.ADMIN, Scope.READ).get("/api/view"), 403)


def test_two_whom_the_caller_named_are_merged_and_parted(world: World) -> None:
    asked, bob = world.caller(), world.caller(BOB)
    ids = [asked.did("/api/people/name", person=one, name=f"{one} B.")["id"] for one in ("Al", "Ed")]
    pair = dict(zip(("person", "into"), ids, strict=True))
    merged = asked.did("/api/people/merge", **pair)
    assert (merged["identities"], len(merged["names"])) == (sorted(ids), 4)
    refused(asked.post("/api/people/merge", **pair), 409)
    refused(bob.post("/api/people/merge", **pair), 404)
    refused(world.caller(ALICE, TEAM).post("/api/people/unmerge", person=ids[0]), 404)
    writer = world.keyed(Scope.WRITE, requester=ALICE)
    assert writer.did("/api/people/unmerge", person=ids[0]) == {"id": ids[0], "names": [], "identities": []}
    refused(asked.post("/api/people/unmerge", person=ids[0]), 404)
