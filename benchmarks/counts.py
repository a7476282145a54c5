"""What conversions of two small models come to, in numbers that are the same on every machine.

``python benchmarks/counts.py`` compares them with ``counts.json`` and fails where they differ: the ops of the output,
how often the engine was run, how many bytes it was given. ``--update`` writes the file; a change of it is a change to
talk about.
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import litefuse

MODELS = ("composite", "speech_gru")
_EXPECTED = Path(__file__).with_name("counts.json")


def main() -> None:
    """Converts, and compares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write what is counted as what is expected")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="litefuse-counts-") as folder:
        found = _text({name: _count(name, Path(folder, name)) for name in MODELS})
    if options.update:
        _EXPECTED.write_text(found)
    expected = _EXPECTED.read_text()
    if found != expected:
        lines = difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "counted", lineterm="")
        sys.exit("\n".join(["The counts have changed (--update writes them):", *lines]))
    print(found, end="")


def _count(name: str, source: Path) -> dict[str, Any]:
    make = [sys.executable, str(Path(__file__).with_name("models.py")), name, str(source)]
    done = subprocess.run(make, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[-4000:])
    report = litefuse.convert(source).report
    return {"ops": dict(report.op_counts), **report.counts}


def _text(counts: dict[str, Any]) -> str:
    return json.dumps(counts, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    main()
