"""Starts Model Explorer with a model, in a process of its own."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from litefuse.errors import LitefuseError
from litefuse.tools.explorer.node_data import NodeData
from litefuse.tools.explorer.nodes import ADAPTER, explorer_graphs

#: The server listens on this machine alone.
HOST = "localhost"
_FIRST_PORT, _PORTS = 8080, 20
_PACKAGE = "model_explorer"
_SERVING = "litefuse.tools.explorer.serving"
# The seconds that the server has to end.
_PATIENCE = 5.0


def show_model(model: Path, data: Sequence[NodeData] = (), *, port: int | None = None) -> None:
    """Shows a model in Model Explorer, until the user interrupts it.

    Args:
        model: The ``.tflite`` file.
        data: Values to show at its nodes.
        port: The port of the server, where no browser is opened; None for the first free one from 8080 on.

    Raises:
        InterpreterError: The file cannot be read, is not a LiteRT model, or is damaged.
        LitefuseError: Model Explorer is not installed, the port is taken, or the server dies.
    """
    check_installed()
    explorer_graphs(model)  # a damaged file would end the server
    job = {
        "model": str(model.absolute()),
        "adapter": ADAPTER,
        "data": [[_shown(values.name), values.to_json()] for values in data],
        "host": HOST,
        "port": _free_port(port),
        "opens": port is None,
    }
    # Not in this process: the package brings TensorFlow's libraries along, and ends its process where it is at a loss.
    server = subprocess.Popen([sys.executable, "-m", _SERVING], stdin=subprocess.PIPE, text=True)
    assert server.stdin is not None
    try:
        # The pipe stays open: the server ends with this process, however that ends.
        with contextlib.suppress(BrokenPipeError):
            server.stdin.write(f"{json.dumps(job)}\n")
            server.stdin.flush()
        code = server.wait()
    finally:
        _end(server)
    if code not in {0, -signal.SIGINT, 128 + signal.SIGINT}:
        ended = f"by {signal.Signals(-code).name}" if code < 0 else f"with the exit code {code}"
        raise LitefuseError(f"Model Explorer ended {ended}", where=str(model), hint="Its own messages are above.")


def _end(server: subprocess.Popen[str]) -> None:
    """Ends the server as the user would, which has it remove its temporary files."""
    if server.poll() is None:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
    with contextlib.suppress(BrokenPipeError):
        assert server.stdin is not None
        server.stdin.close()


def check_installed() -> None:
    """Checks that Model Explorer is there.

    Raises:
        LitefuseError: It is not installed.
    """
    if importlib.util.find_spec(_PACKAGE) is None:
        raise LitefuseError(
            "Model Explorer is not installed",
            hint='Install it: pip install "litefuse[explorer]". Or write the values of nodes for another: -o FOLDER.',
        )


def _free_port(port: int | None) -> int:
    """Returns the port to use; raises a LitefuseError if it is taken, or all of those that are tried."""
    tried = range(_FIRST_PORT, _FIRST_PORT + _PORTS) if port is None else [port]
    for candidate in tried:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as place:
            place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                place.bind((HOST, candidate))
            except OSError:
                continue
            return candidate
    taken = f"port {port} is" if port is not None else f"the ports {_FIRST_PORT} to {_FIRST_PORT + _PORTS - 1} are"
    raise LitefuseError(f"{taken} taken on this machine", hint="Choose another one with --port.")


def _shown(name: str) -> str:
    """Returns a name without what would end it in the addresses that Model Explorer makes of names."""
    return name.replace("/", "_").encode("utf-8", "backslashreplace").decode()
