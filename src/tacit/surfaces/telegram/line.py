"""The Bot API for threads that wait: the library is asynchronous, and has a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import CancelledError, Future
from typing import TypeVar

import telegram

from tacit import limits
from tacit.surfaces.telegram.fields import Fields
from tacit.surfaces.telegram.reading import KINDS, Me
from tacit.surfaces.telegram.wire import Failed, Wire, failed, silence

T = TypeVar("T")
Call = Callable[[telegram.Bot], Awaitable[T]]

# Telegram knows its methods in any case. In the library's own spelling this one reads every update
# into objects, and one update that it cannot read keeps all that follow from being told.
_GET_UPDATES = "GetUpdates"
_CLOSE_SECONDS = 5.0
_TELEGRAM = "https://api.telegram.org"


class Line:
    def __init__(self, token: str, api_url: str = "") -> None:
        silence()
        self._request = Wire()
        self._bot = telegram.Bot(
            token,
            base_url=f"{(api_url or _TELEGRAM).rstrip('/')}/bot",
            request=self._request,
            get_updates_request=self._request,
        )
        self._loop = asyncio.new_event_loop()
        self._closed = threading.Event()
        self._polling = threading.Lock()
        self._poll: Future[object] | None = None
        self._polling_stopped = False
        self._background: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="tacit-telegram", daemon=True)
        self._thread.start()

    def call(self, what: Call[T], seconds: float = limits.TELEGRAM_CALL_MAX_SECONDS) -> T:
        """Raises `Failed`."""
        return _result(self._submit(what, seconds), seconds)

    def call_in_background(self, calls: Sequence[Call[object]]) -> None:
        """One after the other, while nobody waits. Whatever comes of it, nobody is told."""
        if calls and not self._closed.is_set():
            with contextlib.suppress(RuntimeError):  # closed this very moment
                self._loop.call_soon_threadsafe(self._begin, calls)

    def get_identity(self) -> Me:
        user = self.call(lambda bot: bot.get_me())
        return Me(id=user.id, username=user.username or "")

    def stop_polling(self) -> None:
        """Nobody waits for updates any longer, now or later."""
        with self._polling:
            self._polling_stopped = True
            if self._poll is not None:
                self._poll.cancel()

    def get_updates(self, offset: int | None, seconds: int) -> list[Fields]:
        """As they came. With an offset, Telegram forgets all before it. Raises `Failed`, also for
        what is no list of updates."""
        asked = {
            "timeout": seconds,
            "limit": limits.TELEGRAM_UPDATES_MAX_COUNT,
            "allowed_updates": list(KINDS),
            **({} if offset is None else {"offset": offset}),
        }
        patience = seconds + limits.TELEGRAM_CALL_MAX_SECONDS
        with self._polling:
            if self._polling_stopped:
                raise Failed("network")
            self._poll = self._submit(
                lambda bot: bot.do_api_request(
                    _GET_UPDATES, api_kwargs=asked, read_timeout=patience
                ),
                patience,
            )
        found = _result(self._poll, patience)
        if not isinstance(found, list):
            raise Failed("unlike")
        updates: list[Fields] = [one for one in found if isinstance(one, dict)]
        if found and not updates:
            raise Failed("unlike")
        return updates

    def close(self) -> None:
        """Ends whatever is waited for."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_SECONDS)

    def _submit(self, what: Call[T], seconds: float) -> Future[T | Failed]:
        if self._closed.is_set():
            raise Failed("network")
        wanted = self._bounded(what, seconds)
        try:
            return asyncio.run_coroutine_threadsafe(wanted, self._loop)
        except RuntimeError:  # closed this very moment
            wanted.close()
            raise Failed("network") from None

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            for task in (left := asyncio.all_tasks(self._loop)):
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            self._loop.run_until_complete(self._request.shutdown())
        finally:
            self._loop.close()

    async def _bounded(self, what: Call[T], seconds: float) -> T | Failed:
        """A failure is handed back, not raised: raised from the library's own, it would carry that
        one along, and with it the address."""
        try:
            async with asyncio.timeout(seconds):
                return await what(self._bot)
        except Exception as problem:  # noqa: BLE001 - as the library stumbles over an odd answer
            return failed(problem)

    def _begin(self, calls: Sequence[Call[object]]) -> None:
        task = self._loop.create_task(self._one_by_one(calls))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _one_by_one(self, calls: Sequence[Call[object]]) -> None:
        for what in calls:
            if isinstance(await self._bounded(what, limits.TELEGRAM_CALL_MAX_SECONDS), Failed):
                return


def _result(asked: Future[T | Failed], seconds: float) -> T:
    try:
        done = asked.result(seconds + _CLOSE_SECONDS)
    except (CancelledError, TimeoutError):  # nobody wants it any longer, or is there to do it
        done = Failed("network")
    if isinstance(done, Failed):
        raise done
    return done
