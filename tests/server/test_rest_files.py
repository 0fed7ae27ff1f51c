"""Notes as files over HTTP."""

from typing import Any

import pytest

from tacit.records.accounts import Scope
from tests.server.calls import ALICE, BOB, World, alike, good, refused

TRIPS = "/api/files/work/trips.md"
TEXT = "- Lisbon in May\n- Porto in June\n"


def test_a_file_is_written_listed_read_and_deleted(world: World) -> None:
    asked = world.caller()
    assert good(asked.put(TRIPS, text=TEXT)) is None
    read = asked.get(TRIPS)
    assert good(read)["path"] == "work/trips.md"
    assert "Lisbon in May" in good(read)["text"]
    size = len(good(read)["text"].encode())
    listed = [one for one in asked.told("/api/files")["items"] if one["path"] == "work/trips.md"]
    assert listed == [{"path": "work/trips.md", "size_bytes": size}]
    assert asked.told("/api/files", folder="work")["items"] == listed
    assert good(asked.get("/api/files/work%2Ftrips.md")) == good(read)
    assert asked.did("/api/recall", query="Lisbon")
    assert asked.did("/api/rename-file", old="work/trips.md", new="travel.md") is None
    refused(asked.get(TRIPS), 404)
    assert good(asked.delete("/api/files/travel.md")) is None
    assert asked.did("/api/recall", query="Lisbon") == []


def test_files_are_listed_in_pages(world: World) -> None:
    asked = world.caller()
    for name in ("a", "b", "c"):
        good(asked.put(f"/api/files/{name}.md", text=f"- about {name}\n"))
    whole = asked.told("/api/files")
    assert whole["cursor"] is None
    found, page = [], asked.told("/api/files", limit=1)
    while page["cursor"] is not None:
        found += page["items"]
        page = asked.told("/api/files", limit=1, cursor=page["cursor"])
    assert found + page["items"] == whole["items"]


def test_a_file_that_moved_on_is_not_written_over(world: World) -> None:
    asked = world.caller()
    assert good(asked.with_headers(If_None_Match="*").put(TRIPS, text=TEXT)) is None
    refused(asked.with_headers(If_None_Match="*").put(TRIPS, text=TEXT), 412)
    refused(asked.put(TRIPS, text=TEXT, new=True), 409)
    read = asked.get(TRIPS)
    tag = read.headers["etag"]
    assert good(asked.with_headers(If_Match=tag).put(TRIPS, text="- Lisbon in July\n")) is None
    refused(asked.with_headers(If_Match=tag).put(TRIPS, text="- nothing\n"), 412)
    refused(asked.put(TRIPS, text="- nothing\n", instead_of=good(read)["text"]), 409)
    refused(asked.with_headers(If_Match="*").put("/api/files/new.md", text="- x\n"), 412)
    assert "July" in good(asked.get(TRIPS))["text"]


@pytest.mark.parametrize("path", ["..%2Fx.md", "%2Fetc%2Fpasswd", "a%00b.md", "_own.md", "%5Cx.md"])
def test_a_path_that_leads_elsewhere_is_refused_by_every_word(world: World, path: str) -> None:
    asked = world.caller()
    refused(asked.get(f"/api/files/{path}"), 422, "path")
    refused(asked.put(f"/api/files/{path}", text="x"), 422, "path")
    refused(asked.delete(f"/api/files/{path}"), 422, "path")


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ("text", {}),
        ("text", {"text": 5}),
        ("text", {"text": "a\u0000b"}),
        ("text", {"text": "\ud800"}),
        ("text", {"text": "x" * 100_001}),
        ("new", {"text": "x", "new": 1}),
        ("instead_of", {"text": "x", "instead_of": 1}),
        ("nonsense", {"text": "x", "nonsense": 1}),
    ],
)
def test_a_bad_text_is_refused_by_the_part_that_is_wrong(
    world: World, field: str, sent: Any
) -> None:
    refused(world.caller().put(TRIPS, **sent), 422, field)


def test_nobody_else_has_ones_files(world: World) -> None:
    good(world.caller().put(TRIPS, text=TEXT))
    for other in (world.caller(BOB), world.keyed(*Scope, requester=BOB)):
        assert other.told("/api/files")["items"] == []
        alike(other.get(TRIPS), other.get("/api/files/work/never.md"))
        alike(other.delete(TRIPS), other.delete("/api/files/work/never.md"))
        alike(other.get("/api/files", folder="work"), other.get("/api/files", folder="never"))
    assert "Lisbon" in good(world.caller().get(TRIPS))["text"]


def test_reading_files_is_no_licence_to_write_them(world: World) -> None:
    own = world.keyed(Scope.READ, requester=ALICE)
    refused(own.put(TRIPS, text=TEXT), 403)
    refused(own.delete(TRIPS), 403)
    refused(own.post("/api/rename-file", old="a.md", new="b.md"), 403)
