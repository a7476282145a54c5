"""What holds for all tests."""

from __future__ import annotations

import signal

from hypothesis import settings

# Tests are about results, not about the time that a busy machine takes for them.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A shell that starts the tests in the background has them ignore interrupts, which some are about.
signal.signal(signal.SIGINT, signal.default_int_handler)
