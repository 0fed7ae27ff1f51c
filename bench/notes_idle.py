"""What it costs to watch notes that nobody touches: CPU time of a process that watches 5,000 files,
beside that of one that does nothing, over the same seconds; the same of a memory that is open, with
notes and without; and how soon an edit is told.

    python bench/notes_idle.py [--files 5000] [--seconds 30]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tacit
from bench.children import child_environment
from tacit.notes.folder import NotesFolder
from tacit.notes.watcher import FolderWatcher
from tacit.settings import NotesSettings, Settings

FILES, SECONDS = 5_000, 30.0
PARTIES = ("nothing", "watching", "memory", "memory and notes")
_FILES_PER_FOLDER, _FILE_BYTES = 50, 2_000
_EDITS = 10
_SETTLED_SECONDS = 5.0
_TOLD_MAX_SECONDS = 60.0
_CHILD = "from bench import notes_idle; notes_idle.child()"


@contextmanager
def _party(what: str, root: Path) -> Iterator[None]:
    """What a process does while nothing happens."""
    with ExitStack() as stack:
        if what == "watching":
            watcher = FolderWatcher(stack.enter_context(NotesFolder(root)), lambda _: None)
            watcher.start()
            stack.callback(watcher.stop)
        elif what != "nothing":
            notes = NotesSettings(enabled=what == "memory and notes", dir=str(root))
            database = root.with_name(f"{what.replace(' ', '-')}.db")
            opened = tacit.open(f"sqlite:///{database}", settings=Settings(notes=notes))
            stack.enter_context(opened)
        yield


def child() -> None:
    """Says how much CPU time it took to wait."""
    seconds, what, root = float(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    with _party(what, root):
        time.sleep(_SETTLED_SECONDS)  # until it has looked at everything
        before = time.process_time()
        time.sleep(seconds)
        print(time.process_time() - before, flush=True)


def idle(root: Path, seconds: float) -> dict[str, float]:
    """CPU seconds of each, all waiting at the same time."""
    processes = {
        what: subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(seconds), what, str(root)],
            stdout=subprocess.PIPE,
            text=True,
            env=child_environment(),
        )
        for what in PARTIES
    }
    took = {}
    for what, process in processes.items():
        said, _ = process.communicate(timeout=seconds + _TOLD_MAX_SECONDS)
        took[what] = float(said)
    return took


def told_after(folder: NotesFolder, paths: list[str]) -> list[float]:
    """Seconds from each edit until it was told."""
    told, seconds, wanted = threading.Event(), [], [""]

    def changed(found: set[str]) -> None:
        if wanted[0] in found:
            told.set()

    watcher = FolderWatcher(folder, changed)
    watcher.start()
    for path in paths:
        told.clear()
        wanted[0] = path
        began = time.perf_counter()
        (folder.root / path).write_bytes(b"by hand\n")
        if not told.wait(_TOLD_MAX_SECONDS):
            raise RuntimeError("an edit was not told")
        seconds.append(time.perf_counter() - began)
    watcher.stop()
    return seconds


def _fill(root: Path, count: int) -> None:
    """Quicker than by our own writes, each of which is on the disk before it returns."""
    for number in range(count):
        day = root / f"day-{number // _FILES_PER_FOLDER:05}"
        day.mkdir(exist_ok=True)
        (day / f"session-{number}.md").write_bytes(b"x" * _FILE_BYTES)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "notes"
        root.mkdir(mode=0o700)
        _fill(root, chosen.files)
        with NotesFolder(root) as folder:
            paths = sorted(folder.files())  # which mends their modes
            began = time.process_time()
            folder.files()
            looked = time.process_time() - began
        took = idle(root, chosen.seconds)
        with NotesFolder(root) as folder:
            told = told_after(folder, paths[:: max(1, len(paths) // _EDITS)])
    print(f"{len(paths):,} files, {chosen.seconds:g} s in which nothing happens")
    for what, seconds in took.items():
        share = 100 * seconds / chosen.seconds
        cost = f"{1_000 * seconds:7.1f} ms, {share:.3f} % of a core"
        print(f"  CPU of a process with {what:<17}{cost}")
    print(f"looking through all of them once: {1_000 * looked:.1f} ms")
    print(f"an edit is told after {1_000 * statistics.median(told):.0f} ms (median), "
          f"{1_000 * max(told):.0f} ms at most")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
