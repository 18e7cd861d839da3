"""How long to wait for a killed process to be gone: one that hangs in the kernel may never be."""

from __future__ import annotations

PATIENCE_S = 10.0
