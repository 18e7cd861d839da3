"""The process environment: read here and nowhere else. Imports only `os`, because `ralph status` starts through it."""

# pathlib, and collections.abc for better annotations, cost more than `status` can spare.
# ruff: noqa: PTH100, PTH111, PTH117, PTH118
import os

RUN_ID = "RALPH_RUN_ID"
TASK_FOLDER = "TASK_FOLDER"  # without an outer loop it is the user's own
GATES = "gates"
OUTER_LOOP = frozenset({"RALPH_LOOP", "RALPH_ITERATION", RUN_ID, "RUN_FOLDER"})
"""What Ralph tells the processes that it starts, beside RALPH_STATE_HOME: never a setting, and not handed on by a loop inside a loop."""

# A client that runs Ralph marks its own session; an agent that inherits the marks believes that it runs inside that session.
# Exact names: CLAUDE_CODE_MAX_RETRIES and its like are the user's settings of the client and stay.
SESSION_MARKERS = frozenset({"CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID"})

SETTING_PREFIX = "RALPH_"
SETTING_SEPARATOR = "__"
SEED_PREFIX = "RLOOP_"


def current() -> dict[str, str]:
    """A copy of the environment of this process."""
    return dict(os.environ)


def is_setting(name: str) -> bool:
    """Whether a variable of this name is a setting of Ralph's, known or not."""
    return name.startswith(SEED_PREFIX) or (name.startswith(SETTING_PREFIX) and SETTING_SEPARATOR in name)


def state_home(environ: dict[str, str]) -> str:
    """The absolute directory of the ledger and of the artifacts."""
    if chosen := environ.get("RALPH_STATE_HOME"):
        return os.path.abspath(chosen)
    xdg = environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(xdg):  # the XDG specification: a relative path is to be ignored
        return os.path.join(xdg, "ralph")
    return os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".local", "state", "ralph")


def tool_environment(environ: dict[str, str]) -> dict[str, str]:
    """The complete environment for git and for gates: the user's, without session markers, settings, and the names of an outer loop."""
    left_out = SESSION_MARKERS | OUTER_LOOP | ({TASK_FOLDER} if RUN_ID in environ else frozenset())
    return {name: value for name, value in environ.items() if name not in left_out and not is_setting(name)}


def agent_environment(environ: dict[str, str], extra: dict[str, str], context: dict[str, str]) -> dict[str, str]:
    """The complete environment for an agent: the tools' environment, then what the settings add, then the context names."""
    return {**tool_environment(environ), **extra, **context}


def outer_loop(environ: dict[str, str]) -> str | None:
    """The id of the loop whose agent started this process, as far as the environment tells; a gate's loops are no children of a loop."""
    loop_id, _, run = environ.get(RUN_ID, "").partition("/")
    return None if loop_id in {"", ".", ".."} or run.endswith(GATES) else loop_id
