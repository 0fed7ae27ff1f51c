"""What else a view does, over HTTP: questions, learning, people, lists in pages, transfer, checkpoints and files."""

import json
from typing import Any

from tacit import Search, limits
from tacit.records.accounts import Scope
from tests.server.calls import ALICE, BOB, TEAM, Caller, World, good, refused

SEED: dict[str, Any] = {
    "query": "deployment plan context",
    "categories": ["task_state", "project"],
    "filters": {
        "user_id": ALICE,
        "agent_id": None,
        "run_id": None,
        "actor_id": None,
        "role": None,
        "pinned": False,
        "importance_min": 1,
        "importance_max": 5,
        "updated_after": "2025-07-01",
        "updated_before": None,
    },
    "top_k": 3,
    "return": "bullets",
    "budget_tokens": 512,
    "threshold": 0.01,
}


def kept(world: World, content: str, who: str = ALICE, **fields: Any) -> str:
    done: dict[str, Any] = world.caller(who).did("/api/remember", content=content, **fields)
    return str(done["id"])


def test_a_query_is_asked_and_answered_as_its_specification_says(world: World) -> None:
    id = kept(world, "the deployment plan is in the wiki", category="project")
    found = world.caller().did("/api/query", agent="planner", **SEED)
    text = "[project] the deployment plan is in the wiki"
    assert found == [{"id": id, "category": "project", "text": text}]


def test_a_delta_is_that_of_the_thread_in_the_path_or_the_header(world: World) -> None:
    weekend = world.caller(Thread="plans/weekend")
    weekend.did("/api/remember", content="apple pie")
    delta = weekend.told("/api/delta")
    assert [one["content"] for one in delta["changes"]] == ["apple pie"]
    assert world.caller().told("/api/threads/plans%2Fweekend/delta") == delta
    assert world.caller().told("/api/threads/plans/weekend/delta", since=0) == delta
    assert world.caller().told("/api/delta")["changes"] == []
    assert weekend.told("/api/delta", since=delta["revision"])["changes"] == []
    for wrong in ("-1", "x", "9" * 30, ""):
        refused(weekend.get("/api/delta", since=wrong), 422, "since")
    refused(weekend.get("/api/threads//delta"), 422, "thread")
    refused(weekend.get("/api/threads/two%0Alines/delta"), 422, "thread")
    refused(weekend.get("/api/delta?since=0&since=1"), 422, "since")
    refused(weekend.get("/api/delta", until="1"), 422, "until")


SAID = {"role": "user", "content": "My sister is called Sarah"}


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


WRONG = "ABCDE-23456"


def test_whoever_guesses_is_told_when_to_go_on(world: World) -> None:
    for _ in range(limits.LINK_TRIES_MAX_COUNT):
        refused(world.caller().post("/api/link/accept", code=WRONG), 404)
    answer = world.caller().post("/api/link/accept", code=WRONG)
    assert refused(answer, 429)["retry_after_seconds"] == 3600
    assert answer.headers["retry-after"] == "3600"


def test_a_key_that_may_not_read_everything_links_nothing(world: World) -> None:
    """It could read as the other identity what it may not read by itself."""
    code = world.caller(BOB).did("/api/link/offer")["code"]
    writer = world.keyed(Scope.WRITE, requester=ALICE)
    reader = world.keyed(Scope.READ, requester=ALICE)
    narrow = world.keyed(Scope.READ, Scope.WRITE, requester=ALICE, categories=["profile"])
    for asked, status in ((writer, 403), (reader, 403), (narrow, 422)):
        refused(asked.post("/api/link/offer"), status)
        refused(asked.post("/api/link/accept", code=code), status)
        refused(asked.post("/api/link/confirm"), status)
    own = world.keyed(Scope.READ, Scope.WRITE, requester=ALICE)
    assert own.did("/api/link/accept", code=code)["identity"] == BOB


