"""Whatever is sent, the answer is a problem or an answer, and never a failure of ours."""

import pytest

from tests.server.calls import World, good, refused

DEEP = b"[" * 100_000
BODIES = (
    b"", b"{", b"[]", b"null", b"5", b'"text"', b"true", DEEP, b'{"content": ' + DEEP,
    b'{"content": NaN}', b'{"content": "a", "confidence": -Infinity}',
    b'{"content": "a", "importance": ' + b"1" * 5_000 + b"}",
    b"\xff\xfe\x00", b'{"content": "\xff"}', b"\x00", b'{"content": "a"} {"content": "b"}',
    b'\xef\xbb\xbf{"content": "a"}',
)  # fmt: skip


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:24]))
def test_a_body_that_is_no_object_is_refused_as_one(world: World, body: bytes) -> None:
    alice = world.caller().with_headers(Content_Type="application/json")
    for method, path in (("POST", "/api/remember"), ("PUT", "/api/items/profile/k")):
        refused(alice.send(method, path, content=body), 422, "body")
    assert alice.told("/api/count") == {"count": 0}


def test_a_part_of_a_path_that_cannot_be_kept_is_of_nothing(world: World) -> None:
    alice = world.caller()
    for part in ("%00", "%ED%A0%80", "a%00b", "%E2%80%8B"):
        answer = alice.get(f"/api/items/profile/{part}")
        assert answer.status_code in (404, 422)
        assert alice.get(f"/api/memory/{part}").status_code == 404
        assert alice.get(f"/api/memory/{part}/history").status_code == 404
        assert alice.get(f"/api/items?prefix={part}").status_code in (200, 422)
        assert alice.get(f"/api/items?cursor={part}").status_code == 422


def test_a_whole_number_may_be_written_with_a_point(world: World) -> None:
    alice = world.caller()
    made = alice.did("/api/remember", content="a fact", importance=4.0, confidence=1.0)
    assert alice.told(f"/api/memory/{made['id']}/record")["importance"] == 4
    good(alice.post("/api/query", query="fact", top_k=3.0, filters={"importance_min": 2.0}))
    # What is somebody's own stays as they wrote it.
    saved = good(alice.put("/api/checkpoints/t", data={"at": 3.0, "n": [1.0]}, version=0.0))
    assert repr(saved["data"]) == "{'at': 3.0, 'n': [1.0]}"


def test_lone_surrogates_in_a_query_are_no_failure(world: World) -> None:
    alice = world.caller()
    refused(alice.get("/api/items?%ff=1"), 422)
    refused(alice.get("/api/items?" + "&".join(f"a{n}=1" for n in range(200))), 422, "query")


def test_a_body_is_json_and_said_to_be(world: World) -> None:
    alice = world.caller()
    body = b'{"content": "a fact"}'
    for kind in ("text/plain", "", "application/x-www-form-urlencoded", "application/jsonx",
                 "application/json; charset=utf-16", "multipart/form-data"):  # fmt: skip
        sent = alice.with_headers(Content_Type=kind).send("POST", "/api/remember", content=body)
        assert refused(sent, 415)["type"] == "urn:tacit:problem:unsupported-media-type"
    refused(alice.send("POST", "/api/remember", content=body), 415)
    for kind in ("application/json", "Application/JSON; charset=UTF-8"):
        good(alice.with_headers(Content_Type=kind).send("POST", "/api/remember", content=body))


def test_a_header_that_says_who_asks_is_sent_once(world: World) -> None:
    token = ("Authorization", world.caller().headers["Authorization"])
    for name, values, status in (
        ("X-Tacit-Requester", ("telegram:1", "telegram:2"), 422),
        ("X-Tacit-Chat", ("telegram:1", "telegram:1"), 422),
        ("Authorization", ("Bearer x",), 401),
        ("Host", ("localhost",), 421),
    ):
        headers = [token, ("X-Tacit-Requester", "telegram:1")]
        if name == "X-Tacit-Requester":
            headers = [token]
        if name == "Host":
            headers.append(("Host", "localhost"))
        headers += [(name, value) for value in values]
        refused(world.client.get("/api/count", headers=headers), status)
    keys = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    headers = [token, ("X-Tacit-Requester", "telegram:1"), *keys]
    answer = world.client.delete("/api/items/profile", headers=headers)
    refused(answer, 422, "Idempotency-Key")
