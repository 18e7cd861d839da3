from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from program import Program


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """The installed program in a world of its own."""
    program = Program(tmp_path)
    yield program
    program.close()
