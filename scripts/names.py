"""Report where the code still carries a name that is to go. The table is names.txt.

    python -m scripts.names [--all]    (--all: every place of each name, not the first few)

Also counts the lines that name no actor. Ends with exit code 1 if anything is left to do.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from scripts.size import PACKAGE, ROOT, SOURCE, TEXT_FILES, Code, Module, vague_lines

TABLE = ROOT / "scripts" / "names.txt"
VAGUE_LIMIT = 40
SHOWN = 3
MIGRATIONS = "migrations"  # they keep the names that the tables had


@dataclass(frozen=True)
class Name:
    sense: str
    where: tuple[str, ...]
    name: str
    becomes: str

    def is_in(self, home: str) -> bool:
        """Whether the patterns cover a dotted name."""
        meant = [one for one in self.where if not one.startswith("!")]
        excluded = [one[1:] for one in self.where if one.startswith("!")]
        if any(fnmatchcase(home, one) for one in excluded):
            return False
        return not meant or any(fnmatchcase(home, one) for one in meant)


@dataclass(frozen=True)
class Place:
    """Where something carries a name."""

    sense: str
    home: str  # the dotted name of the package or module around it
    name: str
    at: str  # file and line


def names() -> list[Name]:
    rows = [line for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    found = []
    for row in rows:
        sense, where, name, becomes = re.split(r"\s{2,}", row.strip(), maxsplit=3)
        patterns = tuple(one.strip() for one in where.split(","))
        found.append(Name(sense, patterns, name, becomes))
    return found


def places(code: Code) -> Iterator[Place]:
    for module in code.modules.values():
        file = str(module.path.relative_to(ROOT))
        home, _, stem = module.name.rpartition(".")
        is_package = module.path.name == "__init__.py"
        yield Place("package" if is_package else "module", home, stem, file)
        for sense, name, line in declared(module):
            yield Place(sense, module.name, name, f"{file}:{line}")
    for folder in SOURCE.rglob("*"):  # folders without an __init__.py, such as those of data
        if folder.is_dir() and folder.name != "__pycache__":
            home = ".".join((PACKAGE, *folder.relative_to(SOURCE).parts[:-1]))
            if not (folder / "__init__.py").exists():
                yield Place("package", home, folder.name, str(folder.relative_to(ROOT)))
    for facade in ("View", "Memory"):
        for name in code.facade(facade):
            yield Place(facade.lower(), PACKAGE, name, f"class {facade}")


def declared(module: Module) -> Iterator[tuple[str, str, int]]:
    """What a module gives a name to: sense, name and line."""
    for top in module.tree.body:
        for target in _targets(top):
            yield "constant", target, top.lineno
            yield "class", target, top.lineno  # a type alias
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef):
            yield "class", node.name, node.lineno
            for field in node.body:
                for target in _targets(field):
                    yield "attribute", target, field.lineno
                    yield "argument", target, field.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "function", node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield "argument", node.arg, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield "attribute", node.attr, node.lineno
        elif isinstance(node, ast.Call):
            yield from _schema(node)


def _targets(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    yield from (one.id for one in targets if isinstance(one, ast.Name))


def _schema(call: ast.Call) -> Iterator[tuple[str, str, int]]:
    """A table of SQLAlchemy's and its columns, which are often made by functions of ours."""
    if ast.unparse(call.func).rpartition(".")[2] != "Table":
        return
    for place, one in enumerate(call.args):
        first = one if place == 0 else one.args[0] if isinstance(one, ast.Call) and one.args else one
        if isinstance(first, ast.Constant):
            yield "attribute" if place else "table", str(first.value), one.lineno


def strings(module: Module) -> Iterator[tuple[str, int]]:
    """The strings of a module that are no docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str):
            yield node.value, node.lineno


def phrases(code: Code, wanted: list[Name]) -> Iterator[tuple[Name, str]]:
    """Where people read one of the words that are to go."""
    for module in code.modules.values():
        for text, line in strings(module):
            for one in wanted:
                if _says(one, text):
                    yield one, f"{module.path.relative_to(ROOT)}:{line}"
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    assets = [path for path in SOURCE.rglob("*") if path.suffix in TEXT_FILES - {".py"}]
    for path in [*sorted(assets), *pages]:
        page = path in pages
        for number, written in enumerate(path.read_text().splitlines(), start=1):
            for one in wanted:
                if _reads(one, written, page=page):
                    yield one, f"{path.relative_to(ROOT)}:{number}"


def _says(one: Name, text: str) -> bool:
    if one.name not in text or one.sense == "title":
        return False
    if one.sense == "label":
        return text.strip() == one.name
    return re.search(rf"\b{re.escape(one.name)}\b", text) is not None


def _reads(one: Name, line: str, *, page: bool) -> bool:
    if one.name.lower() not in line.lower():
        return False
    word = re.escape(one.name)
    if page or one.sense == "title":
        heading = one.sense == "title" and page and line.startswith("#")
        return heading and re.search(rf"\b{word}\b", line, re.IGNORECASE) is not None
    if one.sense == "label":
        return re.search(rf"[>}}'\"]\s*{word}\s*[<{{'\"]", line) is not None
    comment = line.lstrip().startswith("#")
    return one.sense == "text" and not comment and re.search(rf"\b{word}\b", line) is not None


def left(code: Code) -> dict[Name, list[str]]:
    """Every name of the table that is still there, with its places."""
    every = names()
    found: dict[Name, list[str]] = {one: [] for one in every}
    by_key: dict[tuple[str, str], list[Name]] = {}
    for one in every:
        by_key.setdefault((one.sense, one.name), []).append(one)
    for place in places(code):
        for one in by_key.get((place.sense, place.name), []):
            if one.is_in(place.home) and MIGRATIONS not in place.home.split("."):
                found[one].append(place.at)
    for one, at in phrases(code, [one for one in every if one.sense in ("label", "text", "title")]):
        found[one].append(at)
    return {one: list(dict.fromkeys(at)) for one, at in found.items() if at}


def main() -> int:
    found = left(Code())
    shown = None if "--all" in sys.argv else SHOWN
    for one, at in found.items():
        print(f"{one.sense} {one.name} -> {one.becomes}: {len(at)}")
        for place in at[:shown]:
            print(f"  {place}")
    vague = len(vague_lines())
    count = sum(map(len, found.values()))
    print(f"\n{len(found)} names of {len(names())} are left, in {count} places")
    print(f"lines with whoever, somebody, nobody, anybody: {vague} (at most {VAGUE_LIMIT})")
    return 1 if found or vague > VAGUE_LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
