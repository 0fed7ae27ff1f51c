"""Pages as readers see them: each fenced block, where it stands, and the sentence before it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
# "It prints:", "Then it prints:", "It answers 201:": the block after it is what comes of the one
# before it.
OUTPUT = re.compile(r"\b(?:prints|answers(?: (?P<status>\d{3}))?):$")
# "In `tacit.yaml`:": the block after it is that file.
FILE = re.compile(r"`(?P<name>[\w/.-]+\.\w+)`:$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    page: str
    line: int  # of the page, where its text begins
    language: str
    text: str
    before: str  # the paragraph right before it; empty where something else is
    indented: bool  # not at the margin, where a builder of sites would not see it

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def output(self) -> re.Match[str] | None:
        """Says so where this is what another block prints, or is answered with."""
        return OUTPUT.search(self.before) if self.language in ("", "text") else None

    @property
    def file(self) -> str | None:
        """The name of the file that this is, where the page gives it one."""
        runs = self.output or self.language in ("sh", "console")
        found = None if runs else FILE.search(self.before)
        return found["name"] if found else None


def pages() -> list[str]:
    found = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").glob("*.md")),
        ROOT / "examples" / "README.md",
    ]
    return [str(path.relative_to(ROOT)) for path in found if path.exists()]


@cache
def blocks(page: str) -> list[Block]:
    return list(blocks_of(page, (ROOT / page).read_text("utf-8")))


def blocks_of(page: str, written: str) -> Iterator[Block]:
    tokens = MarkdownIt().parse(written)
    for place, token in enumerate(tokens):
        if token.type not in ("fence", "code_block") or token.map is None:
            continue
        after_words = place >= 2 and tokens[place - 1].type == "paragraph_close"
        fenced = token.type == "fence"
        yield Block(
            page=page,
            line=token.map[0] + 1 + fenced,
            language=token.info.strip() if fenced else "indented",
            text=token.content,
            before=tokens[place - 2].content.strip() if after_words else "",
            indented=token.level > 0,
        )
