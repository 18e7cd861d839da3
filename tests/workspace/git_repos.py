"""Real git repositories for tests, with a home and a configuration of their own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ralphloop.core.ports import Runner
from ralphloop.process.signals import StopFlag
from ralphloop.process.supervise import Supervisor
from ralphloop.workspace.git import GitWorkspace
from ralphloop.workspace.repository import find_repository

RUNNER: Runner = Supervisor(StopFlag())


def git_env(home: Path) -> dict[str, str]:
    """An environment in which git finds no settings of the machine, and a user who has a name."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Repo:
    """A repository, with git at hand as its user would run it."""

    path: Path
    env: dict[str, str]

    def git(self, *args: str) -> str:
        """Run git; it must work."""
        report = RUNNER.call(("git", *args), cwd=self.path, env=self.env, timeout_s=60.0)
        assert report.exit_code == 0, (args, report)
        return report.stdout.decode(errors="surrogateescape").removesuffix("\n")

    def write(self, path: str, text: str) -> Path:
        """Write a file with its directories."""
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def commit(self, path: str, text: str, message: str = "work") -> str:
        """Write a file and commit it; the new commit."""
        self.write(path, text)
        self.git("add", "--force", "--", path)
        self.git("commit", "--quiet", "--message", message, "--", path)
        return self.git("rev-parse", "HEAD")

    def workspace(self, below: str = ".", runner: Runner = RUNNER) -> GitWorkspace:
        """The workspace in a directory of this repository."""
        root = self.path / below
        repository = find_repository(root, runner, self.env)
        assert repository is not None
        return GitWorkspace(root, repository)


def empty_repo(tmp_path: Path, name: str = "repo") -> Repo:
    """A repository without a commit."""
    path = tmp_path / name
    path.mkdir(parents=True)
    repo = Repo(path=path, env=git_env(tmp_path))
    repo.git("init", "--quiet", "--initial-branch=main")
    return repo


def repo_with_a_commit(tmp_path: Path) -> Repo:
    """A repository with one committed file, `a.txt`."""
    repo = empty_repo(tmp_path)
    repo.commit("a.txt", "one\n")
    return repo
