from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import ledger_samples as sample
import pytest

from ralphloop.ledger.queries import Queries
from ralphloop.ledger.store import Ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state home" / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    """A ledger with one loop, `loop-1`, of which this process is the writer."""
    with Ledger(path) as ledger:
        ledger.create_loop(sample.spec(), sample.ME, at=1.0)
        yield ledger


@pytest.fixture
def queries(path: Path) -> Iterator[Queries]:
    with Queries(path) as queries:
        yield queries
