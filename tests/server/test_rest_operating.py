"""Chats and whole spaces over HTTP: for adapters and operators, and nobody else."""

from typing import Any

from tacit.records.accounts import Scope
from tests.server.calls import ALICE, BOB, TEAM, Caller, World, good, refused

CONTENT = "apple pie for the surprise party"


def operator(world: World) -> Caller:
    return world.keyed(Scope.ADMIN)


def test_who_joined_a_group_may_ask_there_until_they_leave(world: World) -> None:
    own = world.keyed(Scope.READ, requester=BOB)
    there = own.with_headers(X_Tacit_Chat=TEAM)
    refused(there.get("/api/view"), 403)
    adapter = world.caller(None)
    assert adapter.did(f"/api/chats/{TEAM}/joined", person=BOB) is None
    assert there.told("/api/view")["enabled"]
    assert adapter.did(f"/api/chats/{TEAM}/migrated", new="telegram:-777") is None
    assert own.with_headers(X_Tacit_Chat="telegram:-777").told("/api/view")["enabled"]
    assert adapter.did("/api/chats/telegram:-777/left", person=BOB) is None
    refused(own.with_headers(X_Tacit_Chat="telegram:-777").get("/api/view"), 403)


def test_what_is_said_in_a_confidential_group_does_not_leave_it(world: World) -> None:
    adapter = world.caller(None)
    for person in (ALICE, BOB):
        adapter.did(f"/api/chats/{TEAM}/joined", person=person)
    group = world.caller(BOB, TEAM, Participants=f"{ALICE},{BOB}")
    said: Any = {"visibility": "room", "sensitivity": "public", "portable": True}
    group.did("/api/remember", content="the launch is on Monday", about=[ALICE], **said)
    assert world.caller(ALICE).did("/api/query", query="launch")
    adapter.did(f"/api/chats/{TEAM}/confidential")
    in_group = world.caller(BOB, TEAM, Participants=f"{ALICE},{BOB}")
    assert in_group.did("/api/query", query="launch")
    elsewhere = world.caller(ALICE, "telegram:-200", Participants=ALICE)
    assert elsewhere.did("/api/query", query="launch") == []
    adapter.did(f"/api/chats/{TEAM}/confidential", on=False)


def test_a_link_is_begun_verified_and_ended(world: World) -> None:
    asked = operator(world)
    made = asked.post("/api/links", external_key=ALICE, account="acct:a", verified=False)
    assert made.status_code == 201
    assert made.json()["actor"].startswith("key:")
    refused(asked.post("/api/links", external_key=ALICE, account="acct:b"), 409)
    assert asked.did("/api/verify-link", external_key=ALICE)["verified_at"]
    assert good(asked.delete(f"/api/links/{ALICE}"))["source"] == f"ext:{ALICE}"
    refused(asked.delete(f"/api/links/{ALICE}"), 404)
    refused(asked.post("/api/verify-link", external_key=ALICE), 404)
    (link,) = asked.told("/api/links", identity=ALICE)["items"]
    assert link["ended_at"]
    assert asked.told("/api/links", identity="acct:a")["items"] == [link]


def test_events_tell_how_often_and_never_what(world: World) -> None:
    for number in range(2):
        world.caller().did("/api/remember", content=f"{CONTENT} {number}")
    asked = operator(world)
    page = asked.told("/api/events", node="hotpath", op="create")
    assert [one["count"] for one in page["items"]] == [2]
    told = asked.get("/api/events").text
    assert "apple" not in told
    assert "telegram" not in told
    tomorrow = f"{world.clock().date().replace(year=2027).isoformat()}T00:00:00Z"
    assert asked.told("/api/events", since=tomorrow)["items"] == []


def test_jobs_are_told_and_run(world: World) -> None:
    asked = operator(world)
    told = [one["task"] for one in asked.told("/api/jobs")["items"]]
    assert "expire" in told
    assert asked.told("/api/jobs", limit=2)["cursor"]
    ran = good(asked.send("POST", "/api/jobs/expire/run"))
    assert ran["task"] == "expire"
    assert ran["last"]["problem"] is None


def test_a_whole_space_is_counted_and_no_other(world: World) -> None:
    world.caller().did("/api/remember", content=CONTENT)
    world.caller(BOB).did("/api/remember", content="pear tart")
    assert operator(world).told("/api/spaces/stats")["memories"] == 2
    other = world.memory.space("another-space").keys.create("own", scopes=["admin"])
    elsewhere = Caller(world.client, {"Authorization": f"Bearer {other.token}"})
    assert elsewhere.told("/api/spaces/stats")["memories"] == 0
