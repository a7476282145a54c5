"""Converts and measures public architectures: docs/reference/models.md has the results.

``pip install -e '.[test,bench]' && pip install --no-deps -r tests/requirements.txt``, then
``python -m benchmarks.architectures``. Each model's results are a file in ``benchmarks/architectures/measured``, which
gets each stage when it is done: another run measures what is missing. All of it takes about an hour.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.architectures.catalog import ARCHITECTURES, Architecture
from benchmarks.architectures.measuring import STAGES, Limits, Work, measure_stages
from benchmarks.architectures.page import MEASURED, read
from benchmarks.process import machine

from litefuse.support.files.whole_file import whole_file


def main(arguments: Sequence[str] | None = None, architectures: Mapping[str, Architecture] = ARCHITECTURES) -> None:
    """Measures what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="models (default: all)")
    parser.add_argument("--stages", default=",".join(STAGES), metavar="A,B", help="%(default)s")
    parser.add_argument("--again", action="store_true", help="measure what was measured before, too")
    parser.add_argument("--failed", action="store_true", help="measure what failed before, too")
    parser.add_argument("--folder", type=Path, help="where models are kept, 20 GB of them (default: nowhere)")
    parser.add_argument("--measured", type=Path, default=MEASURED, help="where the results are")
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="the limit of each process")
    parser.add_argument(
        "--memory", type=float, default=Limits.memory / 1e9, metavar="GB", help="the same of its memory"
    )
    options = parser.parse_args(arguments)
    stages: list[str] = options.stages.split(",") if options.stages else []
    if unknown := [*(set(stages) - set(STAGES)), *(set(options.names) - set(architectures))]:
        parser.error(f"there is no {unknown[0]!r}")
    options.measured.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="litefuse-architectures-") as temporary:
        folder = options.folder or Path(temporary)
        for name in options.names or architectures:
            file = options.measured / f"{file_name(name)}.json"
            row = read(file) if file.exists() else {"model": name}
            wanted = [
                each
                for each in stages
                if options.again or each not in row or (options.failed and "failure" in row[each])
            ]
            if not wanted:
                continue
            row["machine"] = machine()
            work = Work(
                architectures[name], folder / file_name(name), Limits(options.seconds, round(options.memory * 1e9))
            )
            for stage, found in measure_stages(work, wanted):
                print(f"{name}: {stage}, {found.get('failure') or 'done'}, {found['took']} s", file=sys.stderr)
                row[stage] = found
                with whole_file(file) as partial:
                    partial.write_text(json.dumps(row, indent=1) + "\n", "utf-8")
            if options.folder is None:
                shutil.rmtree(work.folder)


def file_name(name: str) -> str:
    """The name of an architecture as that of a file."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


if __name__ == "__main__":
    main()
