"""The libraries below log whole prompts when debugging is on. What is logged for us is dropped."""

from __future__ import annotations

import logging

THREAD_NAME = "tacit-language"
_LIBRARIES = ("openai", "anthropic", "httpx2", "httpcore2", "pydantic_ai")


class _NotOurs(logging.Filter):
    """By thread, so that an application that uses the same libraries keeps its own records."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.threadName != THREAD_NAME


_FILTER = _NotOurs()


def hush() -> None:
    """To be called after the libraries are imported: a filter holds for one logger alone."""
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and name.split(".")[0] in _LIBRARIES:
            logger.addFilter(_FILTER)  # twice is once
