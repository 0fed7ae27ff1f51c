"""Values by category and key, facts with all their fields, and what is asked before adding one."""

from urllib.parse import quote

from tests.server.calls import BOB, World, good, refused

HERE = "telegram:1001,telegram:2002"


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


def test_lists_are_narrowed_and_paged(world: World) -> None:
    alice = world.caller()
    for key in ("tea", "team", "wine"):
        good(alice.put(f"/api/items/preference/{key}", value=f"likes {key}"))
        world.clock.forward(seconds=1)
    keys = [one["key"] for one in alice.told("/api/items/preference", prefix="te")["items"]]
    assert keys == ["team", "tea"]
    page = alice.told("/api/items/preference", limit=2)
    rest = alice.told("/api/items", category="preference", limit=2, cursor=page["cursor"])
    assert [one["key"] for one in (*page["items"], *rest["items"])] == ["wine", "team", "tea"]
    assert rest["cursor"] is None
    assert alice.told("/api/items", pinned="true")["items"] == []
    assert alice.told("/api/count", prefix="te") == {"count": 2}
    assert good(alice.delete("/api/items/preference")) == {"count": 3}
    assert alice.told("/api/count") == {"count": 0}


def test_remember_takes_every_field(world: World) -> None:
    alice = world.caller()
    done = alice.did(
        "/api/remember",
        content="The launch is on Friday",
        kind="event",
        category="event",
        key="launch",
        about=["Sarah"],
        withheld_from=["Bob"],
        visibility="private_only",
        sensitivity="personal",
        portable=False,
        importance=4,
        confidence=0.5,
        pinned=True,
        tags=["work"],
        observed_at="2026-02-28T00:00:00Z",
        expires_at="2026-04-01T00:00:00Z",
        message="m1",
        agent="helper",
        run="r1",
        role="user",
        data={"at": {"room": 4}},
    )
    assert done["created"] is True
    told = alice.told(f"/api/memory/{done['id']}/record")
    assert (told["kind"], told["key"], told["confidence"]) == ("event", "launch", 0.5)
    assert told["expires_at"] == "2026-04-01T00:00:00+00:00"
    assert told["source"]["message"] == "m1"
    assert told["data"] == {"at": {"room": 4}}
    alice.did(f"/api/memory/{done['id']}/update", data={})
    assert alice.told(f"/api/memory/{done['id']}/record")["data"] is None


def test_a_suggestion_is_the_memory_to_change_or_null(world: World) -> None:
    alice = world.caller()
    asked = {"content": "Sarah works at the bakery", "category": "person", "about": ["Sarah"]}
    assert alice.did("/api/suggest", **asked) is None
    id = alice.did("/api/remember", **asked)["id"]
    found = alice.did("/api/suggest", **asked)
    assert (found["id"], found["content"]) == (id, "Sarah works at the bakery")
    assert world.caller(BOB).did("/api/suggest", **asked) is None
