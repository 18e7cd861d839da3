"""A loop that an agent starts is enlisted as a child of that agent's loop, before anything else is done: what is not, is swept when the agent ends.

Light: this is imported before the command line is read.
"""

from __future__ import annotations

import os

from ralphloop.config.environment import current, outer_loop, state_home
from ralphloop.files.children import enlist, strike
from ralphloop.process.identity import own_identity, written

_entries: dict[int, str] = {}


def enlist_self() -> str | None:
    """The entry of this process among the children of the loop whose agent started it; None where no agent did."""
    environ = current()
    parent = outer_loop(environ)
    me = os.getpid()
    if parent is None or me in _entries:
        return _entries.get(me)
    if os.getpgrp() != me:
        os.setpgid(0, 0)  # out of the agent's group, which is ended as a whole when the agent is
    try:
        _entries[me] = enlist(state_home(environ), parent, me, written(own_identity()))
    except OSError:  # that loop is not in this state home: it is no parent of ours
        return None
    return _entries[me]


def strike_self() -> None:
    """Take the entry of this process away."""
    entry = _entries.pop(os.getpid(), None)
    if entry is not None:
        strike(entry)
