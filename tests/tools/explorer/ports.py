"""Ports of this machine."""

from __future__ import annotations

import socket
from collections.abc import Generator
from contextlib import contextmanager

from litefuse.tools.explorer.viewer import HOST


@contextmanager
def free_port(*, taken: bool = False) -> Generator[int]:
    """A port of this machine, which is in use within the context if it is to be taken."""
    with socket.socket() as place:
        place.bind((HOST, 0))
        if taken:
            place.listen()
            yield place.getsockname()[1]
            return
        port = place.getsockname()[1]
    yield port
