"""Exports the tests of a peer: ``python -m suites.peers PEER --peer CHECKOUT --to FOLDER``."""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
from pathlib import Path

PEERS = ("tf2onnx", "coremltools", "keras")


def main() -> int:
    """Runs the peer's tests in a process with TensorFlow, and in another one where a test ends it."""
    parser = argparse.ArgumentParser(prog="python -m suites.peers", description=__doc__)
    parser.add_argument("suite", choices=PEERS)
    parser.add_argument("--peer", type=Path, required=True, help="a checkout of the peer's repository")
    parser.add_argument("--to", type=Path, required=True, help="the folder for the cases")
    parser.add_argument("--tests", type=int, help="how many tests to run, or 0 for all")
    parser.add_argument("--only", default="", help="an expression for pytest's -k")
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    given = sys.argv[1:]
    del sys.argv[1:]  # tf2onnx's tests read it
    if arguments.in_process:
        return _export(arguments)
    while True:
        code = subprocess.call([sys.executable, "-m", "suites.peers", *given, "--in-process"])
        if code >= 0:
            return code
        print(f"a test ended the process with signal {-code}; going on behind it", file=sys.stderr)


def _export(arguments: argparse.Namespace) -> int:
    peer = importlib.import_module(f"suites.peers.{arguments.suite}")
    arguments.to.mkdir(parents=True, exist_ok=True)
    arguments.to, arguments.peer = arguments.to.resolve(), arguments.peer.resolve()
    os.chdir(arguments.to)  # some tests write files where they are
    files = peer.prepare(arguments.peer)
    import pytest

    import tensorflow as tf
    from suites.peers.exporting import Exporter
    from suites.peers.sampling import Sampling

    exporter = Exporter(tf, arguments.to, arguments.suite)
    peer.replace(tf, exporter)
    tests = peer.CASES if arguments.tests is None else arguments.tests
    options = [
        "-q",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        "-c",
        os.devnull,
        f"--rootdir={arguments.peer}",
    ]
    selection = ["-k", arguments.only or peer.SELECTION]
    pytest.main([*options, *selection, *files], plugins=[Sampling(exporter, arguments.to, tests)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
