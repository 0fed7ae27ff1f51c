"""Values by category and key, facts with all their fields, and what is asked before adding one."""

from urllib.parse import quote

from tests.server.calls import BOB, TEAM, World, alike, good, refused

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


def test_what_is_wrong_with_a_list_is_said_by_its_field(world: World) -> None:
    alice = world.caller()
    for query, field in (
        ({"limit": "0"}, "limit"),
        ({"limit": "501"}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"limit": "1.0"}, "limit"),
        ({"limit": "9" * 30}, "limit"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"cursor": ""}, "cursor"),
        ({"category": "nonsense"}, "category"),
        ({"kind": "nonsense"}, "kind"),
        ({"state": "nonsense"}, "state"),
        ({"pinned": "1"}, "pinned"),
        ({"pinned": "True"}, "pinned"),
        ({"nonsense": "1"}, "nonsense"),
        ({"prefix": "x" * 201}, "prefix"),
    ):
        refused(alice.get("/api/items", **query), 422, field)
    refused(alice.get("/api/items?limit=1&limit=2"), 422, "limit")
    refused(alice.get("/api/items/nonsense"), 422, "category")
    refused(alice.get("/api/items/nonsense/key"), 422, "category")
    refused(alice.get("/api/items/profile/%20"), 422, "key")


def test_somebody_elses_value_looks_like_none(world: World) -> None:
    good(world.caller(BOB).put("/api/items/profile/city", value="Rome"))
    alice = world.caller()
    alike(alice.get("/api/items/profile/city"), alice.get("/api/items/profile/town"))
    refused(world.caller(BOB, TEAM, Participants=HERE).get("/api/items/profile/city"), 404)


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


def test_what_the_library_refuses_is_refused_in_its_words(world: World) -> None:
    alice = world.caller()
    for wrong, field in (
        ({"content": ""}, "content"),
        ({"content": None}, "content"),
        ({"content": ["x"]}, "content"),
        ({"kind": "nonsense"}, "kind"),
        ({"importance": 6}, "importance"),
        ({"importance": True}, "importance"),
        ({"confidence": 1.5}, "confidence"),
        ({"pinned": "true"}, "pinned"),
        ({"tags": "work"}, "tags"),
        ({"about": "Sarah"}, "about"),
        ({"about": [5]}, "about"),
        ({"expires_at": 5}, "expires_at"),
        ({"turns": "x"}, "turns"),
        ({"data": [1]}, "data"),
        ({"data": {"password": "correct-horse-42!"}}, "data"),
    ):
        refused(alice.post("/api/remember", **{"content": "a fact", **wrong}), 422, field)
    refused(alice.post("/api/remember"), 422, "content")
    assert alice.told("/api/count") == {"count": 0}


def test_a_suggestion_is_the_memory_to_change_or_null(world: World) -> None:
    alice = world.caller()
    asked = {"content": "Sarah works at the bakery", "category": "person", "about": ["Sarah"]}
    assert alice.did("/api/suggest", **asked) is None
    id = alice.did("/api/remember", **asked)["id"]
    found = alice.did("/api/suggest", **asked)
    assert (found["id"], found["content"]) == (id, "Sarah works at the bakery")
    assert world.caller(BOB).did("/api/suggest", **asked) is None
    refused(alice.post("/api/suggest", content="x", about="Sarah"), 422, "about")
