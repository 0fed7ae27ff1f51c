"""The public API, frozen: a change here is a change for everybody who builds on it."""

import inspect
import subprocess
import sys

import tacit
from tacit import errors
from tacit.memory import Memory
from tacit.view.view import VIEW_OPERATIONS, View

MEMORY = """
    admin chats close console inbox jobs keys llm notes operator space spaces view
"""
VIEW = """
    account audience audit block browse browse_count checkpoints count delta enabled erase explain
    export files forget forget_category forget_key fresh get graph history imports learn list once
    people pin proposals put query recall record relate remember restore sessions set_visibility
    show stats suggest_update trace unlearn update why_disabled wipe withhold_from
"""


def public(thing: type) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_memory_and_view_have_exactly_these_words() -> None:
    assert public(Memory) == set(MEMORY.split())
    assert public(View) == set(VIEW.split())


def test_every_method_of_a_view_is_declared_as_an_operation() -> None:
    methods = {name for name, _ in inspect.getmembers(View, inspect.isfunction) if name[0] != "_"}
    declared = {name for name in VIEW_OPERATIONS if "." not in name}
    assert methods - declared == {"once"}


def test_everything_promised_is_there() -> None:
    assert all(hasattr(tacit, name) for name in tacit.__all__)
    assert len(tacit.__all__) <= 70


def test_every_error_is_drawn_in_the_tree() -> None:
    tree = errors.__doc__ or ""
    for name, error in vars(errors).items():
        if inspect.isclass(error):
            assert name not in tacit.__all__ or getattr(tacit, name) is error
            assert f" {name} " in tree or tree.splitlines()[2] == name


def test_importing_tacit_loads_no_database_library() -> None:
    code = "import sys, tacit; sys.exit('sqlalchemy' in sys.modules or 'alembic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
