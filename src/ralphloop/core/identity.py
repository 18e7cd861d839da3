"""Which process: on the path of `ralph status`, so it imports nothing but what Python has loaded anyway."""

from __future__ import annotations

from typing import NamedTuple


class ProcessIdentity(NamedTuple):
    """A process, known for certain: a bare pid is reused, a pid that started at this tick of this boot is not."""

    boot_id: str
    pid: int
    started: str
