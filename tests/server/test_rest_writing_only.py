"""A key that may write and not read: it changes things, and is told nothing of them."""

from tacit.records.accounts import Scope
from tests.server.calls import ALICE, World, refused

WIFE = {"content": "Sarah is my wife", "category": "person", "subject": "Sarah"}


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
