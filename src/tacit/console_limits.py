"""Limits of the console, and of being signed in there."""

SIGN_IN_DEFAULT_MINUTES = 10  # for which a link works
SIGN_IN_MAX_MINUTES = 1_440
SIGN_INS_MAX_COUNT = 5  # links that wait for one person; older ones go
SITTING_IDLE_DEFAULT_MINUTES = 30
SITTING_IDLE_MIN_MINUTES = 5  # several times what it is noted by
SITTING_IDLE_MAX_MINUTES = 1_440
SITTING_DEFAULT_HOURS = 12
SITTING_MAX_HOURS = 720
SITTINGS_MAX_COUNT = 20  # of one person; those not seen for longest go
SITTING_SEEN_SECONDS = 60  # not noted more often than that

# Pictures and charts.
GRAPH_NODES_MAX_COUNT = 500
GRAPH_FIRST_COUNT = 150  # nodes that a page draws unless more are asked for
GRAPH_EDGES_MAX_COUNT = 2_000  # the strongest
GRAPH_LABEL_MAX_CHARS = 120
ACTIVITY_DEFAULT_DAYS = 30
ACTIVITY_MAX_DAYS = 366

# What is shown of one memory, and done to many.
TIMELINE_SHOWN_COUNT = 20  # of what happened to a memory, at once
DIFF_EDITS_MAX_COUNT = 150  # words; wordings that differ by more are shown one after the other
CHOSEN_MAX_COUNT = 100  # memories that something is done to at once
PREVIEWED_MAX_COUNT = 20  # of these, for which it is looked up who would hear them then

# Who would hear a memory.
ROOMS_MAX_COUNT = 100  # that are looked at for who would hear something
ROOM_PEOPLE_MAX_COUNT = 50  # shown of each
HEARERS_MAX_COUNT = 200  # people who are asked for
HEARING_QUESTION_COUNT = 20  # memories that come to mind for a question
