"""How long to wait for a killed process to be gone: one that hangs in the kernel may never be."""

from __future__ import annotations

PATIENCE_S = 10.0
AGAIN_S = 1.0
"""How long where that was waited for already: what could not be ended then will not be now."""
