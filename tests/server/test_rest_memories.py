"""Memories over HTTP: added, listed, changed and forgotten, once under a key, and to which version."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from tacit.records.accounts import Scope
from tests.server.calls import ALICE, BOB, TEAM, World, alike, good, refused

HERE = "telegram:1001,telegram:2002"

WIFE = {"content": "Sarah is my wife", "category": "person", "subject": "Sarah"}


def test_a_memory_is_added_and_told_with_what_the_seed_promised(world: World) -> None:
    alice = world.caller()
    made = alice.post("/api/memory/", **WIFE)
    assert made.status_code == 201
    told = made.json()
    assert list(told)[:7] == [
        "id", "category", "subject", "content", "version", "created_at", "updated_at",
    ]  # fmt: skip
    assert (told["category"], told["subject"], told["version"]) == ("person", "Sarah", 1)
    assert made.headers["location"] == f"/api/memory/{told['id']}"
    assert made.headers["etag"].startswith('"v1-')
    shown = alice.told(f"/api/memory/{told['id']}")
    assert [one["content"] for one in shown["versions"]] == ["Sarah is my wife"]
    assert shown["created_at"] == told["created_at"]


def test_what_is_already_known_is_suggested_instead(world: World) -> None:
    alice = world.caller()
    first = alice.did("/api/memory/", **WIFE)
    problem = refused(alice.post("/api/memory/", **WIFE), 409)
    assert problem["type"] == "urn:tacit:problem:conflict"
    assert problem["suggestion"] == {
        "id": first["id"],
        "content": "Sarah is my wife",
        "category": "person",
        "subject": "Sarah",
    }
    forced = alice.post("/api/memory/?force=true", **WIFE)
    assert forced.status_code == 201


def test_a_secret_is_refused_by_its_kind(world: World) -> None:
    said = {"content": "my card is 4111 1111 1111 1111", "category": "context"}
    problem = refused(world.caller().post("/api/memory/", **said), 422, "content")
    assert problem["type"] == "urn:tacit:problem:secret-refused"
    assert problem["kind"]
    assert "4111" not in str(problem)


def test_pages_follow_one_another_and_the_total_stays(world: World) -> None:
    alice = world.caller()
    for number in range(5):
        alice.did("/api/remember", content=f"fact number {number}", kind="knowledge")
        world.clock.forward(seconds=1)
    alice.did("/api/remember", content="I like tea", category="preference")
    seen, cursor = [], None
    for _ in range(3):
        query = {"limit": 2, "category": "fact", **({"cursor": cursor} if cursor else {})}
        page = alice.told("/api/memory/", **query)
        assert page["total"] == 5
        seen += [one["content"] for one in page["memories"]]
        cursor = page["next_cursor"]
    assert cursor is None
    assert seen == [f"fact number {number}" for number in reversed(range(5))]
    assert alice.told("/api/memory/")["total"] == 6
    assert world.caller(BOB).told("/api/memory/") == {"memories": [], "total": 0, "next_cursor": None}


def test_an_update_says_what_stood_there_before(world: World) -> None:
    alice = world.caller()
    id = alice.did("/api/memory/", **WIFE)["id"]
    done = good(alice.put(f"/api/memory/{id}", content="Sarah is my former wife"))
    assert done["old_content"] == "Sarah is my wife"
    assert (done["memory"]["id"], done["memory"]["version"]) == (id, 2)
    versions = alice.told(f"/api/memory/{id}")["versions"]
    assert [(one["version"], one["content"]) for one in versions] == [
        (1, "Sarah is my wife"),
        (2, "Sarah is my former wife"),
    ]


def test_a_patch_changes_one_thing(world: World) -> None:
    alice = world.caller()
    one = f"/api/memory/{alice.did('/api/memory/', **WIFE)['id']}"
    both = good(alice.send("PATCH", one, json={"content": "Sarah is a nurse", "pinned": True}))
    assert (both["content"], both["pinned"], both["version"]) == ("Sarah is a nurse", True, 2)
    wide = good(alice.send("PATCH", one, json={"visibility": "public_ok"}))
    assert wide["visibility"] == "public_ok"
    kept = good(alice.send("PATCH", one, json={"withhold_from": ["Bob"]}))
    assert kept["withheld_from"]


def test_forgotten_is_not_found_by_others_and_comes_back(world: World) -> None:
    alice = world.caller()
    one = f"/api/memory/{alice.did('/api/memory/', **WIFE)['id']}"
    assert alice.delete(one).status_code == 204
    assert alice.told("/api/memory/")["memories"] == []
    assert alice.told(one)["state"] == "forgotten"  # the owner's own, in private
    assert [m["id"] for m in alice.told("/api/memory/", state="forgotten")["memories"]]
    assert alice.send("POST", f"{one}/restore").status_code == 204
    assert alice.told("/api/memory/")["total"] == 1


def test_names_of_people_are_told_in_private_alone(world: World) -> None:
    room = world.caller(chat=TEAM, Participants=HERE)
    id = room.did("/api/remember", content="Sarah leads the team", about=["Sarah"], visibility="room")["id"]
    assert room.told(f"/api/memory/{id}")["subject"] is None
    assert world.caller().told(f"/api/memory/{id}")["subject"] == "Sarah"


def test_a_key_has_one_value_and_a_new_one_is_a_version(world: World) -> None:
    alice = world.caller()
    first = good(alice.put("/api/items/profile/timezone", value="Europe/Lisbon"))
    again = good(alice.put("/api/items/profile/timezone", value="Europe/Rome", importance=5))
    assert (first["id"], first["version"]) == (again["id"], 1)
    assert (again["version"], again["created"]) == (2, False)
    told = alice.told("/api/items/profile/timezone")
    assert (told["content"], told["key"], told["importance"]) == ("Europe/Rome", "timezone", 5)
    assert good(alice.delete("/api/items/profile/timezone")) == {"count": 1}
    refused(alice.get("/api/items/profile/timezone"), 404)
    assert good(alice.delete("/api/items/profile/timezone")) == {"count": 0}


def test_a_key_may_hold_slashes_spaces_and_any_script(world: World) -> None:
    alice = world.caller()
    for key in ("a/b/c", "two words", "straße", "日本", "50%", "q?x=1#y", "+", "a//b"):
        path = f"/api/items/profile/{quote(key, safe='')}"
        good(alice.put(path, value=f"value of {key}"))
        told = alice.told(path)
        assert (told["key"], told["content"]) == (key, f"value of {key}")
    assert alice.told("/api/count", category="profile") == {"count": 8}


@pytest.fixture
def one(world: World) -> str:
    """The address of a memory of Alice's."""
    id = world.caller().did("/api/remember", content="I live in Lisbon", kind="identity")["id"]
    return f"/api/memory/{id}"


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


