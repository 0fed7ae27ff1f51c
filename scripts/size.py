"""Print how large the code is and how it hangs together, beside what was recorded before.

    python -m scripts.size            the table
    python -m scripts.size --record   write the figures of now to size_before.json

Everything is read from the syntax trees of the files, whatever the layout of src/tacit is.
"""

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypedDict

ROOT = Path(__file__).parents[1]
PACKAGE = "tacit"
SOURCE = ROOT / "src" / PACKAGE
BEFORE = ROOT / "scripts" / "size_before.json"
TEXT_FILES = {".py", ".html", ".js", ".css", ".yaml", ".yml", ".md", ".txt", ".tsv", ".sql"}
VAGUE = re.compile(r"\b(?:whoever|somebody|nobody|anybody)\b", re.IGNORECASE)
# More than one class may have such a name: the one that is meant has this method.
FACADES = {"View": "remember", "Memory": "view"}
TOP_LEVEL = "(top level)"

Import = ast.Import | ast.ImportFrom
When = Literal["on load", "late", "for types"]
Figures = dict[str, int]


class Size(TypedDict):
    packages: dict[str, Figures]
    totals: Figures


@dataclass(frozen=True)
class Module:
    name: str  # dotted
    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def imports(self) -> list[tuple[Import, When]]:
        return list(_imports(self.tree, "on load"))

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        return {one.name: one for one in self.tree.body if isinstance(one, ast.ClassDef)}

    @property
    def package(self) -> str:
        inside = self.path.relative_to(SOURCE).parts
        return inside[0] if len(inside) > 1 else TOP_LEVEL


def _imports(node: ast.AST, when: When) -> Iterator[tuple[Import, When]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Import):
            yield child, when
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _imports(child, "late")
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            yield from _imports(child, "for types")
        else:
            yield from _imports(child, when)


class Code:
    """The modules of the package, and which of them import which."""

    def __init__(self) -> None:
        found = [Module(_dotted(path), path) for path in sorted(SOURCE.rglob("*.py"))]
        self.modules = {one.name: one for one in found}

    def targets(self, node: Import) -> set[str]:
        """The modules of the package that an import names."""
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            names = [
                inner if (inner := f"{node.module}.{alias.name}") in self.modules else node.module
                for alias in node.names
                if node.module
            ]
        return {name for name in names if name in self.modules}

    def imported(self, module: Module, *when: When) -> set[str]:
        found = (self.targets(node) for node, at in module.imports if at in when)
        return set().union(*found) - {module.name}

    def importers(self) -> Counter[str]:
        """How many modules import each one, at whatever time."""
        return Counter(
            name for module in self.modules.values() for name in self.imported(module, "on load", "late", "for types")
        )

    def cycles(self) -> list[set[str]]:
        """Groups of modules that need each other while they are loaded."""
        graph = {name: self.imported(one, "on load") for name, one in self.modules.items()}
        reached = {name: _reached(graph, name) for name in graph}
        groups = {frozenset(b for b in reached[a] if a in reached[b]) for a in graph}
        return [set(one) for one in groups if one]

    def facade(self, name: str) -> set[str]:
        """The public names of the class that users meet under this name, with its mixins'."""
        found = [
            names
            for module in self.modules.values()
            if name in module.classes and FACADES[name] in (names := self.public_names(module, name, set()))
        ]
        return max(found, key=len, default=set())

    def public_names(self, module: Module, name: str, seen: set[tuple[str, str]]) -> set[str]:
        if (module.name, name) in seen:
            return set()
        seen.add((module.name, name))
        if name not in module.classes:
            there = self._origin(module, name)
            return self.public_names(*there, seen) if there else set()
        made = module.classes[name]
        names = {one for one in _members(made) if not one.startswith("_")}
        for base in made.bases:
            if isinstance(base, ast.Subscript):
                base = base.value
            label = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", None)
            if label is not None:
                names |= self.public_names(module, label, seen)
        return names

    def _origin(self, module: Module, name: str) -> tuple[Module, str] | None:
        """Where a class that this module imports is declared."""
        for node, _ in module.imports:
            if isinstance(node, ast.ImportFrom) and node.module in self.modules:
                for alias in node.names:
                    if name == (alias.asname or alias.name):
                        return self.modules[node.module], alias.name
        return None


