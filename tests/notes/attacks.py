"""Paths that must never lead anywhere, and what lies where they would lead."""

from pathlib import Path

from tests.corpus import read_corpus

SECRET = b"what is outside"
PATHS = Path(__file__).parent / "data" / "paths.tsv"
NO_TEXT = (None, 7, b"trips.md", ["trips.md"])
TOO_LONG = ("a" * 5_000 + ".md", "x" * 256, "é" * 128, "/".join(["x" * 200] * 6), "x" * 10_000_000)

ATTACKS: list[object] = [
    *(path for path, _, in_view, *_ in read_corpus(PATHS) if in_view == "refused"),
    *TOO_LONG[:1],
    *NO_TEXT,
]


def untouched(outside: Path) -> bool:
    return {path.name: path.read_bytes() for path in outside.iterdir()} == {"secret.md": SECRET}
