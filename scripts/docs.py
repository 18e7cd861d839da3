#!/usr/bin/env python3
"""Rewrites the parts of the documentation that are generated from the program, in place; `--check` only names what is stale.

A part stands between `<!-- generated: NAME -->` and `<!-- /generated -->`, and NAME is a row of PARTS.
"""

from __future__ import annotations

import inspect
import re
import sqlite3
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import get_args

import click

from ralphloop import errors
from ralphloop.agents.demo_script import WORDS
from ralphloop.cli.app import COMMANDS, cli
from ralphloop.config.resolve import CALLS_PER_ITERATION, KIND_DEFAULTS
from ralphloop.config.schema import GATE_KEYS, PRICE_KEYS, SCHEMA, Key
from ralphloop.config.spellings import GATE_SPELLINGS, SPELLINGS, VARIABLES
from ralphloop.core.decide import ON_RESUME
from ralphloop.core.messages import Entry
from ralphloop.core.model import EXIT_CODES, STATUS_WORDS, Gate, Kind, Limits, WorkSpec
from ralphloop.core.which import Found, Standing, choose
from ralphloop.ledger.codec import VERSIONS
from ralphloop.ledger.schema import MIGRATIONS
from ralphloop.loop import engine
from ralphloop.work.templates import FOLDER_TEMPLATE

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
PART = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- /generated -->)", re.DOTALL)
HELP_COLUMNS = 100


def main(arguments: list[str]) -> int:
    """Rewrite or check every page; 1 where a part is stale."""
    stale = [page for page in PAGES if (text := page.read_text("utf-8")) != rewritten(text)]
    for page in stale:
        if "--check" in arguments:
            sys.stderr.write(f"{page.relative_to(ROOT)} is stale: run `python scripts/docs.py`\n")
        else:
            page.write_text(rewritten(page.read_text("utf-8")), "utf-8")
    return int("--check" in arguments and bool(stale))


def rewritten(text: str) -> str:
    """The page with every part as it would be generated now."""
    return PART.sub(lambda found: f"{found[1]}\n{PARTS[found[2]]().strip()}\n\n{found[3]}", text)


# --- the parts --------------------------------------------------------------------------------------------------------


def commands() -> str:
    """`--help` of the program and of every command."""
    root = click.Context(cli, info_name="ralph", terminal_width=HELP_COLUMNS, max_content_width=HELP_COLUMNS, help_option_names=["-h", "--help"])
    sections = [("ralph", cli.get_help(root))]
    for name in COMMANDS:
        command = cli.get_command(root, name)
        assert command is not None, name
        context = click.Context(command, parent=root, info_name=name)
        sections.append((f"ralph {name}", command.get_help(context)))
        inner = command.commands.values() if isinstance(command, click.Group) else ()
        sections += [(f"ralph {name} {each.name}", each.get_help(click.Context(each, parent=context, info_name=each.name))) for each in inner]
    return "\n\n".join(f"## {title}\n\n{fenced('text', text)}" for title, text in sections)


def settings() -> str:
    """Every key of the schema."""
    return table(("key", "type", "default", "meaning"), ((code(name), typed(key), default_of(name, key), key.help) for name, key in SCHEMA.items()))


def gate_settings() -> str:
    """The keys of one gate."""
    defaults = {field.name: field.default for field in fields(Gate)}
    rows = ((code(name), typed(key), shown(defaults[name]) if name != "command" else "required", key.help) for name, key in GATE_KEYS.items())
    return table(("key", "type", "default", "meaning"), rows)


def price_settings() -> str:
    """The keys of one price."""
    required = {"model", "input", "output"}
    rows = ((code(name), typed(key), "required" if name in required else "as `input`", key.help) for name, key in PRICE_KEYS.items())
    return table(("key", "type", "default", "meaning"), rows)


def spellings() -> str:
    """Other names of the same settings."""
    rows = [*SPELLINGS.items(), *((f"guardrails[].{other}", f"gates[].{name}") for other, name in GATE_SPELLINGS.items()), *VARIABLES.items()]
    return table(("also written", "means"), ((code(other), code(name)) for other, name in rows))


def limits() -> str:
    """Every bound, with its default."""
    keys = ((field.name, f"limits.{field.name}") for field in fields(Limits))
    return table(("bound", "default", "what it counts"), ((code(name), default_of(key, SCHEMA[key]), SCHEMA[key].help) for name, key in keys))


