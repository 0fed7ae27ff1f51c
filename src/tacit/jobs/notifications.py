"""Run workers that PostgreSQL notifies, through procrastinate, when a turn is due."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from tacit import limits
from tacit.errors import StoreError
from tacit.jobs.worker import JobRunner
from tacit.learning.pipeline import LearningPipeline
from tacit.storage import postgres, queue

if TYPE_CHECKING:
    from procrastinate import App

T = TypeVar("T")
_log = logging.getLogger(__name__)
_THREAD_NAME = "tacit-learn-pokes"
_LIBRARIES = ("procrastinate", "psycopg")
_CONNECTIONS_MAX_COUNT = 2  # for procrastinate's own rows; one more listens
_CONNECTION_WAIT_SECONDS = 3.0
_START_DELAY_SECONDS = 1.0  # whoever is gone by then need not wait for a library to be imported
_STOP_SECONDS, _STOPS_MAX_COUNT = 1.0, 5


class NotifiedPool:
    def __init__(self, path: LearningPipeline, count: int) -> None:
        self._path = path
        self._database = path.store.database
        self._count = count
        self._stopping = threading.Event()
        self._ready = False  # there is somewhere to be poked
        self._executor = ThreadPoolExecutor(count, thread_name_prefix="tacit-learn")
        self._loop = asyncio.new_event_loop()
        self._woken, self._stopped = asyncio.Event(), asyncio.Event()
        self._thread = threading.Thread(target=self._run, name=_THREAD_NAME, daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """What this process accepts it need not be told of, and may not hear while it begins."""
        self._call(self._woken.set)

    def close(self) -> None:
        self._stopping.set()
        self._call(self._stopped.set)
        self._thread.join(2 * _STOP_SECONDS * _STOPS_MAX_COUNT)
        self._executor.shutdown()  # with this done, nobody uses the store any more

    def _call(self, what: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed already
            self._loop.call_soon_threadsafe(what)

    def _run(self) -> None:
        self._loop.set_exception_handler(_log_loop_error)
        with asyncio.Runner(loop_factory=lambda: self._loop) as loop:
            loop.run(self._main())

    async def _main(self) -> None:
        sweeping = asyncio.create_task(self._sweep())
        await _wait_for_any(self._woken, self._stopped, seconds=_START_DELAY_SECONDS)
        while not self._stopped.is_set():
            listening = asyncio.create_task(self._listen())
            stopped = asyncio.create_task(self._stopped.wait())
            await asyncio.wait({listening, stopped}, return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            await _cancel_all({listening})
            _log_listener_end(listening)
            await _wait_for_any(self._stopped, seconds=limits.LEARN_RETRY_FIRST_SECONDS)
        await asyncio.wait({sweeping})
        await _cancel_all(asyncio.all_tasks() - {asyncio.current_task()})

    async def _sweep(self) -> None:
        while not self._stopped.is_set():
            self._woken.clear()
            await self._run_in_worker(lambda: _run_safely(self._run_due))
            await _wait_for_any(self._woken, self._stopped, seconds=limits.LEARN_POLL_SECONDS)

    async def _listen(self) -> None:
        """Until it is cancelled, or the database is gone."""
        self._ready = await self._run_in_worker(self._claim_notifications)
        if not self._ready:
            _log.info("somebody else has a schema named %s: nobody is told", postgres.NOTIFY_SCHEMA)
            await self._stopped.wait()
            return
        await self._run_in(None, _import_procrastinate)
        app = self._app()
        try:
            await app.open_async()
            await app.run_worker_async(
                queues=[postgres.NOTIFY_QUEUE],
                name="",
                concurrency=self._count,
                fetch_job_polling_interval=limits.LEARN_POLL_SECONDS,
                delete_jobs="always",
                install_signal_handlers=False,
                stalled_worker_timeout=postgres.NOTIFY_STALLED_SECONDS,
            )
        finally:
            await app.close_async()

    def _app(self) -> App:
        import procrastinate

        connector = procrastinate.PsycopgConnector(
            kwargs=postgres.notify_connection_options(self._database.engine),
            min_size=1,
            max_size=_CONNECTIONS_MAX_COUNT,
            timeout=_CONNECTION_WAIT_SECONDS,
            name="tacit",
        )
        app = procrastinate.App(connector=connector)

        @app.task(name=postgres.NOTIFY_TASK, queue=postgres.NOTIFY_QUEUE)
        async def learn(poke: str) -> None:
            await self._run_in_worker(lambda: _run_safely(lambda: self._handle_notification(poke)))

        return app

    async def _run_in_worker(self, work: Callable[[], T]) -> T:
        return await self._run_in(self._executor, work)

    async def _run_in(self, threads: ThreadPoolExecutor | None, work: Callable[[], T]) -> T:
        try:
            begun = self._loop.run_in_executor(threads, work)
        except RuntimeError:  # the interpreter ends, and nobody has closed us
            self._stopped.set()
            raise asyncio.CancelledError from None
        return await begun

    def _claim_notifications(self) -> bool:
        return self._database.write(self._database.dialect.install_notify)

    def _handle_notification(self, poke: str) -> None:
        """The first of the thread, and on while there is something due."""
        runner, clock = JobRunner(self._path), self._path.store.clock
        self._database.write(lambda connection: postgres.delete_notifications(connection, poke))
        with self._database.read() as connection:
            job = postgres.first_notified_job(connection, poke, clock())
        while job is not None and not self._stopping.is_set():
            runner.run_job(job)
            with self._database.read() as connection:
                job = queue.first_job_of_thread(connection, job.space, job.thread, clock())

    def _run_due(self) -> None:
        """What is due and nobody is at: a worker died, or nobody was told."""
        JobRunner(self._path).drain(stop=self._stopping.is_set)
        if self._ready:
            self._database.write(postgres.delete_stale_notifications)


def _run_safely(work: Callable[[], None]) -> None:
    """The next look may go better."""
    try:
        work()
    except StoreError as error:
        _log.warning("learning waits for the database: %s", type(error).__name__)
    except Exception as error:  # noqa: BLE001 - nobody else would look any more
        _log.warning("learning was interrupted: %s", type(error).__name__)


async def _cancel_all(tasks: Collection[asyncio.Task[Any] | None]) -> None:
    """Each ends what it is at. One that was just connecting was seen to go on after it was told to
    stop, so it is told again."""
    left = {task for task in tasks if task is not None}
    for _ in range(_STOPS_MAX_COUNT):
        if not left:
            break
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_STOP_SECONDS)


def _log_listener_end(listening: asyncio.Task[None]) -> None:
    if not listening.done() or listening.cancelled():
        return
    error = listening.exception()
    if error is not None:
        _log.warning("learning goes on without being told: %s", type(error).__name__)
    else:
        _log.info("learning goes on without being told for a while")


async def _wait_for_any(*events: asyncio.Event, seconds: float) -> None:
    """Until one of them happens, or the time is over."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for one in waiting:
        one.cancel()


class _OwnThreadFilter(logging.Filter):
    """By thread, so that an application that uses the same library keeps its own records."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.threadName != _THREAD_NAME


_LOG_FILTER = _OwnThreadFilter()


def _import_procrastinate() -> None:
    """procrastinate reports every job that it runs. What goes wrong with ours is told by us."""
    import procrastinate.worker  # noqa: F401 - which it would import later

    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and name.split(".")[0] in _LIBRARIES:
            logger.addFilter(_LOG_FILTER)  # twice is once


def _log_loop_error(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A poke that could not be crossed off, say: the sweep does that."""
    _log.debug("while being told: %s", type(context.get("exception")).__name__)
