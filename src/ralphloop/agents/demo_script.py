"""The scripted agent itself: a program of its own, which imports nothing of Ralph's and knows nothing of the loop that runs it.

It works on the checklist in its directory as an agent would, and misbehaves where its script says so, one word per iteration:

    python -m ralphloop.agents.demo_script --script work,lie,finish [--task-file PRD.md] [--pause SECONDS]  < prompt

It starts in a few milliseconds, hence no argparse, dataclasses, pathlib or subprocess. The same script in the same directory always does the same.
"""

# ruff: noqa: PTH110, PTH113, PTH123

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable

DEFAULT_CLAIM = "<promise>COMPLETE</promise>"
COST_USD = 0.0123
INPUT_TOKENS, OUTPUT_TOKENS = 1200, 340
WAITING_EXIT_CODE = 42

_CLAIM = re.compile(r"<(promise|response)>[^<>\n]*</\1>", re.IGNORECASE)
_TASK = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(.*\S)")

# What it writes for a task that names one of these in backticks: the file, the right piece of it, and one that breaks the gate.
SOLUTIONS = {
    "hello": (
        "greet.py",
        'def hello(name: str) -> str:\n    return f"Hello, {name}!"\n',
        'def hello(name: str) -> str:\n    return f"Hello {name}"\n',
    ),
    "goodbye": (
        "greet.py",
        'def goodbye(name: str) -> str:\n    return f"Goodbye, {name}."\n',
        'def goodbye(name: str) -> str:\n    return f"Goodbye {name}"\n',
    ),
    "shout": (
        "greet.py",
        "def shout(name: str) -> str:\n    return hello(name).upper()\n",
        "def shout(name: str) -> str:\n    return hello(name)\n",
    ),
}


