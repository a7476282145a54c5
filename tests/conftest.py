"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# Tests are about results, not about the time that a busy machine takes for them.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
