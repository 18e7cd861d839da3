from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from strays import NOBODY, Den


@pytest.fixture
def den(request: pytest.FixtureRequest) -> Iterator[Den]:
    """A den for this user; indirectly parametrized with "nobody", one for a plain user."""
    path = Path(tempfile.mkdtemp()).resolve()
    who = getattr(request, "param", "this user")
    if who == "nobody":
        os.chown(path, NOBODY, NOBODY)
    den = Den(path, who)
    yield den
    den.clear()
    shutil.rmtree(path)