class Session:
    """One run: what the agent was told, and the stream that it speaks on."""

    def __init__(self, prompt: str, *, task_file: str, iteration: int, pause_s: float) -> None:
        self.task_file = task_file
        self.iteration = iteration
        asked = _CLAIM.search(prompt)
        self.claim = asked[0] if asked else DEFAULT_CLAIM
        self._pause_s = pause_s
        self._tools = 0
        self._emit({"type": "system", "subtype": "init", "session_id": self._id, "model": "demo", "tools": ["Bash", "Edit", "Read", "Write"]})

    def say(self, words: str) -> None:
        """A block of text."""
        self._message("assistant", {"type": "text", "text": words})

    def use(self, name: str, given: dict[str, str], output: str) -> None:
        """A tool, and what it returned; the deed itself is done by the caller."""
        self._tools += 1
        tool_id = f"tool_{self.iteration}_{self._tools}"
        self._message("assistant", {"type": "tool_use", "id": tool_id, "name": name, "input": given})
        self._message("user", {"type": "tool_result", "tool_use_id": tool_id, "content": output})

    def end(self, words: str) -> None:
        """The last words, and the result line."""
        if words:
            self.say(words)
        usage = {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        result = {"total_cost_usd": COST_USD, "usage": usage, "is_error": False, "num_turns": self._tools + 1, "result": words}
        self._emit({**result, "type": "result", "subtype": "success", "terminal_reason": "completed", "session_id": self._id})

    @property
    def _id(self) -> str:
        return f"demo-{self.iteration}"

    def _message(self, role: str, block: dict[str, object]) -> None:
        message = {"role": role, "content": [block]}
        self._emit({"type": role, "message": message, "parent_tool_use_id": None, "session_id": self._id})

    def _emit(self, line: dict[str, object]) -> None:
        print(json.dumps(line), flush=True)  # noqa: T201 - its stdout is its voice
        if self._pause_s:
            time.sleep(self._pause_s)


# --- the words of a script: each does its deed and returns the agent's last words --------------------------------------


def work(session: Session) -> str:
    """Do the first open task."""
    return _do_task(session, broken=False)


def lie(session: Session) -> str:
    """Do nothing, and say that everything is complete."""
    session.use("Read", {"file_path": session.task_file}, "\n".join(_read_list(session)) or "(no such file)")
    return f"Everything in {session.task_file} is complete.\n\n{session.claim}"


def mention(session: Session) -> str:
    """Do the first open task, and speak of the claim without making it."""
    words = _do_task(session, broken=False)
    return f"{words}\n\nI cannot output {session.claim} yet, because other tasks are still open."


def break_(session: Session) -> str:
    """Do the first open task so that the gate fails."""
    return _do_task(session, broken=True)


def fix(session: Session) -> str:
    """Repair whatever `break` left behind."""
    repaired = [path for path, right, broken in map(_solution, _titles(session)) if _replace(path, broken, right)]
    for path in dict.fromkeys(repaired):
        session.use("Edit", {"file_path": path}, f"{path} has been updated.")
    _commit("Repair what the check found", *dict.fromkeys(repaired))
    return "I repaired what the check had found." if repaired else "I found nothing to repair."


def delete(session: Session) -> str:
    """Take the last open task off the list, commit that, and say that everything is complete."""
    lines = _read_list(session)
    still_open = [number for number, line in enumerate(lines) if _is_open(line)]
    if still_open:
        session.say("The last task is not needed any more, so I take it off the list.")
        del lines[still_open[-1]]
        _write_list(session, lines)
        session.use("Edit", {"file_path": session.task_file}, f"{session.task_file} has been updated.")
        _commit("Tidy up the list", session.task_file)
    return f"Everything in {session.task_file} is complete.\n\n{session.claim}"


def finish(session: Session) -> str:
    """Do the first open task, and claim to be done where that was the last one."""
    words = work(session)
    if any(map(_is_open, _read_list(session))):
        return words
    return f"{words}\n\nEvery task in {session.task_file} is done.\n\n{session.claim}"


def crash(session: Session) -> str:
    """Die in the middle of a turn."""
    session.say("Let me look at the list first.")
    sys.exit("demo agent: this crash stands in its script")


def empty(session: Session) -> str:  # noqa: ARG001 - it does not even look
    """Say nothing and change nothing."""
    return ""


def sleep(session: Session) -> str:
    """Go on until somebody ends it."""
    session.say("This will take a while.")
    while True:
        time.sleep(3600)


def wait(session: Session) -> str:
    """Ask the loop to wait for a person."""
    session.end("I need an answer before I can go on.")
    sys.exit(WAITING_EXIT_CODE)


WORDS: dict[str, Callable[[Session], str]] = {
    "work": work,
    "lie": lie,
    "mention": mention,
    "break": break_,
    "fix": fix,
    "delete": delete,
    "finish": finish,
    "crash": crash,
    "empty": empty,
    "sleep": sleep,
    "wait": wait,
}


# --- the list and the files -------------------------------------------------------------------------------------------


def _do_task(session: Session, *, broken: bool) -> str:
    """Write the file of the first open task, tick it, and report. Without a list each run is a task."""
    lines = _read_list(session)
    number = next((number for number, line in enumerate(lines) if _is_open(line)), None)
    if lines and number is None:
        return f"There is nothing left to do in {session.task_file}."
    title = _titles(session)[-1] if number is None else _title(lines[number])
    session.say(f"Next task: {title}")
    path, right, wrong = _solution(title)
    _append(path, wrong if broken else right)
    session.use("Write", {"file_path": path}, f"{path} has been written.")
    changed = [path]
    if number is not None:
        lines[number] = lines[number].replace("[ ]", "[x]", 1)
        _write_list(session, lines)
        session.use("Edit", {"file_path": session.task_file}, f"{session.task_file} has been updated.")
        changed.append(session.task_file)
    _commit(title, *changed)
    return f"Done: {title}"


def _titles(session: Session) -> list[str]:
    """The titles of all tasks so far; without a list each iteration is one."""
    found = [_title(line) for line in _read_list(session) if _TASK.match(line)]
    return found or [f"Iteration {number}" for number in range(1, session.iteration + 1)]


def _solution(title: str) -> tuple[str, str, str]:
    """The file that a task is about, the right piece of it, and a broken one."""
    for name, solution in SOLUTIONS.items():
        if f"`{name}`" in title:
            return solution
    slug = re.sub(r"\W+", "_", title).strip("_").lower()[:40] or "task"
    return f"{slug}.txt", f"done: {title}\n", f"broken: {title}\n"


def _is_open(line: str) -> bool:
    task = _TASK.match(line)
    return task is not None and task[1] == " "


def _title(line: str) -> str:
    task = _TASK.match(line)
    assert task is not None
    return task[2]


def _read_list(session: Session) -> list[str]:
    return _read(session.task_file).split("\n") if os.path.isfile(session.task_file) else []


def _write_list(session: Session, lines: list[str]) -> None:
    _write(session.task_file, "\n".join(lines))


def _append(path: str, piece: str) -> None:
    there = _read(path) if os.path.exists(path) else ""
    gap = "\n\n" if there and path.endswith(".py") else ""
    _write(path, there + gap + piece)


def _replace(path: str, old: str, new: str) -> bool:
    there = _read(path) if os.path.exists(path) else ""
    if old not in there:
        return False
    _write(path, there.replace(old, new))
    return True


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def _write(path: str, content: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(content)


def _commit(message: str, *paths: str) -> None:
    """Commit these files alone; where there is no git, or no repository, nothing is committed."""
    if paths and _git("add", "--", *paths):
        _git("-c", "user.name=Demo Agent", "-c", "user.email=demo@localhost", "commit", "--quiet", "-m", message, "--", *paths)


def _git(*arguments: str) -> bool:
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    try:
        child = os.posix_spawnp("git", ["git", *arguments], os.environ, file_actions=quiet)
    except OSError:
        return False
    return os.waitpid(child, 0)[1] == 0


# --- the program ------------------------------------------------------------------------------------------------------


def main(arguments: list[str]) -> None:
    """Play the word that the script has for this iteration."""
    flags = _flags(arguments)
    script = flags["--script"].split(",")
    unknown = [word for word in script if word not in WORDS]
    if unknown:
        sys.exit(f"error: option '--script' knows no word '{unknown[0]}': it knows {', '.join(WORDS)}")
    iteration = int(os.environ.get("RALPH_ITERATION", "1"))
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    session = Session(prompt, task_file=flags["--task-file"], iteration=iteration, pause_s=float(flags["--pause"]))
    session.end(WORDS[script[min(iteration, len(script)) - 1]](session))


def _flags(arguments: list[str]) -> dict[str, str]:
    """The flags, as `--flag value` or `--flag=value`; a wrong one ends the program, worded as Claude Code would."""
    flags = {"--script": "work", "--task-file": "PRD.md", "--pause": "0"}
    given = iter(arguments)
    for argument in given:
        flag, has_value, value = argument.partition("=")
        if flag not in flags:
            sys.exit(f"error: unknown option '{flag}'")
        flags[flag] = value if has_value else next(given, "")
    return flags


if __name__ == "__main__":
    main(sys.argv[1:])