def test_a_view_says_whether_it_remembers(world: World) -> None:
    assert world.caller().told("/api/view") == {"enabled": True, "why_disabled": None}
    refused(world.caller(None).get("/api/view"), 422, "requester")
    refused(world.keyed(Scope.ADMIN, Scope.READ).get("/api/view"), 403)


def test_two_whom_the_caller_named_are_merged_and_parted(world: World) -> None:
    asked, bob = world.caller(), world.caller(BOB)
    ids = [asked.did("/api/people/name", person=one, name=f"{one} B.")["id"] for one in ("Al", "Ed")]
    pair = dict(zip(("person", "into"), ids, strict=True))
    merged = asked.did("/api/people/merge", **pair)
    assert (merged["identities"], len(merged["names"])) == (sorted(ids), 4)
    refused(asked.post("/api/people/merge", **pair), 409)
    refused(bob.post("/api/people/merge", **pair), 404)
    refused(world.caller(ALICE, TEAM).post("/api/people/unmerge", person=ids[0]), 404)
    writer = world.keyed(Scope.WRITE, requester=ALICE)
    assert writer.did("/api/people/unmerge", person=ids[0]) == {"id": ids[0], "names": [], "identities": []}
    refused(asked.post("/api/people/unmerge", person=ids[0]), 404)


# Every list comes in pages, and the pages are the list


ASKED: dict[str, dict[str, str]] = {"/api/about": {"person": "Sarah"}, "/api/links": {"identity": "acct:many"}}


def fill(world: World) -> None:
    """At least two of everything that is listed."""
    alice = world.caller()
    for number in range(3):
        name = f"P{number}"
        good(alice.put(f"/api/items/preference/{name}", value=f"likes {number}", about=["Sarah"]))
        alice.did("/api/proposals", category="preference", key=name)
        alice.did("/api/people/name", person=f"telegram:500{number}", name=name)
        alice.did("/api/links", external_key=f"telegram:9{number}", account="acct:many")
        item = {"content": f"imported {number}"}
        alice.did("/api/imports", run=name, items=[item], source="mem0")
        good(alice.put(f"/api/files/{name}.md", text=f"- about {name}\n"))
        world.memory.operator("root").browse(Search(words="likes"))
        world.clock.forward(seconds=1)
    team = world.caller(chat=TEAM, Participants=f"{ALICE},{BOB}")
    team.did("/api/remember", content="we meet on Mondays")
    alice.did("/api/query", query="likes")


def lists(world: World) -> list[str]:
    document = good(world.client.get("/openapi.json"))
    return [
        path.replace("{category}", "preference")
        for path, methods in document["paths"].items()
        for one in methods.get("get", {}).get("parameters", ())
        if one.get("name") == "cursor"
    ]


def page(asked: Caller, path: str, **query: Any) -> tuple[list[Any], str | None]:
    told = asked.told(path, **ASKED.get(path, {}), **query)
    if path == "/api/memory/":
        return told["memories"], told["next_cursor"]
    return told["items"], told["cursor"]


def test_the_pages_of_every_list_are_the_whole_of_it(world: World) -> None:
    fill(world)
    asked = world.caller()
    paths = lists(world)
    assert len(paths) == 14
    for path in paths:
        whole, nothing = page(asked, path)
        assert len(whole) > 1, path
        assert nothing is None, path
        found, cursor = page(asked, path, limit=1)
        assert len(found) == 1, path
        while cursor is not None:
            more, cursor = page(asked, path, limit=1, cursor=cursor)
            found += more
        assert found == whole, path


# Exports and imports, as they travel: lines, sent while they are made


LINES = "application/x-ndjson"


def test_what_is_exported_is_taken_in_again(world: World) -> None:
    alice, bob = world.caller(), world.caller(BOB).with_headers(Content_Type=LINES)
    for number in range(3):
        alice.did("/api/remember", content=f"fact number {number}")
    sent = alice.get("/api/export")
    assert sent.headers["content-type"] == LINES
    assert "content-length" not in sent.headers
    assert sent.text.endswith("\n")
    lines = [json.loads(line) for line in sent.text.splitlines()]
    assert sorted(line["content"] for line in lines) == [f"fact number {n}" for n in range(3)]
    done = good(bob.send("POST", "/api/import", content=sent.content))
    assert done == {"created": 3, "skipped": 0, "refused": []}
    assert good(bob.send("POST", "/api/import", content=sent.content))["created"] == 0
    assert bob.told("/api/count") == {"count": 3}