def _dotted(path: Path) -> str:
    parts = [PACKAGE, *path.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _members(made: ast.ClassDef) -> Iterator[str]:
    for node in made.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
            if node.name == "__init__":
                yield from _attributes(node)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (one.id for one in node.targets if isinstance(one, ast.Name))


def _attributes(init: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """What is set on self."""
    for node in ast.walk(init):
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store):
            continue
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            yield node.attr


def exported(code: Code) -> int:
    """The length of `__all__` of the package."""
    for node in code.modules[PACKAGE].tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return len(ast.literal_eval(node.value))
    return 0


def line_count(folder: Path) -> int:
    return sum(len(path.read_text().splitlines()) for path in folder.rglob("*.py"))


def vague_lines() -> list[tuple[Path, int, str]]:
    """Lines that name no actor: file, number and text."""
    return [
        (path, number, line)
        for path in sorted(SOURCE.rglob("*"))
        if path.suffix in TEXT_FILES
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if VAGUE.search(line)
    ]


def by_package(code: Code) -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    for module in code.modules.values():
        figures = found.setdefault(module.package, {"files": 0, "lines": 0, "import lines": 0})
        figures["files"] += 1
        figures["lines"] += len(module.text.splitlines())
        figures["import lines"] += sum((node.end_lineno or node.lineno) - node.lineno + 1 for node, _ in module.imports)
    return found


def totals(code: Code, packages: dict[str, Figures]) -> Figures:
    cycles = code.cycles()
    late = sum(
        1 for module in code.modules.values() for node, when in module.imports if when == "late" and code.targets(node)
    )
    return {
        "files": sum(one["files"] for one in packages.values()),
        "lines": sum(one["lines"] for one in packages.values()),
        "import lines": sum(one["import lines"] for one in packages.values()),
        "modules with one importer": list(code.importers().values()).count(1),
        "public names of View": len(code.facade("View")),
        "public names of Memory": len(code.facade("Memory")),
        "names in tacit.__all__": exported(code),
        "import cycles": len(cycles),
        "modules in import cycles": sum(map(len, cycles)),
        "late imports of our own": late,
        "lines of tests": line_count(ROOT / "tests"),
        "lines with whoever, somebody, nobody, anybody": len(vague_lines()),
    }


def table(old: Size, new: Size) -> Iterator[str]:
    columns = ("files", "lines", "import lines")
    yield f"{'package':<16}" + "".join(f"{name + ' before / after':>28}" for name in columns)
    before, after = old["packages"], new["packages"]
    for package in sorted(before.keys() | after.keys()):
        yield f"{package:<16}" + "".join(
            f"{_pair(before.get(package, {}), after.get(package, {}), name):>28}" for name in columns
        )
    yield ""
    yield f"{'whole':<48}{'before / after':>20}"
    for name in new["totals"]:
        yield f"{name:<48}{_pair(old['totals'], new['totals'], name):>20}"


def _pair(old: Figures, new: Figures, name: str) -> str:
    return " / ".join(f"{one[name]:,}" if name in one else "-" for one in (old, new))


def main() -> None:
    code = Code()
    packages = by_package(code)
    now: Size = {"packages": packages, "totals": totals(code, packages)}
    if "--record" in sys.argv:
        BEFORE.write_text(json.dumps(now, indent=1) + "\n")
        return
    for line in table(json.loads(BEFORE.read_text()), now):
        print(line)
    for cycle in code.cycles():
        print(f"cycle: {', '.join(sorted(cycle))}")


if __name__ == "__main__":
    main()
