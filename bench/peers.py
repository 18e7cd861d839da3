"""Other programs that run an agent in a loop, measured beside ours: each in an environment of its own, with the same agent."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

AGENT = "/bin/echo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A program of the package index: what its project holds, and how it is told to turn so often."""

    package: str
    version: str
    files: dict[str, str]
    commands: Callable[[int], tuple[list[str], ...]]


PEERS = (
    Peer(
        package="ralph-loop",
        version="0.6.0",
        files={},
        commands=lambda times: (["init"], ["run", "-a", "claude", "-m", str(times)]),
    ),
    Peer(
        package="ralphify",
        version="0.3.0",
        files={"RALPH.md": f"---\nagent: {AGENT} working\n---\nDo it.\n"},
        commands=lambda times: (["run", ".", "-n", str(times)],),
    ),
)


def installed(home: Path) -> Iterator[tuple[Peer, Path]]:
    """The peers that can be had here, each with its command; offline there are none."""
    clients = home / "clients"
    clients.mkdir()
    (clients / "claude").symlink_to(AGENT)
    for peer in PEERS:
        environment = home / peer.package
        make = [sys.executable, "-m", "venv", str(environment)]
        fill = [str(environment / "bin" / "pip"), "install", "-q", f"{peer.package}=={peer.version}"]
        if all(subprocess.run(command, capture_output=True, check=False).returncode == 0 for command in (make, fill)):
            yield peer, environment / "bin" / "ralph"


def loop_of(peer: Peer, ralph: Path, home: Path) -> Callable[[int], None]:
    """A loop of that many turns, each time in a new project."""
    environ = {"PATH": f"{home / 'clients'}:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}

    def turn(times: int) -> None:
        project = Path(tempfile.mkdtemp(dir=home))
        for path, content in peer.files.items():
            (project / path).write_text(content)
        for arguments in peer.commands(times):
            subprocess.run([ralph, *arguments], cwd=project, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=False)

    return turn
