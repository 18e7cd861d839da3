"""The house keeps its doors: the import rules of CONTRIBUTING.md, read from the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import ralphloop

ROOT = Path(ralphloop.__file__).parent
ROOMS = ("config", "work", "agents", "process", "sandbox", "workspace", "checks", "bus", "ledger", "notify", "sessions")

MAY_IMPORT: dict[str, set[str]] = {
    "core": {"core"},
    "files": {"errors", "files"},
    "errors": set(),
    "views": {"core", "ledger.queries", "views"},
    "ledger": {"core", "files", "errors", "ledger", ""},
    "loop.engine": {"core", "loop.perform"},
    "loop.perform": {"core", "errors"},
    "loop": {"core", "files", "errors", "loop", *ROOMS},
    "cli": {"core", "files", "errors", "loop", "views", "cli", "", *ROOMS},
    "testing": {"core", "errors", "loop.engine", "testing", "work"},
    "__main__": {"cli", ""},
    "": {"loop.function", "loop.library"},
    **{room: {"core", "files", "errors", room} for room in ROOMS if room != "ledger"},
}
"""Who may import what: the most specific row holds. The empty name is the package itself (its version)."""

ONLY_IN = {
    "subprocess": {"process", "sessions"},
    "signal": {"process", "sessions"},
    "sqlite3": {"ledger"},
}
NOT_OURS = {"agents.demo_script"}
"""A program of its own, that Ralph starts as it starts any agent."""
NO_BARE_OPEN = {"work", "checks", "workspace"}
TYPES_ONLY = {("core.ports", "pathlib"), ("core.ports", "pathlib.Path")}
CORE_MAY_NOT = {
    "os",
    "io",
    "time",
    "random",
    "secrets",
    "logging",
    "pathlib",
    "sys",
    "threading",
    "asyncio",
    "datetime",
    "uuid",
    "tempfile",
    "shutil",
}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        yield name.removesuffix(".__init__").removesuffix("__init__"), path


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rules_for(module: str) -> set[str]:
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        row = MAY_IMPORT.get(".".join(parts[:length]))
        if row is not None:
            return row
    return MAY_IMPORT[module]


def allowed(imported: str, rules: set[str]) -> bool:
    inside = imported.removeprefix("ralphloop").removeprefix(".")
    if inside in {"", "__version__"}:
        return "" in rules or inside == ""
    return any(inside == rule or inside.startswith(f"{rule}.") or rule.startswith(f"{inside}.") for rule in rules if rule)


def broken_rules(module: str, path: Path) -> list[str]:
    rules, room = rules_for(module), module.split(".", maxsplit=1)[0]
    found = []
    for imported in imports(path):
        if imported.split(".")[0] == "ralphloop" and not allowed(imported, rules):
            found.append(f"{module} imports {imported}")
        top = imported.split(".")[0]
        if room not in ONLY_IN.get(top, {room}):
            found.append(f"{module} imports {top}")
        if room == "core" and top in CORE_MAY_NOT and (module, imported) not in TYPES_ONLY:
            found.append(f"{module} imports {top}")
    return found + [f"{module}: {what}" for what in broken_calls(module, path)]


def broken_calls(module: str, path: Path) -> Iterator[str]:
    room = module.split(".", maxsplit=1)[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if room in NO_BARE_OPEN and isinstance(node, ast.Call):
            bare = isinstance(node.func, ast.Name) and node.func.id == "open"
            if bare or getattr(node.func, "attr", "") in {"open", "read_text", "read_bytes", "write_text", "write_bytes"}:
                yield f"line {node.lineno} opens a file without files/"
        if (
            room != "config"
            and module not in NOT_OURS
            and isinstance(node, ast.Attribute)
            and node.attr in {"environ", "getenv"}
            and getattr(node.value, "id", "") == "os"
        ):
            yield f"line {node.lineno} reads the environment"


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=[name or "ralphloop" for name, _ in modules()])
def test_a_module_imports_only_what_its_room_may(module: str, path: Path) -> None:
    assert broken_rules(module, path) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("core.sneaky", "import os"),
        ("core.sneaky", "from ralphloop.files.beneath import read_beneath"),
        ("core.sneaky", "from ralphloop.errors import RalphError"),
        ("files.sneaky", "from ralphloop.core.model import Task"),
        ("work.sneaky", "from ralphloop.workspace.git import GitWorkspace"),
        ("work.sneaky", "from pathlib import Path\nPath('x').read_text()"),
        ("checks.sneaky", "open('x')"),
        ("agents.sneaky", "from ralphloop.process.supervise import Supervisor"),
        ("agents.sneaky", "import subprocess"),
        ("loop.sneaky", "import signal"),
        ("loop.engine", "from ralphloop.ledger.store import Ledger"),
        ("loop.perform", "from ralphloop.files.blobs import BlobStore"),
        ("views.sneaky", "from ralphloop.ledger.store import Ledger"),
        ("views.sneaky", "import sqlite3"),
        ("cli.sneaky", "import os\nos.environ['X']"),
        ("ledger.sneaky", "from ralphloop.views.console import Console"),
    ],
)
def test_a_broken_rule_is_found(module: str, source: str, tmp_path: Path) -> None:
    path = tmp_path / "sneaky.py"
    path.write_text(source)
    assert broken_rules(module, path)


def test_packages_are_inert() -> None:
    for module, path in modules():
        if path.name == "__init__.py" and module:
            assert path.read_text().strip() == "", f"{path} does something"
