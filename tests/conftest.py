"""Hypothesis profiles: many examples here, the same ones every time in CI."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
settings.register_profile("laws", settings.get_profile("default"), max_examples=10_000)  # --hypothesis-profile=laws
settings.load_profile("ci" if os.environ.get("CI") else "default")