def test_too_much_at_once_is_refused_before_any_of_it_is_kept(world: World) -> None:
    alice = world.caller().with_headers(Content_Type="application/x-ndjson")
    many = [json.dumps({"content": f"fact {n}"}) for n in range(101)]
    versions = [{"content": f"wording {n}"} for n in range(101)]
    reworded = json.dumps({"content": "wording 100", "versions": versions})
    long = [json.dumps({"content": f"{n} " + "tea " * 3_900}) for n in range(20)]
    for lines, said in ((many, "100 memories"), ([reworded], "100 memories"), (long, "150,000")):
        sent = alice.send("POST", "/api/import", content="\n".join(lines).encode())
        assert said in refused(sent, 422, "lines")["detail"]
    assert alice.told("/api/count") == {"count": 0}
    parts = (many[:100], many[100:])
    done = [good(alice.send("POST", "/api/import", content="\n".join(p).encode())) for p in parts]
    assert [one["created"] for one in done] == [100, 1]


# Checkpoints, never written over what somebody else saved


DATA = {"step": 3, "notes": ["a", None, 1.5], "open": {"x": True}}
PATH = "/api/checkpoints/plans%2Fweekend"


def test_a_checkpoint_is_read_as_it_was_saved(world: World) -> None:
    asked = world.caller()
    saved = good(asked.put(PATH, data=DATA))
    assert saved["data"] == DATA
    assert saved["thread"] == "plans/weekend"
    read = asked.get(PATH)
    assert good(read) == saved
    assert read.headers["etag"] == f'"v{saved["version"]}"'
    assert good(asked.delete(PATH)) is None
    refused(asked.get(PATH), 404)
    assert good(asked.delete(PATH)) is None


def test_without_a_thread_it_is_that_of_the_request(world: World) -> None:
    weekend = world.caller(Thread="plans/weekend")
    saved = good(weekend.put("/api/checkpoints", data=1))
    assert good(world.caller().get(PATH)) == saved == weekend.told("/api/checkpoints")
    refused(world.caller().get("/api/checkpoints"), 404)
    assert good(weekend.delete("/api/checkpoints")) is None
    refused(world.caller().get(PATH), 404)


def test_a_checkpoint_that_moved_on_is_not_written_over(world: World) -> None:
    asked = world.caller()
    first = good(asked.put(PATH, data=1, version=0))["version"]
    refused(asked.put(PATH, data=2, version=0), 409)
    second = good(asked.put(PATH, data=2, version=first))["version"]
    refused(asked.put(PATH, data=3, version=first), 409)
    matching = asked.with_headers(If_Match=f'"v{first}"')
    refused(matching.put(PATH, data=3), 412)
    for tags in ('"v999"', '"nonsense"', '"v1", "x"', "v1", f'"v{first}", "v7"'):
        refused(asked.with_headers(If_Match=tags).put(PATH, data=3), 412)
    refused(asked.with_headers(If_None_Match="*").put(PATH, data=3), 412)
    third = good(asked.with_headers(If_Match=f'"v{second}"').put(PATH, data=3))
    fourth = good(asked.with_headers(If_Match=f'"x", "v{third["version"]}"').put(PATH, data=4))
    assert good(asked.with_headers(If_Match="*").put(PATH, data=5))["version"] > fourth["version"]


def test_a_first_checkpoint_can_be_asked_to_be_the_first(world: World) -> None:
    asked = world.caller()
    refused(asked.with_headers(If_Match="*").put(PATH, data=1), 412)
    assert good(asked.with_headers(If_None_Match="*").put(PATH, data=1))["data"] == 1


# Notes as files


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
