"""The real clients, and what a scripted model must say to each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from speech import Call, Reply

DONE = "<response>DONE</response>"
COMPLETE = "<promise>COMPLETE</promise>"

CODEX_CONFIG = """\
model = "gpt-5.5-codex"
model_provider = "loopback"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
[model_providers.loopback]
name = "loopback"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
request_max_retries = 1
stream_max_retries = 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One client: its environment, given a home and the model's URL; the calls of its tools; and how its provider fails.

    `writes`: as what Ralph shows the call of `new_file`.
    """

    name: str
    environ: Callable[[Path, str], dict[str, str]]
    key: str
    shell: Callable[[str], Call]
    new_file: Callable[[Path, str], Call]
    writes: str
    overloaded: Reply
    bad_request: Reply
    unauthorized: Reply
    out_of_credit: Reply
    unknown_model: Reply
    limited: Callable[[int], Reply]

    def __str__(self) -> str:
        return self.name


def _claude_environ(home: Path, url: str) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def _claude_limit(resets_at: int) -> Reply:
    """As for a subscription: the client reads these headers only where it has an OAuth token (2.1.325)."""
    unified = {
        "status": "rejected",
        "reset": str(resets_at),
        "representative-claim": "five_hour",
        "5h-status": "rejected",
        "5h-reset": str(resets_at),
        "5h-utilization": "1.0",
        "overage-status": "rejected",
        "overage-disabled-reason": "out_of_credits",
    }
    headers = {f"anthropic-ratelimit-unified-{name}": value for name, value in unified.items()}
    return Reply(status=429, error="rate_limit_error", text="This request would exceed your account's rate limit.", headers=headers)


def _codex_environ(home: Path, url: str) -> dict[str, str]:
    """Without the lines on analytics and features it looks for hosts beyond loopback, and where there are none, hangs 5 s at its exit (0.166.0)."""
    directory = home / ".codex"
    directory.mkdir(exist_ok=True)
    (directory / "config.toml").write_text(CODEX_CONFIG.format(url=url))
    return {"CODEX_HOME": str(directory), "LOOPBACK_KEY": "dummy"}


def _patch(path: Path, content: str) -> str:
    lines = "".join(f"+{line}\n" for line in content.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"


CLAUDE = Client(
    name="claude",
    environ=_claude_environ,
    key="ANTHROPIC_API_KEY",
    shell=lambda command: Call(name="Bash", input={"command": command, "description": "A step of the test"}),
    new_file=lambda path, content: Call(name="Write", input={"file_path": str(path), "content": content}),
    writes="Write",
    overloaded=Reply(status=529, error="overloaded_error", text="Overloaded"),
    bad_request=Reply(status=400, error="invalid_request_error", text="messages: something is wrong with them"),
    unauthorized=Reply(status=401, error="authentication_error", text="invalid x-api-key"),
    out_of_credit=Reply(status=400, error="invalid_request_error", text="Your credit balance is too low to access the Anthropic API."),
    unknown_model=Reply(status=404, error="not_found_error", text="model: no-such-model"),
    limited=_claude_limit,
)
CODEX = Client(
    name="codex",
    environ=_codex_environ,
    key="LOOPBACK_KEY",
    shell=lambda command: Call(name="exec_command", input={"cmd": command, "yield_time_ms": 30_000}),
    new_file=lambda path, content: Call(name="apply_patch", input=_patch(path, content)),
    writes="edit",
    overloaded=Reply(status=503, error="server_error", text="Overloaded"),
    bad_request=Reply(status=400, error="invalid_request_error", text="Something is wrong with the input."),
    unauthorized=Reply(status=401, error="invalid_api_key", text="Incorrect API key provided: dummy."),
    out_of_credit=Reply(status=429, error="insufficient_quota", text="You exceeded your current quota, please check your plan and billing details."),
    unknown_model=Reply(status=404, error="model_not_found", text="The model `no-such-model` does not exist or you do not have access to it."),
    limited=lambda resets_at: Reply(status=429, body={"error": {"type": "usage_limit_reached", "plan_type": "plus", "resets_at": resets_at}}),
)
