"""The error tree: who is to blame, what to do, and the exit code.

RalphError
├── ConfigError     2   a flag, file or value is wrong; nothing was started, nothing written
│   ├── LoopBusy    2   the loop is alive in another process
│   └── NoWorkFound 2   nothing says what to work on
├── WorkError       4   the work cannot be read: the loop ends with outcome *failed*
│   └── WorkUnclear 4   it can be read, and nobody but a person can say what it means
├── LedgerError     4   the ledger cannot be used: full disk, damaged or newer file, no permission
│   └── Fenced      4   another process has taken the loop over
└── (anything else) 70  a bug of Ralph's own: a report is written and its path printed
"""

from __future__ import annotations


class RalphError(Exception):
    """Something is wrong that a person can put right: the message says what, where, and what to do."""

    exit_code = 4


class ConfigError(RalphError):
    """A flag, a file or a value is wrong; nothing was started and nothing was written."""

    exit_code = 2


class LoopBusy(ConfigError):
    """The loop is alive in another process."""


class NoWorkFound(ConfigError):
    """Nothing says what to work on."""


class WorkError(RalphError):
    """The work cannot be read."""


class WorkUnclear(WorkError):
    """The work can be read, and nobody but a person can say what it means: putting files back does not help."""


class LedgerError(RalphError):
    """The ledger cannot be used."""


class Fenced(LedgerError):
    """Another process has taken this loop over; this one must end without writing."""
