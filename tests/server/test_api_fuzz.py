"""The API does what its OpenAPI document says, whatever it is sent. A short look, with the same
questions each time; `make fuzz-api` takes a long one."""

import tacit
from tests.server.fuzzing import fuzz, one_who_may_all, settings
from tests.server.http_server import served
from tests.server.worlds import UNHURRIED


def test_every_operation_does_what_its_document_says() -> None:
    with tacit.open("sqlite://", settings=UNHURRIED, embedder=None) as memory:
        config = settings(one_who_may_all(memory), 1, ("fuzzing",), seed=7)
        with served(memory, UNHURRIED) as url:
            done = fuzz(url, config)
    assert (done.findings, done.errors) == ({}, [])
    assert len(done.cases) == done.operations
