"""Import memories from ChatGPT and mem0: preview, import, recall, and revert.

Run it:

    python examples/import_memories.py

It prints:

    chatgpt.txt: 3 new, 1 refused
      line 5: content: holds a secret (…). …
    imported 3 of 4
    again: 0 new, 3 already here
    recalled: I am learning to repair accordions
    imported 2 from mem0
    reverted: 3 forgotten
    left: Plays the cello on Tuesdays, Takes the night train to Porto
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import tacit
from tacit.transfer import importers


def write_exports(folder: Path) -> None:
    """Write sample exports. To import your own files, use their paths below."""
    (folder / "chatgpt.txt").write_text(
        """```
[2025-01-03] - I am learning to repair accordions
[2025-02-17] - I want answers in metric units
[unknown] - My dog is called Biscuit
[2025-03-01] - My password is hunter2-and-more
```
"""
    )
    (folder / "mem0.json").write_text(
        json.dumps(
            {
                "results": [
                    {"id": "a1", "memory": "Takes the night train to Porto", "user_id": "mara"},
                    {"id": "a2", "memory": "Plays the cello on Tuesdays", "user_id": "mara"},
                ]
            }
        )
    )


with TemporaryDirectory() as name, tacit.open("sqlite://") as memory:
    folder = Path(name)
    write_exports(folder)
    mara = tacit.Requester("telegram:1001", name="Mara")
    view = memory.view(mara, tacit.Chat.private("telegram:1001"))

    # Preview the import: nothing is written.
    source = importers.open_source(folder / "chatgpt.txt", "chatgpt")
    found = importers.preview_source(view, source)
    print(f"chatgpt.txt: {found.new} new, {found.refused} refused")
    for problem in found.problems:
        print(f"  {problem}")

    # Import in steps. After an interruption, the same call continues without duplicates.
    done = importers.import_source(view, source)
    print(f"imported {done.created} of {done.total}")
    again = importers.import_source(view, source)
    print(f"again: {again.created} new, {again.already} already here")
    print("recalled:", view.recall("accordions")[0].memory.content)

    other = importers.import_source(view, importers.open_source(folder / "mem0.json", "mem0"))
    print(f"imported {other.created} from mem0")

    # Revert the first import; other memories stay.
    print(f"reverted: {view.imports.revert(source.run).forgotten} forgotten")
    print("left:", ", ".join(sorted(one.content for one in view.list())))
