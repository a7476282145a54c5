"""Probes that do not work, in the place of ``litefuse.tools.environment.software``."""

from __future__ import annotations

import os
import time

from litefuse.errors import LitefuseError


def load_engine(_argument: object, announce: object) -> None:
    os.abort()


def run_small_model(_argument: object, announce: object) -> None:
    raise LitefuseError("it computes 2 x + 1 wrong")


def load_kernels(_argument: object, announce: object) -> None:
    time.sleep(60)
