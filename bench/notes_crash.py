"""Kills a process with SIGKILL in the middle of writing notes, again and again, and looks at every
file after each blow: it must be the old or the new one, whole.

    python bench/notes_crash.py [--kills 50] [--seed 1]

One process is killed and replaced; another writes to the same folder all the time, and must not be
disturbed by those that come and clean up. Notes are begun, replaced and removed.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.children import child_environment
from bench.crash import _for, _until
from bench.notes_crash_child import version_of
from tacit.notes.folder import NotesFolder

KILLS = 50
_RUN_MAX_SECONDS = 0.25
_LISTEN_SECONDS = 0.05  # to the one that is not killed
_READY_MAX_SECONDS = 60.0
_CHILD = "from bench import notes_crash_child; notes_crash_child.main()"


@dataclass(slots=True)
class Outcome:
    kills: int = 0
    writes: int = 0  # acknowledged
    in_flight: int = 0  # kills in the middle of a write or a removal
    new: int = 0  # of these: the new file is there
    left: int = 0  # files in the making that were found after a kill
    late: int = 0  # openings that did not wait for the other writer, and left them to the next
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Writer:
    """A process that writes, with what it said."""

    root: Path
    who: str
    process: subprocess.Popen[bytes]
    known: dict[str, int | None] = field(default_factory=dict)
    intent: tuple[str, int | None] | None = None
    count: int = 0
    tail: bytes = b""  # of what it said, a line that is not at its end

    @classmethod
    def start(cls, root: Path, who: str, first: int, known: dict[str, int | None]) -> Writer:
        process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(root), who, str(first), str(first)],
            stdout=subprocess.PIPE,
            env=child_environment(),
            start_new_session=True,
        )
        writer = cls(root=root, who=who, process=process, known=known)
        writer.hear(_until(process, b'"ready"', _READY_MAX_SECONDS))
        return writer

    def hear(self, said: bytes) -> None:
        # A line that was cut off was not said: the process died before it was out.
        *lines, self.tail = (self.tail + said).split(b"\n")
        for line in map(json.loads, lines):
            if "intent" in line:
                self.intent = (line["path"], line["intent"])
            elif "done" in line:
                self.known[line["path"]], self.intent = line["done"], None
                self.count += 1

    def kill(self) -> int:
        """Its code: whether it was still at it."""
        self.process.kill()
        assert self.process.stdout is not None
        self.hear(self.process.stdout.read())
        self.process.stdout.close()
        return self.process.wait()


def _now(root: Path, who: str) -> dict[str, int | str | None]:
    """What the files of one writer say, without help of the code that wrote them."""
    found: dict[str, int | str | None] = {}
    for file in root.glob(f"{who}-*/*"):
        if file.name.startswith("."):
            continue
        path = file.relative_to(root).as_posix()
        version = version_of(path, file.read_bytes())
        found[path] = "torn" if version is None else version
    return found


def _check(root: Path, writer: Writer, outcome: Outcome) -> None:
    """Each file is what was acknowledged last; the one in hand may be the new one already."""
    now = _now(root, writer.who)
    for path in now.keys() | writer.known.keys():
        may_be = {writer.known.get(path)}
        if writer.intent is not None and writer.intent[0] == path:
            outcome.in_flight += 1
            may_be.add(writer.intent[1])
            outcome.new += now.get(path) == writer.intent[1]
        if now.get(path) not in may_be:
            outcome.wrong.append(f"{path} is {now.get(path)}, and not one of {may_be}")
        writer.known[path] = None if (it := now.get(path)) is None else int(it)


def _leftovers(root: Path, who: str) -> int:
    return len(list(root.glob(f"{who}-*/.tacit-*.tmp")))


def kills(root: Path, count: int, seed: int) -> Outcome:
    chance, outcome = random.Random(seed), Outcome()
    steady = Writer.start(root, "steady", 1_000_000_000, {})
    known: dict[str, int | None] = {}
    for number in range(count):
        writer = Writer.start(root, "killed", (number + 1) * 1_000_000, known)
        writer.hear(_for(writer.process, chance.uniform(0.0, _RUN_MAX_SECONDS)))
        if writer.kill() != -9:
            outcome.wrong.append("a writer ended by itself")
        outcome.kills += 1
        outcome.writes += writer.count
        outcome.left += _leftovers(root, "killed")
        _check(root, writer, outcome)
        with NotesFolder(root):  # the next opening
            outcome.late += bool(_leftovers(root, "killed"))
        steady.hear(_for(steady.process, _LISTEN_SECONDS))
    if steady.kill() != -9:
        outcome.wrong.append("the writer that was not killed was disturbed")
    outcome.writes += steady.count
    _check(root, steady, outcome)
    with NotesFolder(root) as folder:
        if _leftovers(root, "killed") or _leftovers(root, "steady"):
            outcome.wrong.append("what a killed writer left is still there, and nobody writes")
        for path in folder.files():
            read = folder.read(path)
            if read is None or version_of(path, read) is None:
                outcome.wrong.append(f"{path} cannot be read")
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = kills(Path(folder) / "notes", chosen.kills, chosen.seed)
    for line in outcome.wrong[:20]:
        print(f"  {line}")
    print(f"kill -9: {outcome.kills}, with a write in hand: {outcome.in_flight}")
    print(f"of these, the new file was there: {outcome.new}, the old one: "
          f"{outcome.in_flight - outcome.new}")  # fmt: skip
    print(f"files in the making that were left: {outcome.left}, gone at the next opening; "
          f"at the one after that, because somebody was writing: {outcome.late}")  # fmt: skip
    print(f"writes acknowledged: {outcome.writes:,}; lost or torn: {len(outcome.wrong)}")
    return 1 if outcome.wrong or not outcome.in_flight else 0


if __name__ == "__main__":
    sys.exit(main())
