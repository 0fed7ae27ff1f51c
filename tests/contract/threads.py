"""Many at the same moment, and what a test waits for meanwhile."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

PATIENCE_SECONDS = 60.0  # far more than anything takes; a test that waits for so long has failed


def together(count: int, act: Callable[[int], object]) -> list[object]:
    """What each of `count` threads got, all started at one moment: an answer, or an error."""
    ready = threading.Barrier(count)

    def run(number: int) -> object:
        ready.wait()
        try:
            return act(number)
        except Exception as error:  # noqa: BLE001 (what it is, is what the test asks)
            return error

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def errors(told: list[object]) -> list[BaseException]:
    return [one for one in told if isinstance(one, BaseException)]


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.005)
