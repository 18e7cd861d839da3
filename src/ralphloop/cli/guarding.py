"""The way from a command line that has been checked to a loop under its guardian. Nothing heavy is imported before the fork."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from ralphloop.cli.enlisting import enlist_self, strike_self
from ralphloop.process.guardian import Guarded, split
from ralphloop.sessions.detached import Announcer, detach


class Hosting(NamedTuple):
    """What the process of a loop was born with. `announcer`: it is detached, and somebody waits to hear that it runs."""

    guarded: Guarded
    announcer: Announcer | None


def in_loop_process(main: str, *, detached: bool = False, **options: Any) -> int:
    """Run `module:function` in the process of a loop, with a guardian above it; its exit code."""
    announcer = detach() if detached else None
    if isinstance(announcer, int):
        return announcer
    enlist_self()  # this process is going to be the guardian
    guarded = split(strike_self, quiet=detached)
    module, _, name = main.partition(":")
    code = getattr(import_module(module), name)(Hosting(guarded=guarded, announcer=announcer), **options)
    assert isinstance(code, int)
    return code
