"""What holds for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# How busy the machine is decides no test.
settings.register_profile("oulibench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("oulibench")
