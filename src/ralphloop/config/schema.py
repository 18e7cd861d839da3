"""The canonical schema: every key that a settings file may hold, as a table. `*` stands for a name that the user chooses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ralphloop.core.model import Gate, Kind, OnFail, OwnPrice, Require

Value = str | int | float | bool | tuple[str, ...] | tuple[Gate, ...] | tuple[OwnPrice, ...]
STREAMS = ("text", "claude", "codex", "amp", "opencode", "gemini", "copilot", "qwen")


class Type(StrEnum):
    """What a value must be; `values.py` reads each."""

    TEXT = "text"
    CHOICE = "choice"
    SWITCH = "switch"
    COUNT = "count"
    NUMBER = "number"
    LIST = "list"
    FLAGS = "flags"
    SCM_TASKS = "scm tasks"
    TABLE = "table"
    GATES = "gates"
    PRICES = "prices"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One setting. `default` None: it depends on the kind of work, or there is none. `later`: choices of later versions."""

    type: Type
    help: str
    default: Value | None = None
    choices: tuple[str, ...] = ()
    later: tuple[str, ...] = ()


SCHEMA: dict[str, Key] = {
    "agent.command": Key(type=Type.TEXT, help="the agent's program, with arguments if it needs some"),
    "agent.type": Key(type=Type.TEXT, help="which adapter speaks to the agent; without it, the name of the program decides"),
    "agent.flags": Key(type=Type.FLAGS, help="flags for the agent; each entry is split as a shell would"),
    "agent.model": Key(type=Type.TEXT, help="the model that the agent uses"),
    "agent.format": Key(
        type=Type.CHOICE,
        default="stream",
        choices=("stream", "text"),
        help="what a known client is asked for: its stream of events, or its final words alone",
    ),
    "agent.env": Key(type=Type.TABLE, help="environment variables for the agent"),
    "agent.permissions": Key(
        type=Type.CHOICE,
        default="skip",
        choices=("skip", "edits", "ask"),
        help="skip every question, allow edits alone, or leave the agent's own rules",
    ),
    "agent.prompt_via": Key(type=Type.CHOICE, choices=("stdin", "arg", "file"), help="how the prompt reaches the agent"),
    "agent.timeout_s": Key(type=Type.NUMBER, default=3600.0, help="seconds after which an attempt is ended"),
    "agent.idle_timeout_s": Key(type=Type.NUMBER, default=900.0, help="seconds without output after which an attempt is ended"),
    "agent.grace_s": Key(type=Type.NUMBER, default=5.0, help="seconds between the polite and the hard end of an attempt"),
    "agents.*.command": Key(type=Type.TEXT, help="the program of that agent; a name that is no known agent's becomes one by it"),
    "agents.*.speaks": Key(type=Type.CHOICE, choices=STREAMS, help="for an agent of your own: the client whose stream it writes, or plain text"),
    "agents.*.prompt_via": Key(type=Type.CHOICE, choices=("stdin", "arg", "file"), help="as agent.prompt_via, when that agent runs"),
    "agents.*.flags": Key(type=Type.FLAGS, help="as agent.flags, when that agent runs"),
    "agents.*.env": Key(type=Type.TABLE, help="as agent.env, when that agent runs"),
    "agents.*.model": Key(type=Type.TEXT, help="as agent.model, when that agent runs"),
    "work.kind": Key(
        type=Type.CHOICE,
        choices=tuple(Kind),
        later=("stories", "specs"),
        help="where tasks come from",
    ),
    "work.task_file": Key(type=Type.TEXT, help="the Markdown task list of checklist work"),
    "work.prompt_file": Key(type=Type.TEXT, help="the prompt of prompt work, read anew for each iteration"),
    "work.task_dir": Key(type=Type.TEXT, help="the task directory of folder work: it holds TASK.md"),
    "work.template": Key(type=Type.TEXT, help="the file with the prompt template of checklist work"),
    "completion.text": Key(type=Type.TEXT, help="what the agent writes between the tags when everything is done"),
    "completion.require": Key(
        type=Type.CHOICE,
        default=str(Require.ANY),
        choices=tuple(Require),
        help="how strong a done must be to end the loop",
    ),
    "limits.iterations": Key(type=Type.COUNT, help="iterations of a loop"),
    "limits.attempts": Key(type=Type.COUNT, default=3, help="failed attempts of an iteration"),
    "limits.empty_retries": Key(type=Type.COUNT, default=2, help="new attempts after one that said and changed nothing"),
    "limits.calls": Key(type=Type.COUNT, help="agent processes of a loop"),
    "limits.minutes": Key(type=Type.NUMBER, default=0.0, help="minutes of work of a loop; waits do not count"),
    "limits.cost_usd": Key(type=Type.NUMBER, default=0.0, help="US dollars of a loop"),
    "limits.stall": Key(type=Type.COUNT, default=5, help="iterations in a row without progress"),
    "limits.instant_deaths": Key(type=Type.COUNT, default=10, help="attempts in a row that die at once"),
    "limits.delay_s": Key(type=Type.NUMBER, default=0.0, help="seconds between iterations"),
    "limits.backoff_s": Key(type=Type.NUMBER, default=1.0, help="seconds to wait after a failed attempt, doubling"),
    "limits.backoff_max_s": Key(type=Type.NUMBER, default=60.0, help="the longest such wait in seconds"),
    "limits.wait_timeout_s": Key(type=Type.NUMBER, default=300.0, help="seconds that complete folder work waits for its child loops"),
    "limits.poll_interval_s": Key(type=Type.NUMBER, default=1.0, help="seconds between two looks at them"),
    "limits.usage_waits": Key(type=Type.COUNT, default=20, help="waits for a usage limit in a loop"),
    "limits.usage_wait_hours": Key(type=Type.NUMBER, default=192.0, help="hours of such waits in a loop"),
    "gates": Key(type=Type.GATES, default=(), help="commands that must pass after an attempt"),
    "output.stream": Key(type=Type.SWITCH, default=True, help="show what the agent says as it says it"),
    "output.truncate_chars": Key(type=Type.COUNT, default=5000, help="characters of a gate's output in the next prompt"),
    "output.iteration_in_prompt": Key(type=Type.SWITCH, default=False, help="begin the prompt with the iteration line"),
    "output.color": Key(type=Type.CHOICE, default="auto", choices=("auto", "always", "never"), help="colours in the console"),
    "output.emoji": Key(type=Type.SWITCH, default=True, help="emoji in the console"),
    "output.timestamps": Key(type=Type.SWITCH, help="the time of day before each line; the log of a detached loop always has it"),
    "output.max_lines": Key(type=Type.COUNT, default=3, help="lines that are shown of what a tool put out; 0: none"),
    "output.max_chars": Key(type=Type.COUNT, default=400, help="characters that are shown of what a tool put out; 0: none"),
    "prices": Key(type=Type.PRICES, default=(), help="what models cost, where their agents report tokens alone; before Ralph's own table"),
    "scm.command": Key(type=Type.CHOICE, default="git", choices=("git",), help="the source control program"),
    "scm.tasks": Key(type=Type.SCM_TASKS, default=(), help="what follows green gates, in order: commit, push, merge BRANCH"),
    "scm.message": Key(type=Type.TEXT, default="Ralph: iteration {iteration}", help="the commit message"),
    "protect": Key(type=Type.LIST, default=(), help="files that the agent cannot change, beside the settings themselves"),
}

