"""What one message does to memory: `make bench-said`.

    python bench/said.py [--data FOLDER] [--misses FILE] [--without-chat]

No language model takes part, everything runs on SQLite, and the sentences are those in `life_data/`:

replies       after ten stored facts, each reply is learned with the assistant's turn before it; it
              may change nothing. After one that did, the next is said by a new person.
sentences     each is learned by a new person, after what they said earlier; whatever waits for
              consent is approved. "right" is one after which memory holds what it must, nothing that
              is over or was to be kept out, and as sensitive and portable as it must be.
the chat      the same typed into `tacit chat`, where no model answers: the assistant's turn before
              a message is left out, and questions whether to remember something are answered yes.
              What the chat does not ask about is not known.
changes       facts are stored with `remember`, then a message that replaces or ends the first is
              learned. "answered": recall for the question finds what is known since (the new value, or
              that it is over) and not the first fact as it was.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path

# Run as a script, the folder of this file is on the path and the repository is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.life_data import FOLDER, BadData, Change, Reply, Said, changes, replies, said
from bench.life_play import Clock, Person, open_memory
from bench.life_score import find_faults, says_over, states
from bench.tables import table
from bench.vectors import Once, default_embedder
from tacit.bots import texts
from tacit.cli import main as tacit_main
from tacit.errors import SecretRefused
from tacit.records.memory import Memory

TOP = 5
NAME = "Nora"
# Of different kinds, and on what replies often name: a city, a firm, a food, a color, a name.
STORED = (
    "I live in Porto.",
    "I work at Adyen.",
    "My partner is called Sam.",
    "I'm vegetarian.",
    "I'm allergic to nuts.",
    "My dog is called Rex.",
    "My favourite color is blue.",
    "I speak French.",
    "My birthday is on 4 March.",
    "My dentist appointment is on 30 March 2026 at 9:30.",
)
# Names that a field of a memory may have if the product marks what a change put in doubt.
DOUBT_FIELDS = frozenset({"doubtful", "in_doubt", "doubted_at", "doubted_since", "maybe_outdated", "stale"})


class People:
    """New people, each in a private chat of their own, on one memory."""

    def __init__(self, url: str, embedder: Once) -> None:
        self._clock = Clock()
        self.memory = open_memory(url, self._clock, embedder, every_turn=False)
        self._count = 0

    def meet(self, name: str) -> Person:
        self._count += 1
        return Person(self.memory, self._clock, f"local:n{self._count}", name)


@dataclass(slots=True)
class Replied:
    """Counts of replies that should have changed nothing."""

    replies: int = 0
    stored: int = 0  # of the ten facts
    changed: int = 0  # replies after which a memory had another content or other fields
    ended: int = 0  # … was no longer active
    appeared: int = 0  # … was new
    asked: int = 0  # … waited for consent
    touched: int = 0  # any of these
    misses: list[str] = field(default_factory=list)


def reply_to_all(people: People, lines: Sequence[Reply]) -> Replied:
    counts, person, before = Replied(replies=len(lines)), None, dict[str, Memory]()
    for line in lines:
        if person is None:
            person = people.meet(NAME)
            for fact in STORED:
                person.say(fact)
                person.approve()
            before = person.memories()
            counts.stored = len(before)
        person.say(line.text, line.before)
        after, asked = person.memories(), person.view.proposals.list()
        ended, appeared = before.keys() - after.keys(), after.keys() - before.keys()
        changed = [id for id in before.keys() & after.keys() if before[id].updated_at != after[id].updated_at]
        counts.changed += bool(changed)
        counts.ended += bool(ended)
        counts.appeared += bool(appeared)
        counts.asked += bool(asked)
        if changed or ended or appeared or asked:
            counts.touched += 1
            made = [*(after[id].content for id in (*changed, *appeared)), *(one.content for one in asked)]
            gone = [before[id].content for id in ended]
            counts.misses.append(f"REPLY {line.before!r} {line.text!r} -> now {made}, no longer {gone}")
            person = None
    return counts


# Sentences, through the library and through the chat.

Faults = list[list[str]]  # for each sentence the checks that fail


def learn_sentences(people: People, lines: Iterable[Said]) -> tuple[Faults, list[str]]:
    faults: Faults = []
    misses: list[str] = []
    for line in lines:
        person = people.meet(NAME)
        for text in line.earlier:
            person.say(text)
            person.approve()
        person.say(line.text, line.before)
        person.approve()
        faults.append(_judge(line, person, misses, "learned"))
    return faults, misses


def type_sentences(folder: Path, lines: Sequence[Said], embedder: Once) -> tuple[Faults, list[str]]:
    """Type each sentence into a `tacit chat` of its own, then open the memory and look."""
    faults: Faults = []
    misses: list[str] = []
    url, config = f"sqlite:///{folder}/chat.db", folder / "tacit.yaml"
    config.write_text("{}\n")  # the settings of a user who has none
    for number, line in enumerate(lines):
        _chat(url, config, f"local:c{number}", (*line.earlier, line.text))
    clock = Clock(datetime.now(UTC))
    with open_memory(url, clock, embedder, every_turn=False) as memory:
        for number, line in enumerate(lines):
            faults.append(_judge(line, Person(memory, clock, f"local:c{number}", NAME), misses, "typed"))
    return faults, misses


def _judge(line: Said, person: Person, misses: list[str], how: str) -> list[str]:
    held = person.memories().values()
    kept = bool(held or person.view.proposals.list() or person.view.recall(line.text, include=["turns"]))
    found = find_faults(line, held, kept=kept)
    if found:
        misses.append(f"{how} {line.number} {found} {line.earlier} {line.text!r} -> {[one.content for one in held]}")
    return found


def _chat(url: str, config: Path, key: str, typed: Sequence[str]) -> None:
    """Run the command as a program would: lines in, JSON out."""
    stdin, stdout = sys.stdin, io.StringIO()
    sys.stdin = Typist(typed, stdout)
    try:
        with redirect_stdout(stdout):
            exited = tacit_main(["--db", url, "--config", str(config), "--json", "chat", "--as", key, "--name", NAME])
    finally:
        sys.stdin = stdin
    if exited:
        raise SystemExit(f"tacit chat exited with {exited}")


class Typist:
    """The standard input of a chat: lines, and a yes to each question whether to remember something."""

    def __init__(self, lines: Sequence[str], shown: io.StringIO) -> None:
        self._lines, self._shown, self._read = iter(lines), shown, 0

    def isatty(self) -> bool:
        return False

    def readline(self, _most: int = -1) -> str:
        answers = self._shown.getvalue()[self._read :].splitlines()
        self._read = len(self._shown.getvalue())
        for answer in map(json.loads, answers):
            if texts.YES_BUTTON in answer["buttons"]:
                return f"{answer['numbers'][answer['buttons'].index(texts.YES_BUTTON)]}\n"
            if texts.HOW_TO_ANSWER in answer["text"]:
                return f"{texts.ALL_BUTTON.lower()}\n"
        line = next(self._lines, None)
        return "" if line is None else f"{' '.join(line.split())}\n"


# Changes of a fact on which others depend.


@dataclass(slots=True)
class Changed:
    """Counts of changes, apart for those that replace the first fact and those that only end it."""

    changes: int = 0
    over: int = 0  # the first fact is no longer active as it was
    answered: int = 0  # the question finds what is known since, and not the first fact as it was
    outdated: int = 0  # facts that depended on the first
    outdated_ended: int = 0
    outdated_marked: int = 0
    untouched: int = 0  # facts that did not
    untouched_ended: int = 0
    untouched_marked: int = 0


def doubt_field() -> str | None:
    return next((one.name for one in fields(Memory) if one.name in DOUBT_FIELDS), None)


def learn_changes(people: People, lines: Iterable[Change]) -> tuple[dict[bool, Changed], list[str]]:
    """Return the counts by whether the first fact is only ended, and what went wrong."""
    counts, misses, doubt = {False: Changed(), True: Changed()}, list[str](), doubt_field()
    for line in lines:
        person, count = people.meet(line.me), counts[line.ended]
        ids = [_remember(person, text) for text in line.known]
        person.say(line.text, line.before)
        person.approve()
        active = person.memories()
        stored = {n for n, id in enumerate(ids) if id}
        ended = {n for n in stored if ids[n] not in active or active[ids[n]].content != line.known[n]}
        marked = {n for n in stored - ended if doubt and getattr(active[ids[n]], doubt)}
        found = [one.memory.content for one in person.view.recall(line.question, top_k=TOP)]
        answered = is_answered(line, found)
        count.changes += 1
        count.over += 0 in ended
        count.answered += answered
        count.outdated += len(line.outdated & stored)
        count.outdated_ended += len(line.outdated & ended)
        count.outdated_marked += len(line.outdated & marked)
        count.untouched += len(line.untouched & stored)
        count.untouched_ended += len(line.untouched & ended)
        count.untouched_marked += len(line.untouched & marked)
        if 0 not in ended or not answered or line.untouched & (ended | marked):
            lost = [line.known[n] for n in sorted(line.untouched & (ended | marked))]
            state = "over" if 0 in ended else "STAYED"
            misses.append(f"CHANGE {line.known[0]!r} {state}: {line.before!r} {line.text!r} lost {lost} found {found}")
    return counts, misses


def _remember(person: Person, text: str) -> str:
    """Return the id; empty for a fact that holds a secret and is refused."""
    try:
        return person.view.remember(text).id
    except SecretRefused:
        return ""


def is_answered(line: Change, found: Sequence[str]) -> bool:
    """Whether texts found for the question tell what is known since, and not the first fact as it was."""
    since = [text for text in found if text not in line.known]
    told = any(says_over(text) if line.ended else states(text, line.answer) for text in since)
    return told and line.known[0] not in found


# What is printed.


def show_replies(counts: Replied) -> None:
    print(f"Replies that must change nothing, after {counts.stored} of {len(STORED)} facts were stored")
    rows = [
        [what, str(count), _percent(count, counts.replies)]
        for what, count in (
            ("a memory changed", counts.changed),
            ("a memory ended", counts.ended),
            ("a memory appeared", counts.appeared),
            ("consent was asked for", counts.asked),
            ("any of these", counts.touched),
        )
    ]
    print(table([f"after {counts.replies} replies", "replies", "share"], rows), end="\n\n")


def show_sentences(lines: Sequence[Said], by_path: Mapping[str, Faults]) -> None:
    headings = ["Sentences right", *(f"{path}: {part}" for path in by_path for part in ("original", "paraphrases"))]
    rows = []
    for number in sorted({line.number for line in lines}):
        row = [f"{number} {_shortened(lines, number)}"]
        for faults in by_path.values():
            row += _right_of(lines, faults, number)
        rows.append(row)
    whole = ["all"]
    for faults in by_path.values():
        whole += _right_of(lines, faults, None)
    print(table(headings, [*rows, whole]), end="\n\n")
    for path, faults in by_path.items():
        right = sum(not one for one in faults)
        failed = Counter(name for one in faults for name in one)
        listed = ", ".join(f"{name} {count}" for name, count in failed.most_common())
        print(f"{path}: {right} of {len(lines)} right ({_percent(right, len(lines))}); checks that failed: {listed}")
    print(end="\n")


def _shortened(lines: Sequence[Said], number: int) -> str:
    return next(line.text for line in lines if line.number == number and line.original)[:40]


def _right_of(lines: Sequence[Said], faults: Faults, number: int | None) -> list[str]:
    shown = []
    for original in (True, False):
        chosen = [
            not found
            for line, found in zip(lines, faults, strict=True)
            if line.original is original and number in (None, line.number)
        ]
        shown.append(f"{sum(chosen)} of {len(chosen)}")
    return shown


def show_changes(counts: Mapping[bool, Changed]) -> None:
    rows = []
    for ended, one in counts.items():
        rows.append(
            [
                "ended" if ended else "replaced",
                str(one.changes),
                _percent(one.over, one.changes),
                _percent(one.answered, one.changes),
                f"{one.outdated_marked} + {one.outdated_ended} of {one.outdated}",
                f"{one.untouched_marked} + {one.untouched_ended} of {one.untouched}",
            ]
        )
    headings = ["First fact", "changes", "over", "answered", "dependent marked + ended", "unrelated marked + ended"]
    print(table(headings, rows))
    if doubt_field() is None:
        print("Memories have no field that marks what a change put in doubt, so none is marked.")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="what one message does to memory")
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--misses", type=Path, help="write what went wrong to this file, for a reader to judge")
    parser.add_argument("--without-chat", action="store_true", help="leave out `tacit chat`, the slowest part")
    asked = parser.parse_args(arguments)
    try:
        lines, all_replies, all_changes = said(asked.data), replies(asked.data), changes(asked.data)
    except (BadData, FileNotFoundError) as bad:
        print(bad, file=sys.stderr)
        return 2
    start, embedder = time.monotonic(), Once(default_embedder())
    by_path: dict[str, Faults] = {}
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as name:
        folder = Path(name)
        people = People(f"sqlite:///{folder}/library.db", embedder)
        replied = reply_to_all(people, all_replies)
        by_path["learn"], misses = learn_sentences(people, lines)
        changed, stayed = learn_changes(people, all_changes)
        people.memory.close()
        if not asked.without_chat:
            by_path["chat"], typed = type_sentences(folder, lines, embedder)
            misses += typed
    embedder.close()
    show_replies(replied)
    show_sentences(lines, by_path)
    show_changes(changed)
    if asked.misses is not None:
        asked.misses.write_text("".join(f"{line}\n" for line in [*replied.misses, *misses, *stayed]))
    print(f"{time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
