"""Ten lines: Alice's private statement is recalled in private and withheld from the group.

Run it:

    python examples/01_ten_lines.py

It prints:

    private: Alice plays the cello
    group: nothing
"""

import tacit

memory = tacit.open("sqlite://")  # or a file, or postgresql://…
alice = tacit.Requester("telegram:1001", name="Alice")
private = memory.view(alice, tacit.Chat.private("telegram:1001"))
group = memory.view(alice, tacit.Chat.group("telegram:-5", [alice, "telegram:2002"]))

private.remember("Alice plays the cello")
for name, view in (("private", private), ("group", group)):
    found = view.recall("which instrument does Alice play?")
    print(f"{name}: {found[0].memory.content if found else 'nothing'}")
memory.close()
