"""Idempotency keys and ETags: what is sent twice, and what moved on meanwhile."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.server.calls import BOB, World, alike, good, refused

FACT = {"content": "Sarah is my wife", "category": "person", "subject": "Sarah"}


def test_a_write_that_is_sent_twice_is_done_once(world: World) -> None:
    alice = world.caller().with_headers(Idempotency_Key="k1")
    first = alice.did("/api/remember", content="a fact")
    assert alice.did("/api/remember", content="a fact") == first
    assert alice.told("/api/count") == {"count": 1}
    refused(alice.post("/api/remember", content="another fact"), 409)
    bob = world.caller(BOB).with_headers(Idempotency_Key="k1")  # keys are each person's own
    assert bob.did("/api/remember", content="another fact")["created"] is True


def test_a_repeated_creation_is_no_duplicate_of_itself(world: World) -> None:
    alice = world.caller().with_headers(Idempotency_Key="k1")
    first = alice.post("/api/memory/", **FACT)
    again = alice.post("/api/memory/", **FACT)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert first.headers["etag"] == again.headers["etag"]
    refused(world.caller().post("/api/memory/", **FACT), 409)


def test_a_repeated_update_tells_the_same(world: World) -> None:
    alice = world.caller()
    made = alice.post("/api/memory/", **FACT)
    one, tag = made.headers["location"], made.headers["etag"]
    keyed = alice.with_headers(Idempotency_Key="k2", If_Match=tag)
    first = keyed.put(one, content="Sarah is a nurse")
    again = keyed.put(one, content="Sarah is a nurse")
    alike(first, again)
    assert again.json()["old_content"] == "Sarah is my wife"
    refused(keyed.put(one, content="Sarah is a pilot"), 412)


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "two words", "a\tb"])
def test_a_key_is_a_word(world: World, key: str) -> None:
    alice = world.caller().with_headers(Idempotency_Key=key)
    refused(alice.post("/api/remember", content="a fact"), 422, "Idempotency-Key")
    assert alice.told("/api/count") == {"count": 0}


def test_what_was_erased_since_is_not_told_again(world: World) -> None:
    alice = world.caller()
    keyed = alice.with_headers(Idempotency_Key="k3")
    id = keyed.did("/api/remember", content="a fact")["id"]
    good(alice.send("POST", f"/api/memory/{id}/erase"))
    refused(keyed.post("/api/remember", content="a fact"), 404)


def test_a_memory_that_is_known_is_not_sent_again(world: World) -> None:
    alice = world.caller()
    made = alice.post("/api/memory/", **FACT)
    one, tag = made.headers["location"], made.headers["etag"]
    for header in (tag, f'"v9", {tag}', f"W/{tag}", "*"):
        known = alice.with_headers(If_None_Match=header).get(one)
        assert (known.status_code, known.content) == (304, b"")
        assert known.headers["etag"] == tag
    world.clock.forward(seconds=1)
    assert alice.put(f"{one}/visibility", visibility="public_ok").status_code == 204
    changed = alice.with_headers(If_None_Match=tag).get(one)
    assert changed.json()["visibility"] == "public_ok"  # no new version, and still another answer
    for odd in ("v1", '"', "", '"v1'):
        assert alice.with_headers(If_None_Match=odd).get(one).status_code == 200


def test_a_change_happens_only_to_the_version_that_was_read(world: World) -> None:
    alice = world.caller()
    made = alice.post("/api/memory/", **FACT)
    one, tag = made.headers["location"], made.headers["etag"]
    for wrong in ('"v9"', "nonsense", '"v1-0"', '"v0"', ""):
        problem = refused(alice.with_headers(If_Match=wrong).put(one, content="other words"), 412)
        assert problem["type"] == "urn:tacit:problem:precondition-failed"
    second = alice.with_headers(If_Match=tag).put(one, content="Sarah is a nurse")
    assert second.status_code == 200
    refused(alice.with_headers(If_Match=tag).put(one, content="Sarah is a pilot"), 412)
    for right in ('"v2"', second.headers["etag"], f'"v7", {second.headers["etag"]}', "*"):
        patched = alice.with_headers(If_Match=right).send("PATCH", one, json={"pinned": False})
        assert patched.status_code == 200
    refused(alice.with_headers(If_Match='"v1"').send("PATCH", one, json={"pinned": True}), 412)
    absent = alice.with_headers(If_Match='"v1"').put("/api/memory/AAAAAAAA", content="other words")
    refused(absent, 404)


def test_of_those_who_change_the_same_version_at_once_one_does(world: World) -> None:
    alice = world.caller()
    made = alice.post("/api/memory/", **FACT)
    one = alice.with_headers(If_Match=made.headers["etag"])

    def change(number: int) -> int:
        answer = one.put(made.headers["location"], content=f"Sarah lives at number {number}")
        return answer.status_code

    with ThreadPoolExecutor(6) as pool:
        statuses = sorted(pool.map(change, range(6)))
    assert statuses == [200, 412, 412, 412, 412, 412]
    assert alice.told(made.headers["location"])["version"] == 2


def test_of_those_who_send_the_same_at_once_all_are_told_the_same(world: World) -> None:
    keyed = world.caller().with_headers(Idempotency_Key="k4")
    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(lambda _: keyed.did("/api/remember", content="a fact"), range(6)))
    assert all(one == told[0] for one in told)
    assert keyed.told("/api/count") == {"count": 1}


def test_a_key_does_not_make_an_old_tag_good(world: World) -> None:
    alice = world.caller()
    made = alice.post("/api/memory/", **FACT)
    one, tag = made.headers["location"], made.headers["etag"]
    world.clock.forward(seconds=1)
    assert alice.put(f"{one}/visibility", visibility="public_ok").status_code == 204
    stale = alice.with_headers(Idempotency_Key="k5", If_Match=tag)
    refused(stale.put(one, content="Sarah is a nurse"), 412)
    refused(stale.send("PATCH", one, json={"pinned": True}), 412)
    assert alice.told(one)["version"] == 1


def test_what_is_done_is_told_again_whatever_the_tag_is_by_now(world: World) -> None:
    alice = world.caller()
    made = alice.post("/api/memory/", **FACT)
    one, tag = made.headers["location"], made.headers["etag"]
    world.clock.forward(seconds=1)
    keyed = alice.with_headers(Idempotency_Key="k6", If_Match=tag)
    first = keyed.send("PATCH", one, json={"pinned": True})
    assert first.headers["etag"] != tag
    alike(first, keyed.send("PATCH", one, json={"pinned": True}))
    refused(keyed.send("PATCH", one, json={"pinned": False}), 412)
