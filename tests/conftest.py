"""Hypothesis profiles: CI is derandomised and bounded, `make soak` searches with random seeds. And signals as a terminal has them."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

settings.register_profile("ci", derandomize=True, max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", derandomize=False, max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci")

pytest_plugins = ["ledger_fixtures", "project_fixtures"]

# Who runs the tests in the background has Ctrl-C ignored, and so would every program that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