def tables() -> str:
    """The tables of the ledger with their columns."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in (statement for migration in MIGRATIONS for statement in migration):
            connection.execute(statement)
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
        rows = [(code(name), ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({name})"))) for name in names]
    return table(("table", "columns"), rows)


def entries() -> str:
    """Every type of entry: its version, its contract, and its fields."""
    rows = (
        (code(entry.__name__), str(VERSIONS[entry.__name__]), inspect.getdoc(entry) or "", ", ".join(field.name for field in fields(entry)))
        for entry in get_args(Entry)
    )
    return table(("type", "v", "meaning", "fields"), rows)


def resume_rows() -> str:
    """What is done about an action that was open when the process died."""
    return table(("open when it died", "on resume"), ((code(step), recovery) for step, recovery in ON_RESUME.items()))


def which_loop() -> str:
    """Which loop `run` means."""
    work, other = WorkSpec(kind=Kind.CHECKLIST, task_file="PRD.md"), WorkSpec(kind=Kind.CHECKLIST, task_file="OTHER.md")

    def row(standing: Standing, words: str, *, open_work: bool) -> tuple[str, ...]:
        found = Found(standing=standing, work=None if standing is Standing.ABSENT else work)
        wanted = work, other, work
        return words, *(choose(found, wish, new=new, open_work=open_work) for wish, new in zip(wanted, (False, False, True), strict=True))

    rows = [row(standing, standing, open_work=False) for standing in Standing if standing is not Standing.DONE]
    rows += [row(Standing.DONE, "done, no open task", open_work=False), row(Standing.DONE, "done, open tasks", open_work=True)]
    return table(("the newest loop of that name here is", "same work", "other work", "`--new`"), rows)


def exit_codes() -> str:
    """Outcomes with their codes and words."""
    return table(
        ("outcome", "exit code", "in `ralph status`"), ((code(kind), str(number), STATUS_WORDS[kind]) for kind, number in EXIT_CODES.items())
    )


def error_tree() -> str:
    """The tree of errors as it is drawn in its module."""
    return fenced("text", (errors.__doc__ or "").partition("\n\n")[2])


def engine_source() -> str:
    """The loop, verbatim."""
    return fenced("python", inspect.getsource(engine))


def folder_prompt() -> str:
    """What an agent is told about a task folder."""
    return fenced("text", FOLDER_TEMPLATE.rstrip())


def demo_words() -> str:
    """What the demo agent can play."""
    return table(("word", "what it does"), ((code(word), inspect.getdoc(act) or "") for word, act in WORDS.items()))


PARTS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "settings": settings,
    "gate-settings": gate_settings,
    "price-settings": price_settings,
    "spellings": spellings,
    "limits": limits,
    "tables": tables,
    "entries": entries,
    "resume": resume_rows,
    "which-loop": which_loop,
    "exit-codes": exit_codes,
    "errors": error_tree,
    "engine": engine_source,
    "folder-prompt": folder_prompt,
    "demo-words": demo_words,
}


# --- Markdown ---------------------------------------------------------------------------------------------------------


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; bars in cells are escaped."""
    heads = tuple(heads)
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def fenced(language: str, text: str) -> str:
    """A code block."""
    return f"```{language}\n{text.strip(chr(10))}\n```"


def code(text: str) -> str:
    """Code in a line."""
    return f"`{text}`"


def typed(key: Key) -> str:
    """The type of a setting, or its choices."""
    return " | ".join(map(code, key.choices)) if len(key.choices) > 1 else str(key.type)


def default_of(name: str, key: Key) -> str:
    """The default of a setting, also where it depends on the kind of work."""
    if name == "limits.calls":
        return f"{CALLS_PER_ITERATION} per iteration"
    by_kind = {kind: defaults[name] for kind, defaults in KIND_DEFAULTS.items() if name in defaults}
    general = () if key.default is None else (shown(key.default),)
    return ", ".join((*general, *(f"{shown(value)} ({kind})" for kind, value in by_kind.items()))) or shown(None)


def shown(value: object) -> str:
    """A value as one writes it in a settings file."""
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(f"{value:g}" if isinstance(value, float) else str(value))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
