"""Learning over HTTP: what was said is handed over, kept, and asked about."""

from typing import Any

from tests.server.calls import BOB, TEAM, World, good, refused

SAID = {"role": "user", "content": "My sister is called Sarah"}
DRAFT = {
    "summary": "Talked about the trip.",
    "topics": [{"topic": "Trip", "result": "booked"}],
    "facts": ["The flight is at nine"],
    "tasks": [{"text": "Pack", "done": True}],
    "follow_ups": [{"text": "Ask for a window seat"}],
    "links": [{"text": "Tickets", "target": "https://example.org/t"}],
    "tags": ["travel"],
}


def test_what_was_said_is_accepted_and_learned_later(world: World) -> None:
    asked = world.caller()
    accepted = asked.post("/api/learn", messages=[SAID, {"role": "assistant", "content": "Noted"}])
    assert accepted.status_code == 202
    assert accepted.json() == {"turns": 1, "refused": []}
    world.memory.jobs.wait_for_learning()
    assert asked.did("/api/recall", query="sister")
    assert world.caller(BOB).did("/api/recall", query="sister") == []


def test_a_message_with_a_secret_is_not_even_queued(world: World) -> None:
    secret = {"role": "user", "content": "my password is hunter2-Kx93!"}
    told = world.caller().did("/api/learn", messages=[secret])
    assert told["turns"] == 0
    assert told["refused"]
    assert "hunter2" not in str(told)


def test_what_is_said_once_under_a_key_is_learned_once(world: World) -> None:
    asked = world.caller().with_headers(Idempotency_Key="turn-1")
    assert asked.did("/api/learn", messages=[SAID]) == asked.did("/api/learn", messages=[SAID])
    assert world.memory.jobs.pending().turns == 1
    refused(asked.post("/api/learn", messages=[{**SAID, "content": "Other words here"}]), 409)


def test_who_takes_back_a_message_takes_back_their_own(world: World) -> None:
    asked, bob = world.caller(chat=TEAM), world.caller(BOB, chat=TEAM)
    asked.did("/api/learn", messages=[{**SAID, "id": "m1"}])
    world.memory.jobs.wait_for_learning()
    nothing = dict.fromkeys(("forgotten", "reworded", "restored", "proposals", "turns", "recorded"), 0)
    assert bob.did("/api/unlearn", message="m1") == nothing
    assert asked.did("/api/unlearn", message="nobodys") == nothing
    once = asked.with_headers(Idempotency_Key="deleted-1")
    for _ in range(2):
        assert once.did("/api/unlearn", message="m1") == {**nothing, "forgotten": 1, "recorded": 1}
    assert asked.did("/api/unlearn", message="m1") == nothing
    refused(asked.post("/api/unlearn", message=" "), 422, "message")
    refused(asked.post("/api/unlearn"), 422, "message")


def test_turns_are_kept_as_they_were_said(world: World) -> None:
    said = {**SAID, "at": "2026-03-01T10:00:00+02:00", "name": "Al", "id": "m1"}
    told = world.caller().did("/api/record", messages=[said], session="monday")
    assert len(told["ids"]) == 1
    (found,) = world.caller().did("/api/recall", query="sister", include=["turns"])
    assert found["memory"]["content"] == SAID["content"]
    assert found["memory"]["observed_at"] == "2026-03-01T08:00:00+00:00"
    assert found["memory"]["name"] == "Al"


def test_a_trace_leaves_nothing_behind_unless_it_is_to_be_kept(world: World) -> None:
    asked = world.caller()
    steps = asked.did("/api/trace", text=SAID["content"])
    assert steps[0]["stage"] == "screen"
    assert asked.did("/api/recall", query="sister") == []
    assert asked.did("/api/trace", text=SAID, keep=True)
    assert asked.did("/api/recall", query="sister")


def _proposed(world: World, *names: str) -> list[dict[str, Any]]:
    """Values of keys, each of which waits for a yes to be said anywhere."""
    asked = world.caller()
    for name in names:
        good(asked.put(f"/api/items/preference/{name}", value=f"likes {name}"))
        assert asked.did("/api/proposals", category="preference", key=name) is None
        world.clock.forward(seconds=1)
    items: list[dict[str, Any]] = asked.told("/api/proposals")["items"]
    return items


def test_proposals_are_told_in_pages_and_answered_one_by_one(world: World) -> None:
    asked = world.caller()
    first, second, third = _proposed(world, "tea", "milk", "cake")
    page = asked.told("/api/proposals", limit=2)
    assert page["items"] == [first, second]
    rest = asked.told("/api/proposals", limit=2, cursor=page["cursor"])
    assert rest == {"items": [third], "cursor": None}
    assert good(asked.post(f"/api/proposals/{first['id']}/approve")) is None
    assert good(asked.post(f"/api/proposals/{second['id']}/decline")) is None
    # The one that the cursor names is gone: the next page begins where it stood.
    assert asked.told("/api/proposals", limit=2, cursor=page["cursor"])["items"] == [third]
    assert asked.told("/api/proposals")["items"] == [third]


def test_an_answer_is_given_once_under_one_key(world: World) -> None:
    (waiting,) = _proposed(world, "tea")
    asked = world.caller().with_headers(Idempotency_Key="yes")
    for _ in range(2):
        assert good(asked.post(f"/api/proposals/{waiting['id']}/approve")) is None
    refused(world.caller().post(f"/api/proposals/{waiting['id']}/approve"), 404)


def test_a_session_begins_with_what_the_last_one_came_to(world: World) -> None:
    asked = world.caller()
    ended = asked.did("/api/sessions/end", draft=DRAFT, session="trip")
    assert ended["added"] > 0
    woken = asked.did("/api/sessions/begin", session="trip")
    assert woken["today"]["head"]["summary"] == "Talked about the trip."
    assert "Talked about the trip." not in str(world.caller(BOB).did("/api/sessions/begin"))
    assert asked.did("/api/sessions/end")["added"] == 0
