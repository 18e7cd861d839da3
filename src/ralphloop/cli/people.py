"""What people ask of a running loop: a row in the inbox, which the loop turns into an entry."""

from __future__ import annotations

import getpass
import time

from ralphloop.cli.finding import home
from ralphloop.files.places import ledger_path
from ralphloop.ledger.inbox import Inbox
from ralphloop.ledger.queries import LoopRow
from ralphloop.ledger.store import Ledger


def ask(row: LoopRow, kind: str, text: str) -> None:
    """Leave a request for that loop."""
    with Ledger(ledger_path(home())) as ledger:
        Inbox(ledger.database).put(row.id, kind, text, author=_me(), at=time.time())


def _me() -> str:
    """The name of the user; a user without one is a person all the same."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return "a person"
