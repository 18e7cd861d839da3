"""A small project in which the demo agent can show what Ralph does: three tasks, one module, and a check that really runs it."""

from __future__ import annotations

from pathlib import Path

from ralphloop.errors import ConfigError

DEMO_GATE = "python3 check.py"

DEMO_SCRIPT = ("lie", "break", "fix", "delete", "work", "finish")
"""A false claim; a broken gate, and its repair; a deleted task that is put back; and an end that is done and proved."""

_PRD = """\
# Greetings

A module `greet.py` with three functions. `python3 check.py` must pass.

- [ ] Write `hello`: Hello, Ada!
- [ ] Write `goodbye`: Goodbye, Ada.
- [ ] Write `shout`: HELLO, ADA!
"""

_GREET = '''\
"""Greetings for people."""
'''

_CHECK = '''\
"""Checks greet.py: what is there must work, and what PRD.md ticks must be there."""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # a check leaves no files behind

import greet

EXPECTED = {"hello": "Hello, Ada!", "goodbye": "Goodbye, Ada.", "shout": "HELLO, ADA!"}
ticked = set(re.findall(r"^- \\[x\\] Write `(\\w+)`", Path("PRD.md").read_text(encoding="utf-8"), re.MULTILINE))
failures = []
for name, expected in EXPECTED.items():
    function = getattr(greet, name, None)
    if function is None:
        if name in ticked:
            failures.append(f"{name} is ticked, but greet.py has no such function")
    elif (found := function("Ada")) != expected:
        failures.append(f'{name}("Ada") gives {found!r}, but it should give {expected!r}')
print("\\n".join(failures) or "greet.py is fine")
sys.exit(1 if failures else 0)
'''

_FILES = {"PRD.md": _PRD, "greet.py": _GREET, "check.py": _CHECK}


def write_demo_project(directory: Path) -> None:
    """Write the project into a directory, which is made where it is missing; no file that is there is overwritten."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        if (directory / name).exists():
            raise ConfigError(f"{directory / name} is there already: choose an empty directory for the demo project")
    for name, content in _FILES.items():
        (directory / name).write_text(content, encoding="utf-8")