# A key that may write and not read


def test_what_is_added_is_neither_told_nor_compared_with_what_there_is(world: World) -> None:
    alice = world.caller()
    alice.did("/api/memory/", **WIFE)
    writer = world.keyed(Scope.WRITE, requester=ALICE)
    made = writer.post("/api/memory/", **{**WIFE, "content": "Sarah is a nurse"})
    assert (made.status_code, made.content) == (204, b"")
    assert alice.told(made.headers["location"])["content"] == "Sarah is a nurse"
    refused(writer.get(made.headers["location"]), 403)


def test_what_is_changed_is_not_told(world: World) -> None:
    alice = world.caller()
    one = f"/api/memory/{alice.did('/api/memory/', **WIFE)['id']}"
    writer = world.keyed(Scope.WRITE, requester=ALICE)
    patched = writer.send("PATCH", one, json={"pinned": True})
    put = writer.put(one, content="Sarah is a nurse")
    for answer in (patched, put):
        assert (answer.status_code, answer.content) == (204, b"")
    told = alice.told(one)
    assert (told["content"], told["pinned"]) == ("Sarah is a nurse", True)
    refused(writer.put("/api/memory/AAAAAAAA", content="Sarah is a nurse"), 404)


def test_a_note_that_is_added_to_is_not_told(world: World) -> None:
    alice = world.caller()
    alice.did("/api/sessions/end", draft={"summary": "Spoke.", "facts": ["The build is green"]})
    writer = world.keyed(Scope.WRITE, requester=ALICE)
    said = {"summary": "Spoke again.", "facts": ["The release is out"]}
    for asked in (writer, writer.with_headers(Idempotency_Key="k1")):
        ended = asked.did("/api/sessions/end", draft=said)
        assert ended["note"] is None
        assert "green" not in str(ended)
    assert "green" in str(alice.did("/api/sessions/end", draft=said)["note"])


def test_names_that_are_added_to_are_not_told(world: World) -> None:
    alice = world.caller()
    known = alice.did("/api/people/name", person="telegram:2002", name="Bobby")
    writer = world.keyed(Scope.WRITE, requester=ALICE)
    named = writer.did("/api/people/name", person="telegram:2002", name="Robert")
    assert named == {"id": known["id"], "names": [], "identities": []}
    (bob,) = [one for one in alice.told("/api/people")["items"] if one["id"] == known["id"]]
    assert {one["text"] for one in bob["names"]} == {"Bobby", "Robert"}


def test_an_import_tells_what_is_here_and_so_takes_a_key_that_reads(world: World) -> None:
    alice = world.caller()
    asked = {"run": "moving", "items": [{"content": "Sarah is my wife"}], "source": "mem0"}
    writer = world.keyed(Scope.WRITE, requester=ALICE)
    refused(writer.post("/api/imports", **asked), 403)
    refused(writer.post("/api/imports/revert", run="moving"), 403)
    refused(world.keyed(Scope.READ, requester=ALICE).post("/api/imports", **asked), 403)
    assert alice.told("/api/imports")["items"] == []
    both = world.keyed(Scope.WRITE, Scope.READ, requester=ALICE)
    step = both.did("/api/imports", **asked)
    assert (step["created"], step["run"]["run"], step["refused"]) == (1, "moving", [])
    assert both.did("/api/imports/revert", run="moving")["forgotten"] == 1


# Idempotency keys and ETags: what is sent twice, and what moved on meanwhile


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
