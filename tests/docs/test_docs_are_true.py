"""The documentation says what the program does: generated parts are fresh, links lead somewhere, commands parse, and shown output appears."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ralphloop.cli.app import cli
from ralphloop.config.document import read_document
from ralphloop.config.json_text import read_json

ROOT = Path(__file__).parent.parent.parent
PAGES = (ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MADE_BEFORE = {
    "make demo": "ralph demo",
    "make test": f"python -m pytest -p no:cacheprovider {shlex.quote(str(ROOT / 'tests' / 'core' / 'test_which_loop.py'))}",
}
"""What a page tells a reader to type, and what it comes to once `make` has set everything up; of the tests, a few stand for all."""

# What differs from run to run: generated names and hashes, times, places.
VARIES = (
    (r"[0-9a-f]{8}\b(?=/|$| ·)|\b[0-9a-f]{7}\b(?= |$)", r"[0-9a-f]{7,8}"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", r"[0-9TZ:-]{20}"),
    (r"\d+\.\d+ ?s\b", r"[0-9.]+ ?m?s"),
    (r"(?:~|/tmp)/[\w./-]*|ralph-demo-\w+", r"\S+"),
    ("…", r".*"),
    (" +", r" +"),
)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    for found in FENCE.finditer(page.read_text("utf-8")):
        yield found[1].strip(), found[2]


def pages_with(language: str) -> list[str]:
    return [name for name in NAMES if any(info == language for info, _ in blocks(ROOT / name))]


# --- links, files, generated parts ------------------------------------------------------------------------------------


def test_generated_parts_are_fresh() -> None:
    checked = subprocess.run([sys.executable, ROOT / "scripts" / "docs.py", "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("name", NAMES)
def test_every_relative_link_leads_somewhere(name: str) -> None:
    page = ROOT / name
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", FENCE.sub("", page.read_text("utf-8"))):
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), f"{name} links to {target}"
        assert not anchor or anchor in anchors(there), f"{name} links to {target}, and there is no such heading"


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", NAMES)
def test_every_file_of_ours_that_is_named_exists(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    places = ROOT, ROOT / "src" / "ralphloop"
    for path in re.findall(
        r"`((?:src|tests|scripts|bench|docs|core|loop|cli|config|work|agents|checks|workspace|process|files|ledger|views|bus|sessions)/[\w./-]*)`",
        text,
    ):
        assert any((place / path).exists() for place in places), f"{name} names {path}"


# --- commands ---------------------------------------------------------------------------------------------------------


def command_lines(page: Path) -> Iterator[str]:
    """Every `ralph …` that a reader could type, in code blocks and in the text."""
    prompts = {"sh": "", "console": r"\$ "}
    for info, block in blocks(page):
        if info in prompts:
            yield from re.findall(rf"^{prompts[info]}((?:[A-Z_]+=\S.* )?ralph\b.*)$", block, re.MULTILINE)
    yield from re.findall(r"`((?:[A-Z_]+=\S+ )*ralph(?: [^`]*)?)`", FENCE.sub("", page.read_text("utf-8")))


@pytest.mark.parametrize("name", NAMES)
def test_every_command_line_parses(name: str) -> None:
    for line in command_lines(ROOT / name):
        words = shlex.split(line, comments=True)
        parse(words[words.index("ralph") + 1 :], f"{name}: {line}")


def parse(arguments: list[str], where: str) -> None:
    """Parse without running: the command is there, and so are its flags."""
    root = click.Context(cli, info_name="ralph", help_option_names=["-h", "--help"])
    if not arguments or arguments[0].startswith("-"):
        cli.make_parser(root).parse_args(arguments)
        return
    command = cli.get_command(root, arguments[0])
    assert command is not None, f"{where}: there is no such command"
    try:
        command.make_parser(click.Context(command, parent=root)).parse_args(arguments[1:])
    except click.UsageError as error:
        pytest.fail(f"{where}: {error.format_message()}")


@pytest.mark.parametrize("name", pages_with("json"))
def test_every_settings_example_is_accepted(name: str) -> None:
    for info, block in blocks(ROOT / name):
        if info == "json":
            assert read_document(read_json(block.encode(), name), name)


# --- output -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", pages_with("console"))
def test_shown_output_is_what_the_commands_print(name: str, tmp_path: Path) -> None:
    """A page is played from top to bottom in one shell: `file=` blocks are written, `$` lines run, and what is shown below appears in order."""
    commands, shown = script_of(ROOT / name)
    printed = play(commands, Path(name).stem, tmp_path)
    assert len(printed) == len(commands), printed
    for command, lines, output in zip(commands, shown, printed, strict=True):
        rest = output.splitlines()
        for line in lines:
            pattern = re.compile(expected(line))
            at = next((number for number, there in enumerate(rest) if pattern.fullmatch(there.rstrip())), None)
            assert at is not None, f"{name}: `{command}` does not print, or not there:\n{line}\n\nIt printed:\n{output}"
            rest = rest[at + 1 :]


def script_of(page: Path) -> tuple[list[str], list[list[str]]]:
    """The commands of a page, and what is shown below each, but for lines that only say that something was left out."""
    commands: list[str] = []
    shown: list[list[str]] = []
    for info, block in blocks(page):
        if file := re.search(r"file=(\S+)", info):
            commands.append(f"cat > {file[1]} <<'END_OF_FILE'\n{block}END_OF_FILE")
            shown.append([])
        for line in block.splitlines() if info == "console" else ():
            if line.startswith("$ "):
                commands.append(MADE_BEFORE.get(line[2:], line[2:]))
                shown.append([])
            elif line.strip() not in {"", "…"}:
                shown[-1].append(line)
    return commands, shown


def play(commands: list[str], name: str, home: Path) -> list[str]:
    """What each command printed. `$?` is that of the command before, as in a terminal."""
    directory = home / name
    for made in (directory, home / "tmp"):
        made.mkdir()
    (home / ".gitconfig").write_text("[user]\nname = You\nemail = you@localhost\n[init]\ndefaultBranch = main\n")
    script = "\n".join(f"{command}\nstatus=$?; printf '\\036'; (exit $status)" for command in commands)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("RALPH_", "RLOOP_", "GIT_", "XDG_"))}
    environment = {
        **kept,
        "HOME": str(home),
        "RALPH_STATE_HOME": str(home / "state"),
        "TMPDIR": str(home / "tmp"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        encoding="utf-8",
        check=False,
    )
    return done.stdout.split("\x1e")[:-1]


def expected(line: str) -> str:
    """A pattern for a shown line, open where runs differ."""
    varies = re.compile("|".join(f"(?P<v{number}>{what})" for number, (what, _) in enumerate(VARIES)))
    pattern, end = "", 0
    for found in varies.finditer(line.rstrip()):
        assert found.lastgroup is not None
        pattern += re.escape(line[end : found.start()]) + VARIES[int(found.lastgroup[1:])][1]
        end = found.end()
    return pattern + re.escape(line.rstrip()[end:])


def test_a_line_that_is_not_printed_is_noticed() -> None:
    printed = "gate    sh check.sh … passed (0.0s)"
    assert re.fullmatch(expected("gate    sh check.sh … passed (12.3s)"), printed)
    assert not re.fullmatch(expected("gate    sh check.sh … failed (12.3s)"), printed)
    assert re.fullmatch(expected("        in git as well: ae629de"), "        in git as well: 0123456")
    assert not re.fullmatch(expected("limit: 1 of 1 iterations are used up"), "limit: 1 of 2 iterations are used up")


@pytest.mark.parametrize("name", pages_with("python"))
def test_python_examples_hold(name: str) -> None:
    examples = "\n".join(block for info, block in blocks(ROOT / name) if info == "python" and block.startswith(">>>"))
    test = doctest.DocTestParser().get_doctest(examples, {}, name, name, 0)
    report: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=report.append).failed == 0, "".join(report)
