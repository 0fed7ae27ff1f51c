"""An endpoint over real HTTP: every way of not answering, and what must never leak."""

import json
import logging
import threading
from datetime import timedelta
from email.utils import format_datetime

import pytest

from tacit import limits
from tacit.embeddings.endpoint import EndpointEmbedder
from tacit.errors import EmbeddingFailed, InvalidInput
from tests.embeddings.asking import KEY, NOON, Build, failure
from tests.embeddings.scripted_server import Question, Server, serving
from tests.llm.endpoint import Reply


def test_a_busy_endpoint_is_asked_again_after_the_time_it_names(
    build: Build, server: Server, pauses: list[float]
) -> None:
    date = format_datetime(NOON + timedelta(seconds=20), usegmt=True)
    server.script = [
        Reply(status=429, headers={"retry-after": "7"}),
        Reply(status=503, headers={"retry-after": date}),
        Reply(status=429, headers={"retry-after": "soon"}),
    ]
    assert build().embed(["tea"]).shape == (1, 4)
    assert 7 <= pauses[0] <= 7.1
    assert 20 <= pauses[1] <= 20.1
    assert 0 < pauses[2] <= limits.ENDPOINT_BACKOFF_SECONDS * 4
    assert len(server.questions) == 4


def test_an_endpoint_that_asks_for_an_hour_is_left_alone(build: Build, server: Server, pauses: list[float]) -> None:
    server.always = Reply(status=429, headers={"retry-after": "3600"})
    assert "429" in failure(build())
    assert (len(server.questions), pauses) == (1, [])


def test_failures_are_borne_up_to_a_bound_with_growing_pauses(
    build: Build, server: Server, pauses: list[float]
) -> None:
    server.always = Reply(status=500)
    text = failure(build())
    assert "failed (500): look at its own log" in text
    assert f"tried {limits.ENDPOINT_ATTEMPTS_MAX_COUNT} times" in text
    assert len(server.questions) == limits.ENDPOINT_ATTEMPTS_MAX_COUNT
    for number, pause in enumerate(pauses):
        longest = limits.ENDPOINT_BACKOFF_SECONDS * 2**number
        assert longest / 2 <= pause <= longest


def test_a_question_is_asked_once_because_somebody_waits(build: Build, server: Server) -> None:
    server.always = Reply(status=500)
    with pytest.raises(EmbeddingFailed, match="tried once"):
        build().embed_query("tea")
    assert len(server.questions) == 1


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (400, "embedding.dimension"),
        (401, "check embedding.api_key"),
        (403, "check embedding.api_key"),
        (404, "check embedding.url and embedding.model"),
        (413, "too long"),
        (418, "status 418"),
        (422, "check embedding.model"),
    ],
)
def test_a_refusal_is_final_and_says_what_to_check(status: int, says: str, build: Build, server: Server) -> None:
    body = {"error": {"message": f"{KEY}: my secret text", "code": "some_reason"}}
    server.always = Reply(body=json.dumps(body).encode(), status=status)
    text = failure(build())
    assert says in text
    assert str(status) in text
    assert ("some_reason" in text) == (status != 418)
    assert len(server.questions) == 1


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"error": "no"}', b'{"error": {"code": 7}}', b"[" * 100_000]
    + [f'{{"error": {{"code": "{code}"}}}}'.encode() for code in (KEY, "my secret text", "topsecret")],
)
def test_what_a_refusal_says_freely_is_not_repeated(body: bytes, build: Build, server: Server) -> None:
    server.always = Reply(body=body, status=401)
    assert "(401)" in failure(build(api_key="topsecret") if b"topsecret" in body else build())


@pytest.mark.parametrize("slow", [Reply(hangs=True), Reply(drips=True)], ids=["hangs", "drips"])
def test_a_slow_answer_is_not_waited_for(slow: Reply, build: Build, server: Server) -> None:
    server.always = slow
    text = failure(build(timeout_seconds=0.5))
    assert "no whole answer within 0.5 s" in text
    assert len(server.questions) == limits.ENDPOINT_ATTEMPTS_MAX_COUNT


def test_a_huge_answer_is_not_read_to_its_end(build: Build, server: Server) -> None:
    huge = b" " * (limits.ENDPOINT_ANSWER_MAX_BYTES + 1)
    server.always = Reply(body=huge)
    assert "bytes, which is no list of vectors" in failure(build())


def test_a_compressed_answer_is_refused(build: Build, server: Server) -> None:
    server.always = Reply(body=b"\x1f\x8b", headers={"content-encoding": "gzip"})
    assert "compressed" in failure(build())


def test_an_answer_that_breaks_off_is_asked_for_again(build: Build, server: Server) -> None:
    server.script = [Reply(body=b'{"data"', cuts=True)]
    assert build().embed(["tea"]).shape == (1, 4)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_and_nothing_reaches_the_other_host(status: int, build: Build, server: Server) -> None:
    with serving() as other:
        server.always = Reply(status=status, headers={"location": f"{other.url}/v1/embeddings"})
        text = failure(build())
        assert "redirects elsewhere" in text
        assert str(status) in text
        assert other.count == 0
    assert len(server.questions) == 1


def test_the_environment_cannot_divert_the_request(
    build: Build, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert build().embed(["tea"]).shape == (1, 4)
        assert proxy.count == 0


def test_the_key_is_in_no_repr_and_no_log(build: Build, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.script = [Reply(status=500), Reply(status=429)]
    embedder = build()
    embedder.embed(["my secret text"])
    assert KEY not in caplog.text
    assert "my secret text" not in caplog.text
    assert KEY not in f"{embedder!r} {embedder._client!r} {embedder}"


@pytest.mark.parametrize("key", ["two words", "new\nline", "schlüssel", "k" * 5_000])
def test_a_key_that_cannot_be_sent_is_refused_without_being_quoted(key: str, build: Build) -> None:
    with pytest.raises(InvalidInput, match=r"embedding\.api_key") as caught:
        build(api_key=key)
    assert key not in str(caught.value)


def test_a_password_in_the_address_is_refused_without_being_quoted(build: Build) -> None:
    with pytest.raises(InvalidInput, match=r"use embedding\.api_key") as caught:
        build("https://me:hunter2@host/v1")
    assert "hunter2" not in str(caught.value)


def test_closing_ends_the_waiting_between_tries(server: Server) -> None:
    asked = threading.Event()

    def busy(question: Question) -> Reply:
        asked.set()
        return Reply(status=429, headers={"retry-after": "25"})

    server.always = busy
    embedder = EndpointEmbedder(server.url, "tiny")
    caught: list[Exception] = []

    def work() -> None:
        try:
            embedder.embed(["tea"])
        except EmbeddingFailed as error:
            caught.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    assert asked.wait(60)
    embedder.close()
    embedder.close()
    worker.join(60)
    assert not worker.is_alive()
    assert "closed" in str(caught[0])
    with pytest.raises(EmbeddingFailed, match="closed"):
        embedder.embed(["tea"])
