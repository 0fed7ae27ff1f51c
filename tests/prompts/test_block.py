"""The block of memories: bounded, fenced, and the same bytes for the same memories."""

import os
import re
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.prompts.block import LAYOUTS, Style, render_block
from tacit.prompts.fence import FENCE_CLOSE, FENCE_OPEN, MemoryLine
from tests.prompts.strategies import memories

styles = st.sampled_from(list(LAYOUTS))
FRAME = {
    Style.MEMORY: re.compile(r"## Your Memory$|The following is |Use it |### \S|- \[id:|$"),
    Style.FILTERED: re.compile(r'Long-term Memory \(filtered\)$|.*:$|  ["A-Za-z0-9{\[]'),
}


def at(day: int) -> datetime:
    return datetime(2026, 2, day, 12, tzinfo=UTC)


HELD = [
    MemoryLine(id="u1v2w3x4", category="profile", key="timezone", text="Europe/Lisbon", created_at=at(3)),
    MemoryLine(
        id="i9j0k1l2",
        category="preference",
        key="response_style",
        text='{"lang":"zh","brevity":"concise"}',
        created_at=at(2),
    ),
    MemoryLine(
        id="e5f6g7h8",
        category="person",
        text="Sarah works on the Design team",
        created_at=at(5),
        about=("Sarah",),
        hearsay=True,
    ),
    MemoryLine(
        id="a1b2c3d4",
        category="person",
        text='Alec is the user\'s boss at "TechCorp"',
        created_at=at(4),
        about=("Alec",),
    ),
    MemoryLine(
        id="q7r8s9t0", category="relationship_dynamic", text="Ana trusts short answers", created_at=at(1), inferred=True
    ),
]
MEMORY = f"""\
## Your Memory

The following is what you have learned in earlier conversations.
Use it naturally. To update a memory, use the update_memory tool with its id.

{FENCE_OPEN}
### Person
- [id:a1b2c3d4] [Alec] Alec is the user's boss at "TechCorp"
- [id:e5f6g7h8] [Sarah] Unverified: Sarah works on the Design team

### Preference
- [id:i9j0k1l2] response_style: {{"lang":"zh","brevity":"concise"}}

### Profile
- [id:u1v2w3x4] timezone: Europe/Lisbon

### Relationship Dynamic
- [id:q7r8s9t0] It seems that Ana trusts short answers

{FENCE_CLOSE}"""
FILTERED = f"""\
Long-term Memory (filtered)
{FENCE_OPEN}
person:
  "Alec is the user's boss at \\"TechCorp\\"" [id:a1b2c3d4]
  "Unverified: Sarah works on the Design team" [id:e5f6g7h8]
preference:
  response_style = {{"lang":"zh","brevity":"concise"}} [id:i9j0k1l2]
profile:
  timezone = "Europe/Lisbon" [id:u1v2w3x4]
relationship_dynamic:
  "It seems that Ana trusts short answers" [id:q7r8s9t0]
{FENCE_CLOSE}"""


@pytest.mark.parametrize(("style", "text"), [(Style.MEMORY, MEMORY), (Style.FILTERED, FILTERED)])
def test_each_style_looks_as_it_should(style: Style, text: str) -> None:
    rendered = render_block(HELD, style)
    assert rendered.text == text
    assert rendered.shown == ("a1b2c3d4", "e5f6g7h8", "i9j0k1l2", "u1v2w3x4", "q7r8s9t0")
    assert not rendered.cut


@given(memories, styles)
def test_whatever_is_remembered_the_fence_opens_and_closes_once(held: list[MemoryLine], style: Style) -> None:
    rendered = render_block(held, style, items_max=100, chars_max=100_000)
    written = rendered.text.splitlines()
    assert "\n".join(written) == rendered.text
    marks = [line for line in written if "tacit-memory" in line.casefold()]
    assert marks == ([FENCE_OPEN, FENCE_CLOSE] if held else [])
    assert sorted(rendered.shown) == sorted(line.id for line in held)


@given(memories, styles)
def test_every_memory_is_one_line_and_every_line_begins_with_a_mark_of_ours(
    held: list[MemoryLine], style: Style
) -> None:
    rendered = render_block(held, style, items_max=100, chars_max=100_000)
    written = [line for line in rendered.text.splitlines() if line not in (FENCE_OPEN, FENCE_CLOSE)]
    assert [line for line in written if not FRAME[style].match(line)] == []
    mark = re.compile(r"  .* \[id:(\w{8})\]" if style is Style.FILTERED else r"- \[id:(\w{8})\] .+")
    items = [found[1] for line in written if (found := mark.fullmatch(line))]
    assert items == list(rendered.shown)


@given(memories, styles, st.integers(0, 12), st.integers(0, 3_000))
def test_limits_hold_for_the_whole_text_and_what_is_cut_is_counted(
    held: list[MemoryLine], style: Style, items_max: int, chars_max: int
) -> None:
    rendered = render_block(held, style, items_max=items_max, chars_max=chars_max)
    assert len(rendered.text) <= chars_max
    assert len(rendered.shown) <= items_max
    shown = Counter(line.category for line in held if line.id in rendered.shown)
    assert dict(rendered.cut) == dict(Counter(line.category for line in held) - shown)
    assert bool(rendered.text) == bool(rendered.shown)


@given(memories, styles)
def test_a_limit_of_exactly_its_length_cuts_nothing(held: list[MemoryLine], style: Style) -> None:
    whole = render_block(held, style, items_max=100, chars_max=100_000)
    assert render_block(held, style, items_max=len(held), chars_max=len(whole.text)) == whole
    if held:
        short = render_block(held, style, items_max=100, chars_max=len(whole.text) - 1)
        assert len(short.text) < len(whole.text)


@given(memories.flatmap(lambda held: st.tuples(st.just(held), st.permutations(held))), styles)
def test_the_order_of_reading_does_not_change_a_byte(
    both: tuple[list[MemoryLine], list[MemoryLine]], style: Style
) -> None:
    assert render_block(both[0], style) == render_block(both[1], style)


def test_a_key_cannot_forge_a_value() -> None:
    line = MemoryLine(id="aaaaaaaa", category="profile", key='a = "b"', text="c", created_at=at(1))
    assert '\n  "a = \\"b\\"" = "c" [id:aaaaaaaa]\n' in render_block([line], Style.FILTERED).text


def test_another_process_with_another_locale_and_hash_seed_writes_the_same_bytes() -> None:
    program = (
        "import hashlib, sys\n"
        "from tests.prompts.test_block import HELD\n"
        "from tacit.prompts.block import render_block\n"
        "from tacit.prompts.block import LAYOUTS\n"
        "every = '\\n'.join(render_block(HELD, style).text for style in LAYOUTS)\n"
        "sys.stdout.write(hashlib.sha256(every.encode()).hexdigest())\n"
    )
    answers = set()
    for seed, zone, locale in (("0", "UTC", "C"), ("77", "Asia/Tokyo", "tr_TR.UTF-8")):
        ran = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale},
            capture_output=True,
            text=True,
            check=True,
        )
        answers.add(ran.stdout)
    assert len(answers) == 1
