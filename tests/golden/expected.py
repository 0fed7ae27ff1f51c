"""What the golden files should hold: before/, with renames.txt and changes.json applied.

    python -m tests.golden.expected "why"    describe what still differs as a new change

`changes.json` is a list of `{"file", "why", "merge"}`, applied in order. `merge` follows the shape
of the file: an object changes the members that it names, the string `<removed>` takes one out, and
any other value replaces what was there. Members of a list are named by their index, as text; a list
that became shorter is replaced as a whole.
"""

import json
import sys
from pathlib import Path
from typing import Any

from tests.golden.record import FILES, written

HERE = Path(__file__).parent
CHANGES = HERE / "changes.json"
REMOVED = "<removed>"

Json = Any


def renames() -> list[tuple[str, str]]:
    lines = (HERE / "renames.txt").read_text().splitlines()
    pairs = [line.partition(" -> ") for line in lines if line and not line.startswith("#")]
    for old, arrow, new in pairs:
        assert arrow, f"renames.txt: `{old}{arrow}{new}` is not `old -> new`"
    return [(old, new) for old, _, new in pairs]


def expected() -> dict[str, str]:
    """The text of every golden file."""
    texts = {name: (HERE / "before" / name).read_text() for name in FILES}
    for old, new in renames():
        assert any(old in text for text in texts.values()), f"renames.txt: {old!r} is nowhere"
        texts = {name: text.replace(old, new) for name, text in texts.items()}
    documents: dict[str, Json] = {name: json.loads(text) for name, text in texts.items()}
    for change in json.loads(CHANGES.read_text()):
        assert change["why"], "changes.json: every change says why"
        documents[change["file"]] = merged(documents[change["file"]], change["merge"])
    return {name: written(document) for name, document in documents.items()}


def merged(old: Json, change: Json) -> Json:
    if isinstance(old, list) and isinstance(change, dict) and all(map(str.isdigit, change)):
        by_index = merged({str(n): value for n, value in enumerate(old)}, change)
        return [by_index[index] for index in sorted(by_index, key=int)]
    if isinstance(old, dict) and isinstance(change, dict):
        both = {name: merged(old.get(name), value) for name, value in change.items()}
        return {name: value for name, value in (old | both).items() if value != REMOVED}
    return change


def difference(old: Json, new: Json) -> Json:
    """The change that `merged` makes `new` of."""
    if isinstance(old, dict) and isinstance(new, dict):
        changed = {name: difference(old.get(name), new[name]) for name in new
                   if name not in old or old[name] != new[name]}  # fmt: skip
        return changed | {name: REMOVED for name in old if name not in new}
    if isinstance(old, list) and isinstance(new, list) and len(old) <= len(new):
        return {str(n): difference(old[n] if n < len(old) else None, new[n])
                for n in range(len(new)) if n >= len(old) or old[n] != new[n]}  # fmt: skip
    return new


def main() -> None:
    why = sys.argv[1]
    changes = json.loads(CHANGES.read_text())
    for name, text in expected().items():
        old, new = json.loads(text), json.loads((HERE / name).read_text())
        if old != new:
            changes.append({"file": name, "why": why, "merge": difference(old, new)})
    CHANGES.write_text(written(changes))


if __name__ == "__main__":
    main()
