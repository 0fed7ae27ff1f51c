"""Several processes on one socket: whoever is killed is replaced, and none is left behind."""

import os
import signal
import subprocess
import sys

import httpx2

from tests.server.processes import PATIENCE_SECONDS, Serving, serving, until

APPLES = {"content": "I like green apples", "category": "preference"}


def started(served: Serving, count: int) -> list[int]:
    """The numbers of the processes, once so many have been started."""

    def found() -> list[int] | None:
        told = [one["pid"] for one in served.lines() if one["event"] == "worker started"]
        return told if len(told) >= count else None

    return list(until(found))


def gone(served: Serving) -> bool:
    try:
        with served.asking() as client:
            client.get("/health/live")
    except httpx2.ConnectError:
        return True
    except httpx2.HTTPError:
        return False
    return False


def test_a_worker_that_is_killed_is_replaced_and_all_of_them_stop(migrated_postgres_url: str) -> None:
    with serving(migrated_postgres_url, "--workers", "2") as served:
        first, _ = started(served, 2)
        with served.asking() as client:
            kept = client.post("/api/memory/", json=APPLES)
        assert kept.status_code == 201
        os.kill(first, signal.SIGKILL)
        assert len(started(served, 3)) == 3
        ended = [one for one in served.lines() if one["event"] == "worker ended"]
        assert [(one["pid"], one["code"]) for one in ended] == [(first, -signal.SIGKILL)]
        with served.asking() as client:
            (found,) = client.get("/api/memory/").json()["memories"]
        assert found["id"] == kept.json()["id"]
        assert served.stop() == 0
        told = [one["event"] for one in served.lines()]
    assert told[-1] == "stopped"
    assert gone(served)


def test_a_worker_stops_when_whoever_looks_after_it_is_gone() -> None:
    waits = "import time; from tacit.server.process import stop_with_parent; stop_with_parent(); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", waits], stdin=subprocess.PIPE) as worker:
        assert worker.stdin is not None
        worker.stdin.close()
        assert worker.wait(PATIENCE_SECONDS) == -signal.SIGTERM
