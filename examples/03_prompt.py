"""A prompt for each turn: a byte-stable block for the prompt cache, then the fresh context of the
question.

Run it:

    python examples/03_prompt.py

It prints:

    = what every turn begins with
    You plan journeys.

    ## Your Memory

    The following is what you have learned in earlier conversations.
    Use it naturally. To update a memory, use the update_memory tool with its id.

    <tacit-memory …>
    ### Preference
    - [id:…] Alice never flies

    ### Profile
    - [id:…] language: Portuguese

    ### Project
    - [id:…] Alice wants to see the lighthouse of Nazaré

    </tacit-memory>
    = a turn
    Where shall we go?
    = the same beginning, and a turn
    <tacit-memory …>
    Memory updates since rev …:
    - +created: [Context] Alice has the second week of May off (imp=3)
    - [context] Alice has the second week of May off
    </tacit-memory>

    Which week of May is free?
"""

import tacit

memory = tacit.open("sqlite://")
alice = tacit.Requester("telegram:1001", name="Alice")
view = memory.view(alice, tacit.Chat.private("telegram:1001"), thread="trip")

view.put("profile", "language", "Portuguese")
view.remember("Alice never flies", category="preference")
view.remember("Alice wants to see the lighthouse of Nazaré", category="project")

before = ""
for question in ("Where shall we go?", "Which week of May is free?"):
    system = f"You plan journeys.\n\n{view.block().text}"  # the cached prefix
    user = f"{view.fresh(question).text}\n\n{question}".strip()  # the part that changes
    if system == before:
        print("= the same beginning, and a turn", user, sep="\n")
    else:
        print("= what every turn begins with", system, "= a turn", user, sep="\n")
    before = system
    view.remember("Alice has the second week of May off", category="context")  # for the next turn
memory.close()
