"""The site: built from these pages without a warning, whole, and without asking another host."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from markdown_it import MarkdownIt
from mkdocs.commands.build import build
from mkdocs.config import load_config

from tests.console.chromium import Driven, driven, executable
from tests.console.watching import Watched, faults, is_wider_than_its_window
from tests.missing import NO_CHROMIUM

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PARTS = ["Quickstart", "Guides", "Concepts", "Reference", "Glossary"]
# What stands outside of docs/, and where it is on the site.
DOCUMENTS = {
    "architecture.html": ROOT / "ARCHITECTURE.md",
    "contributing.html": ROOT / "CONTRIBUTING.md",
    "security.html": ROOT / "SECURITY.md",
    "changes.html": ROOT / "CHANGELOG.md",
    "examples.html": ROOT / "examples" / "README.md",
}
ASSETS_MAX_BYTES = 40_000  # of style and script together
_COUNTED = ("h1", "h2", "h3", "table", "tr", "ul", "ol", "li", "pre")


@dataclass
class Read(HTMLParser):
    """What a page of the site has: where it leads, what it loads, and its parts."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    parts: Counter[str] = field(default_factory=Counter)
    inside: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given["id"]} if "id" in given else set()
        self.links += [given["href"]] if tag == "a" else []
        self.loads += [given[n] for n in ("src", "href", "srcset") if n in given and tag != "a"]
        self.inside = self.inside or tag == "main"
        if tag in ("nav", "div") and given.get("class") == "turn":
            self.inside = False
        self.parts[tag] += self.inside

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "main"


def read(path: Path) -> Read:
    page = Read()
    page.feed(path.read_text())
    return page


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs` does it, where every warning stops it."""
    made = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(made), strict=True))
    return made


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Read]:
    return {str(path.relative_to(site)): read(path) for path in sorted(site.rglob("*.html"))}


def listed(nav: Any) -> list[str]:
    """The pages of a navigation, whatever they stand below."""
    if isinstance(nav, str):
        return [nav]
    below = nav.values() if isinstance(nav, dict) else nav
    return [page for one in below for page in listed(one)]


def test_every_page_stands_in_one_of_five_parts_and_none_twice() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    assert [part for one in nav for part in one] == PARTS
    brought = {name.replace(".html", ".md") for name in DOCUMENTS}
    assert Counter(listed(nav)) == Counter({*(path.name for path in DOCS.glob("*.md")), *brought})


def test_every_link_and_anchor_leads_somewhere(site: Path, pages: dict[str, Read]) -> None:
    for name, page in pages.items():
        for link in page.links:
            to = urlsplit(link)
            if to.scheme in ("http", "https"):
                continue
            assert not to.scheme, f"{name}: {link}"
            # Of the page for what is not there, links begin at the root of wherever it is.
            start = site if link.startswith("/") else (site / name).parent
            target = (start / unquote(to.path).lstrip("/")).resolve() if to.path else site / name
            assert target.is_file(), f"{name} leads to {link}"
            if to.fragment:
                anchors = pages[str(target.relative_to(site))].ids
                assert unquote(to.fragment) in anchors, f"{name} leads to {link}"


def test_no_page_loads_anything_from_another_host(site: Path, pages: dict[str, Read]) -> None:
    for name, page in pages.items():
        for loaded in page.loads:
            assert not urlsplit(loaded).netloc, f"{name} loads {loaded}"
    for path in (*site.glob("*.css"), *site.glob("*.js")):
        if path.name != "search_index.js":
            foreign = re.findall(r"@import|url\(|https?://|//\w", path.read_text().replace("// ", ""))
            assert not foreign, path.name
    assert sum((site / name).stat().st_size for name in ("site.css", "site.js")) < ASSETS_MAX_BYTES
    assert not [path for path in site.rglob("*") if path.suffix in (".woff", ".woff2", ".ttf")]


def documents() -> list[tuple[str, Path]]:
    inside = [(f"{path.stem}.html", path) for path in sorted(DOCS.glob("*.md"))]
    return inside + list(DOCUMENTS.items())


def test_a_page_has_on_the_site_what_it_has_in_the_repository(pages: dict[str, Read]) -> None:
    """Two readers of Markdown: a list that one of them takes for a paragraph is found here."""
    reader = MarkdownIt("commonmark").enable("table")
    for name, path in documents():
        there = Read(inside=True)
        there.feed(reader.render(path.read_text()))
        told = {tag: pages[name].parts[tag] for tag in _COUNTED}
        assert told == {tag: there.parts[tag] for tag in _COUNTED}, path.name


def test_headings_have_the_anchors_that_repositories_give_them(pages: dict[str, Read]) -> None:
    """So that one link works in both places."""
    for name, path in documents():
        prose = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        for heading in re.findall(r"^#{2,3} (.*)$", prose, re.MULTILINE):
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
            anchor = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
            assert anchor in pages[name].ids, f"{path.name}: {heading}"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Driven]:
    path = executable()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(NO_CHROMIUM)
        pytest.skip(NO_CHROMIUM)
    with driven(path) as made:
        yield made


@pytest.fixture
def browser(chromium: Driven) -> Iterator[Any]:
    chromium.go_on()
    yield chromium.browser
    chromium.rest()


def test_search_works_in_a_folder_without_a_server_or_a_network(site: Path, browser: Any) -> None:
    page = browser.new_page()
    seen = Watched(page, host="")
    page.goto((site / "quickstart.html").as_uri())
    page.keyboard.press("/")
    page.locator(".search input").fill("withheld surpr")
    page.locator(".search li a", has_text="How far it may go").first.wait_for()
    page.locator(".search input").fill("<b>nothing</b> like zzqx")
    page.wait_for_function("!document.querySelector('.search li')")
    page.locator(".search input").fill("busy_timeout_ms")
    page.keyboard.press("Enter")
    page.wait_for_url("**/settings.html*")
    assert not seen.found


def test_a_page_is_for_day_and_night_for_phones_and_for_everybody(site: Path, browser: Any) -> None:
    page = browser.new_page(color_scheme="dark", viewport={"width": 375, "height": 740})
    shades = []
    page.goto((site / "comparison.html").as_uri())
    for _ in range(2):
        assert not faults(page)
        assert not is_wider_than_its_window(page)
        shades.append(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
        page.locator(".shade").click()
        page.goto((site / "quickstart.html").as_uri())  # where what was chosen still counts
    assert len(set(shades)) == 2
