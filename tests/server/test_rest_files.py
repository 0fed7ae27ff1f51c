"""Notes as files over HTTP."""

from tests.server.calls import World, good, refused

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
