"""Exports and imports, as they travel: lines, sent while they are made."""

import json

from tests.server.calls import BOB, TEAM, World, good, refused

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


def test_a_large_export_comes_in_parts_and_whole(world: World) -> None:
    alice = world.caller()
    for number in range(8):
        alice.did("/api/remember", content=f"{number} " + "long text " * 1_500)
    assert len(alice.get("/api/export").text.splitlines()) == 8


def test_everything_about_oneself_and_its_history(world: World) -> None:
    alice = world.caller()
    id = alice.did("/api/remember", content="I live in Lisbon")["id"]
    alice.did(f"/api/memory/{id}/update", content="I live in Porto")
    whole = alice.get("/api/export", everything="true", turns="true").text.splitlines()
    assert {json.loads(line)["type"] for line in whole} >= {"person", "chat", "memory"}
    markdown = alice.get("/api/export", format="markdown")
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "I live in Porto" in markdown.text
    history = alice.get("/api/export/history").text.splitlines()
    assert [json.loads(line)["event"] for line in history] == ["ADD", "UPDATE"]
    assert world.caller(BOB).get("/api/export").text == ""
    assert world.caller(chat=TEAM).get("/api/export").text == ""


def test_bad_lines_are_refused_one_by_one(world: World) -> None:
    alice = world.caller().with_headers(Content_Type=LINES)
    alice.did("/api/remember", content="a fact")
    line = alice.get("/api/export").content
    sent = b"\n".join([b"nonsense", line.strip(), b"\xff\xfe", b"{}", b"[" * 20_000, b"\x00", b""])
    done = good(world.caller(BOB).with_headers(Content_Type=LINES).send(
        "POST", "/api/import", content=sent
    ))  # fmt: skip
    assert done["created"] == 1
    assert [one.split(":")[0] for one in done["refused"]] == [f"line {n}" for n in (1, 3, 4, 5, 6)]


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
