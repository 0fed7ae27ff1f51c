"""Made-up notes and files, for tests and fuzzing: what memories may say, what people may write."""

from __future__ import annotations

from datetime import UTC, date

from hypothesis import strategies as st

from tacit.records.notes import (
    CHECKBOX_SECTIONS,
    SECTIONS_BY_KIND,
    Frontmatter,
    Note,
    NoteItem,
    NoteKind,
    NoteLink,
    NoteRef,
    Section,
)

# What means something to Markdown, to YAML or to us: in contents as well as in files.
FRAGMENTS = (
    "\\",
    "\\\\",
    "&#32;",
    "&#13;",
    "&#9;",
    "&amp;",
    " ",
    "  ",
    "\t",
    "\r",
    "<!--",
    "-->",
    "<!-- note -->",
    "<!-- abcdefgh -->",
    " <!-- kX3aBc12 -->",
    " <!-- kX3aBc12 conflict -->",
    "(added 2026-01-01)",
    " (added 2026-13-01)",
    "**",
    "*",
    "**Title**: ",
    "**Title:** ",
    "Title: ",
    "Title",
    ": ",
    ":",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "12) ",
    "1.",
    "#",
    "# ",
    "## Tasks",
    "## Related Links",
    ">",
    "> ",
    "```",
    "```py",
    "~~~",
    "---",
    "***",
    "===",
    "___",
    "[ ] ",
    "[x] ",
    "[ ]",
    "[a]: b",
    "[a](b.md)",
    "[",
    "]",
    "(",
    ")",
    "<div>",
    "</div>",
    "<b>",
    "<",
    "`",
    "``",
    "|",
    "| a | b |",
    "|---|---|",
    "x",
    "word",
    "é",
    "東京",
    "🙂",
    "\u2028",
    "\ufeff",
    "\u200b",
    "\xa0",
    "\x0c",
    "_",
    "!",
    "$",
    '"',
    "'",
    "{",
    "}",
    "%",
    "@",
    "~",
)
BEGINNINGS = (
    "",
    "",
    "",
    "- ",
    "- ",
    "  - ",
    "   - ",
    "    ",
    "\t",
    "1. ",
    "2. ",
    "10) ",
    "* ",
    "- [ ] ",
    "- [x] ",
    "## ",
    "# ",
    "> ",
    "  ",
)
HEADINGS = (
    "## Session Summary",
    "## Temporary Facts",
    "## Tasks",
    "## Follow Ups",
    "## Related Links",
    "## Key Facts",
    "## Long-Term Goals / Projects",
    "# Own",
    "Tasks\n---",
    "### below",
)
HEADS = (
    "",
    "",
    "---\n---\n",
    "---\nsummary: x\n---\n",
    '---\ncreated_at: 2026-02-04T12:34:56Z\nsummary: "a: b"  # mine\nown: [1, {a: b}]\n---\n',
    "---\nsummary: |\n  a\n  b\n\ntags:\n- a\n- b\n# end\n...\n",
    "---\n{a: b}\n---\n",
    "---\nnot closed\n",
    "---\na: 'x\n",
    "---\na: &x 1\nb: *x\n---\n",
    "---\n? a\n: b\n---\n",
)

_chars = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")) | st.sampled_from("\r\t")


def _is_kept(text: str) -> bool:
    return any(char.isprintable() and not char.isspace() for char in text)


# Longer than one line as often as not.
lines = st.text(_chars, max_size=12) | st.lists(st.sampled_from(FRAGMENTS), max_size=6).map(
    lambda parts: "".join(parts).replace("\x0c", "")
)
contents = st.lists(lines, min_size=1, max_size=4).map("\n".join).filter(_is_kept)
ids = st.from_regex(r"[A-Za-z0-9]{8}", fullmatch=True)
days = st.dates(date(2000, 1, 1), date(2100, 1, 1))
moments = st.datetimes(timezones=st.just(UTC)).filter(lambda at: at.year > 1000)
plain = st.text(_chars | st.just("\n"), max_size=20) | st.sampled_from(
    ["", "yes", "null", "~", "0123", "1.5", "a: b", "# no", "- x", "{", "acct:42", "tg:@alice", " x ", "x:"]
)


def items(kind: NoteKind, section: Section) -> st.SearchStrategy[NoteItem]:
    made = st.builds(
        NoteItem,
        section=st.just(section),
        content=contents,
        id=st.none() | ids,
        done=st.booleans() if section in CHECKBOX_SECTIONS else st.none(),
        added=st.none() | days if kind is NoteKind.LONG_TERM else st.none(),
        conflict=st.booleans(),
    )
    return made.map(
        lambda i: (
            i if i.id or not i.conflict else NoteItem(section=i.section, content=i.content, done=i.done, added=i.added)
        )
    )


heads = st.builds(
    Frontmatter,
    created_at=moments,
    updated_at=moments,
    summary=plain,
    session_id=st.none() | plain,
    source=st.none() | plain,
    channel=st.none() | plain,
    tags=st.lists(plain.filter(bool), max_size=3).map(tuple),
    subject_id=st.none() | plain,
    contact_id=st.none() | plain,
    contact_nickname=st.none() | plain,
)
links = st.lists(st.builds(NoteLink, text=plain, target=plain), max_size=3, unique_by=lambda x: x.target)


@st.composite
def notes(draw: st.DrawFn) -> Note:
    kind = draw(st.sampled_from(NoteKind))
    made: list[NoteItem] = []
    for section in SECTIONS_BY_KIND[kind]:
        if section is not Section.LINKS:
            made += draw(st.lists(items(kind, section), max_size=3))
    place = (
        NoteRef(kind=kind, day=draw(days), session="s:1")
        if kind is NoteKind.SESSION
        else NoteRef(kind=kind, subject="acct:42", name="a.md" if kind is NoteKind.PAGE else None)
    )
    return Note(
        place=place, head=draw(heads), items=tuple(made), links=() if kind is NoteKind.PAGE else tuple(draw(links))
    )


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """What a person, an editor or a merge may leave behind."""
    line = st.builds(
        lambda start, parts: start + "".join(parts),
        st.sampled_from(BEGINNINGS),
        st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5), max_size=5),
    )
    body = draw(st.lists(line | st.sampled_from(HEADINGS) | st.just(""), max_size=14))
    text = draw(st.sampled_from(HEADS)) + "\n".join(body)
    if draw(st.booleans()):
        text = text.replace("\r", "").replace("\n", "\r\n")
    if draw(st.booleans()):
        text += "\n"
    text = draw(st.sampled_from(["", "", "\ufeff"])) + text
    return text.encode("utf-8", "replace")
