"""The public API, frozen: a change here is a change for everybody who builds on it."""

import inspect
import subprocess
import sys

import tacit
from tacit.memory import Memory
from tacit.views.disabled import DisabledView
from tacit.views.view import View

MEMORY = """
    close embedding erase_space erase_subject forget_subject joined left link links maintain
    merge_people migrated operator reembed set_confidential space spaces stats unlink
    unmerge_people verify_link view
"""
VIEW = """
    about block delta enabled erase explain export forget forget_category forget_key fresh get
    history import_lines list name people pin put query recall record relate remember restore
    set_visibility show stats update why_disabled wipe withhold_from
"""


def public(thing: type) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_memory_and_view_have_exactly_these_words() -> None:
    assert public(Memory) == set(MEMORY.split())
    assert public(View) == set(VIEW.split())


def test_the_disabled_view_answers_to_every_word_of_a_view() -> None:
    for name in set(VIEW.split()) - {"enabled", "why_disabled"}:
        mine = inspect.signature(getattr(DisabledView, name)).parameters
        theirs = inspect.signature(getattr(View, name)).parameters
        assert list(mine) == list(theirs), name


def test_everything_promised_is_there() -> None:
    assert all(hasattr(tacit, name) for name in tacit.__all__)


def test_importing_tacit_loads_no_database_library() -> None:
    code = "import sys, tacit; sys.exit('sqlalchemy' in sys.modules or 'alembic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
