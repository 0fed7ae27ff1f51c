"""Runs one script on one memory and writes down every call to it: mem0's own, or Tacit's.

    python bench/mem0_child.py mem0|tacit.integrations.mem0 SCRIPT RECORD

It needs nothing but the package it is told of: it also runs where mem0 is and Tacit is not.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = ("add", "search", "get", "get_all", "update", "delete", "delete_all", "history", "reset")
OURS = "tacit.integrations.mem0"
_IMPORT = f"from {OURS} import"

Call = dict[str, Any]


class Recorder:
    """What each call gave, in order. Calls that a word makes itself are its own business."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._inside = False

    def watching(self, word: Callable[..., Any], kind: str) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(word):

            @functools.wraps(word)
            async def awaited(*args: Any, **named: Any) -> Any:
                if self._inside:
                    return await word(*args, **named)
                call = self._begin(kind, word.__name__)
                try:
                    return self._ended(call, await word(*args, **named))
                except Exception as error:
                    self._failed(call, error)
                    raise

            return awaited

        @functools.wraps(word)
        def called(*args: Any, **named: Any) -> Any:
            if self._inside:
                return word(*args, **named)
            call = self._begin(kind, word.__name__)
            try:
                return self._ended(call, word(*args, **named))
            except Exception as error:
                self._failed(call, error)
                raise

        return called

    def _begin(self, kind: str, word: str) -> Call:
        self._inside = True
        self.calls.append({"word": f"{kind}.{word}"})
        return self.calls[-1]

    def _ended(self, call: Call, result: Any) -> Any:
        self._inside = False
        call["result"] = json.loads(json.dumps(result))  # as it is now, whatever becomes of it
        return result

    def _failed(self, call: Call, error: Exception) -> None:
        self._inside = False
        call["error"] = {
            "ValueError": isinstance(error, ValueError),
            "name": type(error).__name__,
            "code": getattr(error, "error_code", None),
        }


def run(module: str, script: Path) -> list[Call]:
    """The script as it stands, but for the package that it imports."""
    package = importlib.import_module(module)
    recorder = Recorder()
    plain: list[tuple[type, str, Any]] = []
    for kind in (package.Memory, package.AsyncMemory):
        for word in WORDS:
            plain.append((kind, word, kind.__dict__[word]))
            setattr(kind, word, recorder.watching(kind.__dict__[word], kind.__name__))
    text = script.read_text()
    assert text.count(_IMPORT) == 1
    code = compile(text.replace(_IMPORT, f"from {module} import"), str(script), "exec")
    try:
        exec(code, {"__name__": "__main__"})  # noqa: S102 - a script of this repository
    finally:
        for kind, word, own in plain:
            setattr(kind, word, own)
    return recorder.calls


def _in_this_folder() -> None:
    """mem0 keeps its vectors in a fixed folder of the machine unless it is told another one."""
    from mem0.memory import main  # type: ignore[import-not-found]

    for kind in (main.Memory, main.AsyncMemory):
        kind.__init__.__defaults__[0].vector_store.config.path = str(Path.cwd() / "vectors")


if __name__ == "__main__":
    if sys.argv[1] != OURS:
        _in_this_folder()
    Path(sys.argv[3]).write_text(json.dumps(run(sys.argv[1], Path(sys.argv[2]))))
