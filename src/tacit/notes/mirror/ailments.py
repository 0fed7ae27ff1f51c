"""What the doctor finds in notes: where files and store are not in step, and why."""

from __future__ import annotations

from collections.abc import Callable

from tacit.notes.mirror.mirror import Mirror
from tacit.records.notes import NotesReport
from tacit.records.results import Finding

_Count = Callable[[NotesReport], int]


def _with(*problems: str) -> _Count:
    return lambda report: sum(
        one.problem in problems or bool({*one.detail.split(", ")} & {*problems})
        for one in report.problems
    )


# By name: what is wrong, for people, behind a count; and who can mend it.
_PROBLEMS: dict[str, tuple[str, str, _Count]] = {
    "notes-unreadable": (
        "files of notes cannot be read",
        "a person mends the file: its frontmatter has to be plain YAML; docs/notes.md",
        _with("unreadable"),
    ),
    "notes-refused": (
        "files of notes hold lines that may not be kept",
        "a person takes the secret, or what is too long, out of the line",
        _with("refused"),
    ),
    "notes-conflicts": (
        "files of notes hold both wordings of what was changed on both sides",
        "a person deletes the wording that does not hold",
        _with("conflict"),
    ),
    "notes-asking": (
        "files of notes miss more than is forgotten without being asked",
        "tacit notes import --forget forgets it, tacit notes rebuild brings it back",
        _with("asks"),
    ),
    "notes-orphaned": (
        "files of notes belong to nobody here, or to another database",
        "name the person in subject_id; tacit notes import takes in another database's",
        _with("unknown_person", "unknown_folder"),
    ),
    "notes-outside": (
        "files in the folder of notes are links, or have names that no note has",
        "a person renames the file, or puts a plain file in place of the link",
        _with("outside"),
    ),
}
_DRIFT = "notes-drift"
NAMES = (_DRIFT, *_PROBLEMS)


def examined(
    mirror: Mirror, space: str, names: frozenset[str], *, repair: bool
) -> tuple[Finding, ...]:
    """With `repair`, files and store are brought together; what only a person can say stays."""
    report, differing = mirror.inspect(space)
    findings = []
    if _DRIFT in names and differing:
        repaired = 0
        if repair:
            mirror.sync(space)
            report, left = mirror.inspect(space)
            repaired = differing - left
        findings.append(
            Finding(
                check=_DRIFT,
                says="notes are not the same in the files and in the store",
                mends="brings them together, as a sync does",
                count=differing,
                repairable=differing,
                repaired=repaired,
            )
        )
    for name, (says, mends, count) in _PROBLEMS.items():
        found = count(report) if name in names else 0
        if found:
            findings.append(Finding(check=name, says=says, mends=mends, count=found, repairable=0))
    return tuple(findings)
