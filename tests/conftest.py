"""Hypothesis profiles: CI is derandomised and bounded, `make soak` searches with random seeds."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("ci", derandomize=True, max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", derandomize=False, max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci")

pytest_plugins = ["ledger_fixtures", "project_fixtures"]
