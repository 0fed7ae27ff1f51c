"""Paths that must never lead anywhere, and what lies where they would lead."""

from pathlib import Path

SECRET = b"what is outside"

ATTACKS: list[object] = [
    "..",
    "../secrets.md",
    "a/../../secrets.md",
    "./a.md",
    ".hidden.md",
    "/etc/passwd",
    "/trips.md",
    "//trips.md",
    "a//b.md",
    "trips.md/",
    "trips.md/more.md",
    "%2e%2e/secrets.md",
    "%2e%2e%2fsecrets.md",
    "..%2fsecrets.md",
    "%252e%252e/secrets.md",
    "．．/secrets.md",
    "a／b.md",
    "..\\secrets.md",
    "a\\b.md",
    "C:\\secrets.md",
    "C:secrets.md",
    "trips.md\x00.txt",
    "\x00",
    "tri\nps.md",
    "tri\u202eps.md",
    "a" * 5_000 + ".md",
    "/".join("abcdefghijk") + ".md",
    "CON.md",
    "nul.txt",
    "lpt1.md",
    "_longterms/acct_42/_index.md",
    "_spaces/other/_index.md",
    "_index.txt",
    "work/_index.md",
    "work/_other.md",
    "work/trips",
    " trips.md",
    "work /trips.md",
    "trips.md ",
    "tri\ud800ps.md",
    "",
    None,
    7,
    b"trips.md",
    ["trips.md"],
]


def untouched(outside: Path) -> bool:
    return {path.name: path.read_bytes() for path in outside.iterdir()} == {"secret.md": SECRET}
