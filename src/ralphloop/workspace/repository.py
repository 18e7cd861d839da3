"""Git, told exactly which repository to use and to run nothing of that repository's own.

The agent can write `.git` as well. Hooks, the file-system monitor and background maintenance would run its programs in Ralph's name, so they are off;
filters (`git lfs`) and signing stay as the user set them. The repository is found once and then named in every command: a `git init` in a
subdirectory, or a `GIT_DIR` in the environment, cannot make Ralph look at another one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ralphloop.core.ports import CallReport, Runner
from ralphloop.errors import ConfigError, WorkError

LOCAL_S = 120.0
NETWORK_S = 600.0

_GIT = (
    "git",
    "--no-optional-locks",
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "protocol.ext.allow=never"),
    *("-c", "core.quotePath=false"),
)
_SET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
_DROPPED = {
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_INDEX_FILE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
}
_NO_REPOSITORY = (b"not a git repository", b"must be run in a work tree")
_RALPH = ("-c", "user.name=Ralph", "-c", "user.email=ralph@localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """One repository and its working tree; paths in commands are relative to `top`."""

    runner: Runner
    env: Mapping[str, str]
    top: Path
    git_dir: Path

    def call(self, *args: str, stdin: bytes = b"", timeout_s: float = LOCAL_S, index: Path | None = None) -> CallReport:
        """Run one git command, perhaps on another index; a failure is a value."""
        env = self.env if index is None else {**self.env, "GIT_INDEX_FILE": str(index)}
        argv = (*_GIT, f"--git-dir={self.git_dir}", f"--work-tree={self.top}", *args)
        return self.runner.call(argv, cwd=self.top, env=env, timeout_s=timeout_s, stdin=stdin)

    def ask(self, *args: str, stdin: bytes = b"", index: Path | None = None) -> bytes:
        """What one git command prints; WorkError where it fails."""
        report = self.call(*args, stdin=stdin, index=index)
        if report.exit_code != 0:
            raise WorkError(f"git cannot work in {self.top}: {in_words(report)}; put that right and resume")
        return report.stdout

    def resolve(self, name: str) -> str | None:
        """The object that a name stands for, or None where there is no such name."""
        report = self.call("rev-parse", "--quiet", "--verify", name)
        return report.stdout.decode().strip() if report.exit_code == 0 else None

    def identity(self) -> tuple[str, ...]:
        """The options that a command needs to make a commit: none where git knows who the user is."""
        return () if self.call("var", "GIT_COMMITTER_IDENT").exit_code == 0 else _RALPH


def find_repository(root: Path, runner: Runner, env: Mapping[str, str]) -> Repository | None:
    """The repository whose working tree holds `root`; None where there is none or no git, ConfigError where git refuses it."""
    if shutil.which("git", path=env.get("PATH")) is None:
        return None
    env = {**{name: value for name, value in env.items() if name not in _DROPPED}, **_SET}
    places: list[Path] = []
    for question in ("--show-toplevel", "--absolute-git-dir"):
        report = runner.call((*_GIT, "rev-parse", question), cwd=root, env=env, timeout_s=LOCAL_S)
        if any(words in report.stderr for words in _NO_REPOSITORY):
            return None
        if report.exit_code != 0:
            raise ConfigError(f"git cannot be used in {root}: {in_words(report)}")
        places.append(Path(os.fsdecode(report.stdout.removesuffix(b"\n"))))
    top, git_dir = places
    return Repository(runner=runner, env=env, top=top, git_dir=git_dir)


def in_words(report: CallReport) -> str:
    """Why a git command failed, in one line: git's own complaint where it made one."""
    if report.error is not None:
        return report.error
    lines = [line.strip() for line in (report.stderr or report.stdout).decode(errors="replace").splitlines() if line.strip()]
    complaints = [line for line in lines if line.startswith(("fatal: ", "error: ", "! ["))]
    return (complaints or lines[-1:] or [f"exit code {report.exit_code}"])[0]
