"""A page from its first block to its last: each is run, or read, and what comes of it compared."""

import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise
from pathlib import Path

from tests.docs.blocks import ROOT, Block
from tests.docs.checked import check
from tests.docs.data import READERS
from tests.docs.said import Ids, same_answer, same_session, same_text
from tests.docs.shell import JOINS, Shell, split
from tests.docs.world import World

# What a command needs that a test has not: blocks with it are checked, and not run.
NEEDS = {
    "docker": "an engine for containers",
    "systemctl": "a machine whose services may be changed",
    "opentelemetry-instrument": "a distribution that is not ours to install",
}


class Reading:
    def __init__(self, world: World) -> None:
        self._world = world
        self._shell = Shell(world)
        self._ids = Ids()
        self._came = ""  # of the block before
        self._status = ""  # of the last request in it

    def read(self, found: list[Block]) -> None:
        for block, after in pairwise([*found, None]):
            assert block is not None
            try:
                if block.output:
                    self._compare(block)
                else:
                    self._take(block, told=after is not None and after.output is not None)
            except BaseException as error:
                error.add_note(f"in the block at {block.where}")
                raise

    def _take(self, block: Block, *, told: bool) -> None:
        """With whether the page goes on to tell what comes of it."""
        if block.file:
            self._write(block)
        if block.language == "python" and not block.file:
            self._came = self._python(block)
            assert told or not self._came, f"the page does not say that it prints:\n{self._came}"
        elif block.language == "sh":
            self._lines(block, told=told)
        elif block.language == "console":
            self._session(block)
        elif block.language in READERS:
            READERS[block.language](block, self._world)

    def _write(self, block: Block) -> None:
        file = Path(block.file or "")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self._world.here(block.text))

    def _compare(self, block: Block) -> None:
        assert block.output is not None
        came = self._world.there(self._came)
        if status := block.output["status"]:
            assert self._status == status, came
            assert same_answer(block.text, came), came
        else:
            assert same_text(block.text, came), came
        self._came = self._status = ""

    def _python(self, block: Block) -> str:
        """At the lines of the page, so that a traceback shows it. A test on a page is called."""
        names, printed = self._world.module.__dict__, StringIO()
        placed = "\n" * (block.line - 1) + self._world.here(block.text)
        code = compile(placed, str(ROOT / block.page), "exec", dont_inherit=True)
        with redirect_stdout(printed):
            exec(code, names)  # noqa: S102 (our own pages)
            for name in [name for name in names if name.startswith("test_")]:
                names.pop(name)(database_url="sqlite://")
        return printed.getvalue()

    def _lines(self, block: Block, *, told: bool) -> None:
        """What they print is not looked at, unless the page tells what that is."""
        self._came = ""
        for line in _joined(block.text):
            if needed(block):
                _check(line)
                continue
            ran = self._shell.run(line)
            assert ran.code == 0, f"{line}\n{ran.out}{ran.err}"
            self._came += ran.out
            if ran.answer is not None:
                self._status = str(ran.answer.status_code)
                assert told or ran.answer.is_success, f"{line}\n{ran.out}"

    def _session(self, block: Block) -> None:
        """After each `$` what is typed, then all that is shown, but for remarks beside it. What
        somebody types at a prompt stands behind `you>`."""
        for line, written in _steps(block.text):
            typed = "".join(re.findall(r"^you> (.*\n)", written, re.MULTILINE))
            written = re.sub(r"^you> .*\n", "", written, flags=re.MULTILINE)
            ran = self._shell.run(self._ids.here(line), typed)
            shown = (ran.out, ran.out + ran.err)
            right = any(same_session(written, one, self._ids) for one in shown)
            assert right, f"$ {line}\n{ran.out}{ran.err}"


def needed(block: Block) -> set[str]:
    """What of `NEEDS` its commands need."""
    return {word for line in _joined(block.text) for word in split(line)} & set(NEEDS)


def _check(line: str) -> None:
    words = split(line)
    while words:
        end = next((n for n, word in enumerate(words) if word in JOINS), len(words))
        check(words[:end])
        words = words[end + 1 :]


def _joined(text: str) -> Iterator[str]:
    """Lines that go on in the next one are one, and remarks are none."""
    for line in text.replace("\\\n", " ").splitlines():
        if split(line):
            yield line


def _steps(text: str) -> Iterator[tuple[str, str]]:
    assert text.startswith("$ ")
    for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, written = step.partition("\n")
        yield line, written
