"""What is learnt without a model, against the labelled set in `learn_data/`.

Prints: messages that yield something; statements against labels (`learn_score.matches` says when
one is right); how the labels of matched facts agree; corrections that replace what they correct;
and pairs that must coexist. Ends with 1 and a MISSED line where a target is missed. With `--wrong`
it lists the errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.learn_data import FOLDER, coexisting, corrections, messages
from bench.learn_score import LABELS, Count, learnt, remembered, superseded, told

PRECISION_MIN = 0.95  # of statements
RECALL_MIN = 0.60  # of messages to keep
REPLACED_MIN = 0.90  # of corrections
COEXIST_REPLACED_MAX = 0.01

Target = tuple[str, bool]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER, help="a folder of labelled files")
    parser.add_argument("--wrong", action="store_true", help="list what went wrong")
    asked = parser.parse_args()
    note: Callable[[str], None] = print if asked.wrong else lambda _: None
    targets = [*_messages(asked.data, note), *_corrections(asked.data, note), *_coexisting(asked.data, note)]
    missed = [name for name, met in targets if not met]
    for name in missed:
        print(f"MISSED {name}")
    return 1 if missed else 0


def _messages(data: Path, note: Callable[[str], None]) -> Iterable[Target]:
    whole = Count()
    groups: dict[str, Count] = {}
    for message in messages(data):
        statements = learnt(message.text, message.speaker)
        wrong = whole.add(message, statements)
        side = "+" if message.keep else "-"
        for name in (message.lang, message.chat.value, *(f"{side}{tag}" for tag in message.tags)):
            groups.setdefault(name, Count()).add(message, statements)
        for stated in wrong:
            note(f"WRONG {message.id} {message.text!r} -> {stated.content!r}")
        if message.keep and len(wrong) == len(statements):
            note(f"UNSEEN {message.id} {message.text!r} {[f.content for f in message.facts]}")
    for one in whole.amiss:
        note(f"AMISS {one}")
    print(f"messages    precision {whole.message_precision:.3f}  recall {whole.message_recall:.3f}")
    print(f"statements  precision {whole.precision:.3f}  recall {whole.recall:.3f}")
    print("labels      " + "  ".join(f"{name} {whole.accuracy(name):.3f}" for name in LABELS))
    print(f"\n{'by':<16}{'keep':>6}{'recall':>8}{'refuse':>8}{'stray':>7}{'stated':>8}{'right':>8}")
    for name, count in sorted(groups.items(), key=lambda item: (item[0][0] in "+-", item[0])):
        row = f"{name:<16}{count.kept:>6}{count.recall:>8.2f}{count.refused:>8}{count.stray:>7}"
        print(f"{row}{count.stated:>8}{count.precision:>8.2f}")
    yield (f"statement precision {whole.precision:.3f}, at least {PRECISION_MIN}", (whole.precision >= PRECISION_MIN))
    yield f"recall {whole.recall:.3f}, at least {RECALL_MIN}", whole.recall >= RECALL_MIN


def _corrections(data: Path, note: Callable[[str], None]) -> Iterable[Target]:
    pairs = corrections(data)
    done = understood = helped = alone = 0
    for pair in pairs:
        known = remembered(learnt(pair.before, pair.speaker))
        understood += bool(known)
        labelled = [told(pair.before_fact)]
        if superseded(known, pair.after, pair.speaker):
            done += 1
        elif superseded(known or labelled, pair.after, pair.speaker):
            helped += 1
        else:
            after = learnt(pair.after, pair.speaker)
            read = [[(s.content, s.slot, s.value) for s in made] for made in (known, after)]
            note(f"STAYED {pair.id} {pair.before!r} / {pair.after!r} {read}")
        alone += bool(superseded(labelled, pair.after, pair.speaker))
    share = done / len(pairs)
    print(f"\ncorrections {done} of {len(pairs)} replaced ({share:.3f})", end="")
    print(f", the first message understood in {understood}")
    print(f"  with the label in place of what was not understood {(done + helped) / len(pairs):.3f}")
    print(f"  with the label in every place, and no slot {alone / len(pairs):.3f}")
    yield f"corrections replaced {share:.3f}, at least {REPLACED_MIN}", share >= REPLACED_MIN


def _coexisting(data: Path, note: Callable[[str], None]) -> Iterable[Target]:
    pairs = coexisting(data)
    lost = both = 0
    for pair in pairs:
        first = remembered(learnt(pair.first, pair.speaker))
        second = remembered(learnt(pair.second, pair.speaker))
        both += bool(first and second)
        gone = [*superseded(first, pair.second, pair.speaker), *superseded(second, pair.first, pair.speaker)]
        lost += bool(gone)
        for one in gone:
            said = f"{pair.first!r} / {pair.second!r}"
            note(f"LOST {pair.id} {said}: {one.old.content!r} -> {one.content!r}, {one.reason}")
    share = lost / len(pairs)
    print(f"coexisting  {lost} of {len(pairs)} would be replaced ({share:.3f}), {both} yield both")
    yield (f"coexisting replaced {share:.3f}, at most {COEXIST_REPLACED_MAX}", (share <= COEXIST_REPLACED_MAX))


if __name__ == "__main__":
    sys.exit(main())
