"""Lines for operators, on standard error. They tell what was done and how it went, and hold nothing
that people wrote, nothing that names them, and no text of an exception, which may hold both."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from types import TracebackType
from typing import Any

import structlog

_OURS = "tacit"
_FRAMES_MAX_COUNT = 8  # the innermost


class Log:
    """Each line is an event, one of a few words, and what is known of it."""

    def __init__(self, form: str) -> None:
        shown: Any = (
            structlog.processors.JSONRenderer()
            if form == "json"
            else structlog.processors.LogfmtRenderer()
        )
        self._lines = structlog.wrap_logger(
            structlog.PrintLogger(sys.stderr),
            processors=[
                structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
                _in_order,
                shown,
            ],
            wrapper_class=structlog.BoundLogger,
            cache_logger_on_first_use=True,
        )

    def tell(self, event: str, **what: str | int | float | bool | list[str] | None) -> None:
        # Whoever reads the log is gone or their disk is full: the work goes on.
        with contextlib.suppress(OSError, ValueError):
            self._lines.info(event, **what)

    def failed(self, event: str, error: BaseException, **what: str | None) -> None:
        """An error that nobody expected: its kind, and where it came from."""
        self.tell(event, kind=type(error).__name__, at_lines=frames(error.__traceback__), **what)


def _in_order(_logger: Any, _name: str, what: Any) -> Any:
    """When and what stand first, where eyes look for them."""
    return {"at": what.pop("at"), "event": what.pop("event"), **what}


def frames(trace: TracebackType | None) -> list[str]:
    """Where in the code, innermost last. No values."""
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        module = trace.tb_frame.f_globals.get("__name__", "?")
        found.append(f"{module}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return found[-_FRAMES_MAX_COUNT:]


class _Remarks(logging.Handler):
    """What libraries log. Ours say nothing of people; of all others only the place is told."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        ours = record.name.split(".")[0] == _OURS
        error = record.exc_info[1] if record.exc_info else None
        self._log.tell(
            "remark",
            level=record.levelname.lower(),
            by=record.name,
            line=record.lineno,
            **({"says": record.getMessage()} if ours else {}),
            **({} if error is None else {"kind": type(error).__name__}),
            **({} if error is None else {"at_lines": frames(error.__traceback__)}),
        )


def take_over(log: Log) -> None:
    """From here on nothing in this process writes to standard error but through `log`."""
    root = logging.getLogger()
    for handler in root.handlers[:]:
        root.removeHandler(handler)
    root.addHandler(_Remarks(log))
    root.setLevel(logging.WARNING)
    for name in (_OURS, "uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.WARNING)

    def in_a_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            log.failed("failed", args.exc_value)

    threading.excepthook = in_a_thread
