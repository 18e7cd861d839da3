from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from client import CLAUDE, CODEX
from program import Program
from room import Room

INSTALL = Path(__file__).parents[2] / "scripts" / "clients"
AT_ONCE = 2
"""How many clients run at once on a machine, however many workers, or people, test there: each takes a core and 200 MB."""


@pytest.fixture(scope="session")
def client_programs() -> Path:
    """The directory with the real clients, installed if need be."""
    return Path(subprocess.run([sys.executable, INSTALL], stdout=subprocess.PIPE, text=True, check=True).stdout.strip())


@pytest.fixture
def slot(client_programs: Path) -> Iterator[None]:
    """Leave to run a client."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    with (client_programs.parents[2] / f"slot-{worker % AT_ONCE}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(params=[CLAUDE, CODEX], ids=str)
def room(request: pytest.FixtureRequest, tmp_path: Path, client_programs: Path, slot: None) -> Iterator[Room]:  # noqa: ARG001 - held while the test runs
    """A room for each client."""
    program = Program(tmp_path)
    yield Room(program, request.param, client_programs)
    program.close()
