"""What is done to one memory: its past, its reach, and its end."""

import pytest

from tacit.records.accounts import Scope
from tests.server.calls import ALICE, BOB, TEAM, World, good, refused

HERE = "telegram:1001,telegram:2002"


@pytest.fixture
def one(world: World) -> str:
    """The address of a memory of Alice's."""
    id = world.caller().did("/api/remember", content="I live in Lisbon", kind="identity")["id"]
    return f"/api/memory/{id}"


def test_an_update_takes_every_field_that_the_library_takes(world: World, one: str) -> None:
    alice = world.caller()
    done = alice.did(
        f"{one}/update",
        content="I live in Porto",
        if_version=1,
        importance=5,
        tags=["home"],
        observed_at="2026-02-01T10:00:00+01:00",
    )
    assert (done["version"], done["created"]) == (2, False)
    told = alice.told(f"{one}/record")
    assert (told["importance"], told["tags"]) == (5, ["home"])
    assert told["observed_at"] == "2026-02-01T09:00:00+00:00"
    refused(alice.post(f"{one}/update", content="I live here", if_version=1), 409)


def test_pins_and_reach_are_set_on_their_own(world: World, one: str) -> None:
    alice = world.caller()
    assert alice.put(f"{one}/pinned", on=True).status_code == 204
    assert alice.told(f"{one}/record")["pinned"] is True
    assert alice.put(f"{one}/pinned", on=False).status_code == 204
    assert alice.put(f"{one}/visibility", visibility="public_ok").status_code == 204
    assert alice.told(f"{one}/record")["visibility"] == "public_ok"
    assert alice.post(f"{one}/withhold", who=["Bob"]).status_code == 204
    assert alice.told(f"{one}/record")["withheld_from"]


def test_history_tells_the_past_and_erasing_ends_it(world: World, one: str) -> None:
    alice = world.caller()
    alice.did(f"{one}/update", content="I live in Porto")
    events = [(entry["event"], entry["version"]) for entry in alice.told(f"{one}/history")]
    assert events == [("ADD", 1), ("UPDATE", 2)]
    erased = good(alice.send("POST", f"{one}/erase"))
    assert erased["count"] == 1
    assert erased["certificate"]["counts"]["memories"] == 1
    assert (erased["complete"], erased["certificate"]["pending"]) == (True, [])
    refused(alice.get(f"{one}/history"), 404)


def test_erasing_tells_what_is_pending(world: World, one: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.lifecycle.erasure.scrub_files", lambda _: False)
    erased = good(world.caller().send("POST", f"{one}/erase"))
    (pending,) = erased["certificate"]["pending"]
    assert not erased["complete"]
    assert pending["where"] == "rows"
    assert "tacit maintain" in pending["ends"]


def test_explaining_says_the_rule_for_this_chat_and_for_another(world: World, one: str) -> None:
    alice = world.caller()
    assert alice.told(f"{one}/explain")["allowed"] is True
    world.caller(chat=TEAM, Participants=HERE).did("/api/remember", content="we meet on Mondays")
    there = {"id": TEAM, "kind": "group", "participants": [ALICE, {"key": BOB, "name": "Bob"}]}
    elsewhere = alice.did(f"{one}/explain", chat=there)
    assert (elsewhere["allowed"], bool(elsewhere["says"])) == (False, True)
    by_bob = {"chat": {"id": BOB, "kind": "private"}, "asked_by": {"key": BOB}}
    assert alice.did(f"{one}/explain", **by_bob)["allowed"] is False


def test_a_key_of_ones_own_explains_only_rooms_that_the_store_knows(world: World, one: str) -> None:
    mine = world.keyed(Scope.READ, requester=ALICE)
    refused(mine.post(f"{one}/explain", chat={"id": BOB, "kind": "private"}), 403)
    group = {"id": TEAM, "kind": "group"}
    refused(mine.post(f"{one}/explain", chat={**group, "participants": [BOB]}), 403)
    refused(mine.post(f"{one}/explain", asked_by={"key": BOB}), 403)
    refused(mine.post(f"{one}/explain", chat=group), 403)  # not a member
    world.caller(chat=TEAM, Participants=HERE).did("/api/remember", content="we meet on Mondays")
    assert mine.did(f"{one}/explain", chat=group)["allowed"] is False
    assert mine.did(f"{one}/explain", chat={"id": ALICE, "kind": "private"})["allowed"] is True


def test_who_would_hear_a_memory_is_told_by_room_and_by_person(world: World, one: str) -> None:
    alice = world.keyed(Scope.READ, requester=ALICE)
    world.caller(chat=TEAM, Participants=HERE).did("/api/remember", content="we meet on Mondays")
    rooms = alice.told("/api/rooms")["items"]
    assert [(room["id"], room["kind"]) for room in rooms] == [(ALICE, "private"), (TEAM, "group")]
    assert [person["id"] for person in rooms[1]["people"]] == [f"ext:{BOB}"]
    hearers = alice.told(f"{one}/hearers")
    assert [room["id"] for room, why in hearers["rooms"] if why["allowed"]] == [ALICE]
    ((person, why),) = hearers["people"]
    assert (person["id"], why["rule"]) == (f"ext:{BOB}", "PV")
    wider = alice.told(f"{one}/hearers?visibility=public_ok")
    assert [room["id"] for room, why in wider["rooms"] if why["allowed"]] == [ALICE, TEAM]
    refused(alice.get("/api/memory/AAAAAAAA/hearers"), 404)


def test_each_memory_says_whether_it_would_be_heard_in_a_chat(world: World, one: str) -> None:
    alice, mine = world.caller(), world.keyed(Scope.READ, requester=ALICE)
    room = world.caller(chat=TEAM, Participants=HERE)
    room.did("/api/remember", content="we meet on Mondays", visibility="room")
    there = {"id": TEAM, "kind": "group"}
    for caller in (alice, mine):
        page = caller.did("/api/hearing", chat=there, limit=1)
        rest = caller.did("/api/hearing", chat=there, cursor=page["cursor"])
        told = {hit["memory"]["content"]: hit["rule"] for hit in (*page["items"], *rest["items"])}
        assert told["we meet on Mondays"] == "G1b"
        assert set(told.values()) == {"G1b", "GV"}
    found = alice.did("/api/hearing", chat=there, search={"words": "mond", "state": "any"})
    assert [hit["memory"]["content"] for hit in found["items"]] == ["we meet on Mondays"]
    by_bob = {"chat": {"id": BOB, "kind": "private"}, "asked_by": {"key": BOB}}
    assert {hit["rule"] for hit in alice.did("/api/hearing", **by_bob)["items"]} == {"P4", "PV"}
    refused(mine.post("/api/hearing", **by_bob), 403)


def test_wiping_takes_everything_of_the_callers_alone(world: World) -> None:
    alice, bob = world.caller(), world.caller(BOB)
    alice.did("/api/remember", content="I live in Lisbon")
    bob.did("/api/remember", content="I live in Rome")
    assert good(alice.send("POST", "/api/wipe"))["count"] == 1
    assert alice.told("/api/count") == {"count": 0}
    assert bob.told("/api/count") == {"count": 1}
    refused(world.caller(chat=TEAM, Participants=HERE).send("POST", "/api/wipe"), 422, "wipe")
