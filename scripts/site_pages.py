"""What the site has beside docs/*.md: documents of the repository, files that pages link to, and
what its search looks through. mkdocs.yml names this as a hook; mkdocs calls what begins `on_`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# Documents that stand where people look for them in a repository, and where they are on the site.
DOCUMENTS = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changes.md",
    "README.md": "index.md",
    "examples/README.md": "examples.md",
}
SOURCES = "source/"  # a page for each other file that some page links to
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".sh": "sh"}
_LINK = re.compile(r"(?<=\]\()([^)#:\s]+)(?=[)#])")
_FENCE = re.compile(r"^(`{3,}|~{3,})", re.MULTILINE)
_HEADING = re.compile(r'<h([1-3]) id="([^"]*)">(.*?)</h\1>', re.DOTALL)
_PERMALINK = re.compile(r'<a class="headerlink".*?</a>', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_LONG_NAME = re.compile(r"(?<=<code>)[\w.]{16,}(?=</code>)")

# What the search looks through: of each section its page, its heading, where it is and its words.
_sections: list[tuple[str, str, str, str]] = []


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    _sections.clear()  # a server builds many times in one process
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages that are not in docs: documents of the repository, and what pages link to."""
    waiting = [*DOCS.glob("*.md"), *(ROOT / name for name in DOCUMENTS if name != "README.md")]
    seen: set[Path] = set()
    while waiting:
        page = waiting.pop()
        if page in seen:
            continue
        seen.add(page)
        if page.parent != DOCS:
            files.append(File.generated(config, where_on_site(page), content=written(page)))
        if page.suffix == ".md":
            shown = {DOCS, ROOT / "README.md"}
            waiting += [file for file in _linked(page) if not {file, file.parent} & shown]
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links as they are on the site. In the repository they lead to files."""
    source = _origin(page.file.src_uri)
    if source is None or source.suffix != ".md":
        return markdown
    depth = page.file.src_uri.count("/")

    def on_site(target: str) -> str:
        file = _file(source, target)
        return target if file is None else "../" * depth + where_on_site(file)

    return _with_links(markdown, on_site)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    if page.file.src_uri.startswith(SOURCES):
        return html
    # A long name may be broken where it has joints, so that tables fit.
    html = _LONG_NAME.sub(lambda found: re.sub(r"(?<=[._])(?=\w)", "<wbr>", found[0]), html)
    parts = _HEADING.split(html)
    for at in range(1, len(parts), 4):
        anchor, heading, body = parts[at + 1 : at + 4]
        address = page.file.url + (f"#{anchor}" if at > 1 else "")
        _sections.append((str(page.title), _plain(heading), address, _plain(body)))
    return html


def on_post_build(config: MkDocsConfig) -> None:
    """A script and not JSON: a page in a folder, without a server, may load nothing else."""
    index = json.dumps(_sections, ensure_ascii=False, separators=(",", ":"))
    Path(config.site_dir, "search_index.js").write_text(f"window.tacitSections={index};\n")


def where_on_site(file: Path) -> str:
    """The page that shows a file of the repository."""
    name = file.relative_to(ROOT).as_posix()
    if file.parent == DOCS:
        return file.name
    return DOCUMENTS.get(name) or f"{SOURCES}{name.removesuffix('.md')}.md"


def written(file: Path) -> str:
    """A document as it is; any other file as a page that shows it."""
    text = file.read_text()
    if file.suffix == ".md":
        return text
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    name = file.relative_to(ROOT).as_posix()
    language = _LANGUAGES.get(file.suffix, "text")
    return f"# {name}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"


def _origin(place: str) -> Path | None:
    """The file of the repository that a page of the site is made of."""
    for name, shown in DOCUMENTS.items():
        if shown == place and name != "README.md":
            return ROOT / name
    if not place.startswith(SOURCES):
        return DOCS / place
    bare = ROOT / place.removeprefix(SOURCES).removesuffix(".md")
    return bare if bare.is_file() else bare.with_name(f"{bare.name}.md")


def _linked(page: Path) -> Iterator[Path]:
    found: list[str] = []

    def note(target: str) -> str:
        found.append(target)
        return target

    _with_links(page.read_text(), note)
    for target in found:
        file = _file(page, target)
        if file is not None:
            yield file


def _file(page: Path, target: str) -> Path | None:
    """The file that a link leads to: of a folder, what says what is in it."""
    file = (page.parent / target).resolve()
    if file.is_dir():
        file /= "README.md"
    return file if file.is_relative_to(ROOT) and file.is_file() else None


def _with_links(markdown: str, change: Callable[[str], str]) -> str:
    """The text with each of its links changed. What is shown as code is left alone."""
    lines, fence = [], ""
    for line in markdown.splitlines(keepends=True):
        opened = _FENCE.match(line)
        if opened and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
        elif not fence:
            line = _LINK.sub(lambda found: change(found[1]), line)
        lines.append(line)
    return "".join(lines)


def _plain(html: str) -> str:
    words = _PERMALINK.sub("", html).replace("<wbr>", "")
    return " ".join(unescape(_TAG.sub(" ", words)).split())
