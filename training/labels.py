"""The labels of messages, facts and pairs, in the order in which the reader's heads number them."""

TAGS = ("outside", "begin", "inside")

# Labels of a fact.
KINDS = ("identity", "preference", "instruction", "relationship", "knowledge", "context", "event", "task")
ABOUT = ("me", "us", "group", "other", "thing")
SENSITIVITIES = ("public", "personal", "sensitive")
LASTS = ("stays", "while", "once")
CHANGES = ("none", "fix", "change", "end")
SLOTS = (
    *("none", "name", "pronouns", "age", "birthday", "home", "address", "origin", "nationality", "employer", "job"),
    *("school", "partner", "status", "boss", "phone", "email", "timezone", "diet", "language", "car", "device"),
    *("height", "weight", "size", "pay"),
)
SPAN_HEADS = {"kind": KINDS, "about": ABOUT, "sens": SENSITIVITIES, "lasts": LASTS, "change": CHANGES, "slot": SLOTS}

# Labels of a whole message.
RESTS = (
    *("none", "question", "chat", "order", "hypothetical", "joke", "quote", "paste", "injection", "general", "moment"),
    *("secret", "off"),
)
HOLDS = ("none", "names", "private", "room")
MESSAGE_HEADS = {"rest": RESTS, "ask": ("no", "yes"), "hold": HOLDS}
NEVER_WITH_FACTS = ("paste", "injection", "secret", "off")

# Labels of a pair of a stored fact and a new statement.
RELATIONS = ("repeats", "refines", "replaces", "ends", "coexists", "unrelated")
