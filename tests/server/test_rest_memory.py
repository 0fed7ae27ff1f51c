"""`/api/memory/`, as the seed has it: list, add, show, change, forget."""

from tests.server.calls import BOB, TEAM, World, good, refused

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


def test_a_suggestion_names_only_what_the_caller_may_hear(world: World) -> None:
    world.caller(BOB).did("/api/memory/", **WIFE)
    assert world.caller().post("/api/memory/", **WIFE).status_code == 201


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


def test_the_total_counts_only_what_may_be_said_here(world: World) -> None:
    alice = world.caller()
    for number in range(3):
        alice.did("/api/remember", content=f"private fact {number}")
    room = world.caller(chat=TEAM, Participants=HERE)
    room.did("/api/remember", content="the sprint ends on Friday", visibility="room")
    page = room.told("/api/memory/", limit=1)
    assert (page["total"], page["next_cursor"]) == (1, None)
    assert room.told("/api/count") == {"count": 1}
    assert alice.told("/api/count") == {"count": 4}


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