GATE_KEYS: dict[str, Key] = {
    "command": Key(type=Type.TEXT, help="the shell command"),
    "on_fail": Key(type=Type.CHOICE, choices=tuple(OnFail), help="where the failure stands in the next prompt"),
    "hint": Key(type=Type.TEXT, help="advice for the agent when it fails"),
    "timeout_s": Key(type=Type.NUMBER, help="seconds after which it counts as failed"),
}

PRICE_KEYS: dict[str, Key] = {
    "model": Key(type=Type.TEXT, help="the beginning of the model's name; or the name of an agent whose model is not known"),
    "input": Key(type=Type.NUMBER, help="US dollars for a million tokens that are read, and are in no cache"),
    "output": Key(type=Type.NUMBER, help="the same for what is written"),
    "cache_read": Key(type=Type.NUMBER, help="the same for what is read from a cache; as input, if not given"),
    "cache_write": Key(type=Type.NUMBER, help="the same for what is put into a cache; as input, if not given"),
}

Path = tuple[str, ...]


def pattern(path: Path) -> Path:
    """The path with names that users choose replaced by `*`."""
    return ("agents", "*", *path[2:]) if path[:1] == ("agents",) and len(path) > 1 else path


def dotted(path: Path) -> str:
    """The path as it is written in messages."""
    return ".".join(path)


def split(name: str) -> Path:
    """The path of a dotted name."""
    return tuple(name.split("."))
