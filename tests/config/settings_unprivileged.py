"""Loads the settings of a project without special rights, and prints what it is told. usage: settings_unprivileged.py PROJECT"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ralphloop.config.layers import load_layers
from ralphloop.errors import ConfigError

NOBODY = 65534

if __name__ == "__main__":
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        load_layers(Path(sys.argv[1]), {}, {})
        sys.stdout.write("loaded")
    except ConfigError as error:
        sys.stdout.write(f"ConfigError: {error}")
