"""The reproducers that need a process of their own, each in a fork of one that has loaded the engine and the runtime.

Run as a module, with the ids of faults as arguments. It writes what was found out of each, in JSON: ``there``,
``gone``, or the text of an error.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback

from litefuse.ir.mlir import mlir_context
from tests.ir.engine.faults.reproducer import REPRODUCERS


def find_out(fault: str) -> str:
    """What a fork finds out of a fault."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        os.write(writer, _found(fault).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        found = stream.read()
    status = os.waitpid(child, 0)[1]
    if found:
        return found
    return "there" if REPRODUCERS[fault].kills else f"the process ended with the status {status}"


def _found(fault: str) -> str:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)  # what the engine prints when it dies
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with mlir_context():
            return "there" if REPRODUCERS[fault].run() is True else "gone"
    except BaseException:  # noqa: BLE001  whatever it is, the test shows it
        return traceback.format_exc()


if __name__ == "__main__":
    json.dump({fault: find_out(fault) for fault in sys.argv[1:]}, sys.stdout)
