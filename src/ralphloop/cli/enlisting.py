"""A loop that an agent starts is enlisted as a child of that agent's loop, before anything else is done: what is not, is swept when the agent ends.

Light: this is imported before the command line is read.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ralphloop.config.environment import current, outer_loop, state_home
from ralphloop.errors import ConfigError
from ralphloop.files.children import enlist, strike
from ralphloop.process.identity import own_identity, written

_entries: dict[int, str] = {}


def enlist_early() -> None:
    """Enlist before anything else is imported; what goes wrong is told when the loop begins, which tries again."""
    with suppress(ConfigError):
        enlist_self()


def enlist_self() -> None:
    """Write this process down among the children of the loop whose agent started it, if one did.

    ConfigError where it cannot be written: a loop that is not enlisted is ended with the agent's run.
    """
    environ = current()
    parent = outer_loop(environ)
    me = os.getpid()
    if parent is None or me in _entries:
        return
    if os.getpgrp() != me:
        os.setpgid(0, 0)  # out of the agent's group, which is ended as a whole when the agent is
    try:
        _entries[me] = enlist(state_home(environ), parent, me, written(own_identity()))
    except FileNotFoundError:  # that loop is not in this state home: it is no parent of ours
        return
    except OSError as error:
        raise ConfigError(f"this loop cannot be enlisted with {parent}, whose agent starts it: {error.strerror}: {error.filename}") from error


def strike_self() -> None:
    """Take the entry of this process away."""
    entry = _entries.pop(os.getpid(), None)
    if entry is not None:
        strike(entry)
