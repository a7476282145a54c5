"""``python -m suites.readers --folder FOLDER [--reader NAME KIND PYTHON]...``: litefuse's files in other readers.

Each model is converted in each form, and read by LiteRT's release in this environment and by each reader that is given,
with the Python of its environment. The exit code is 1 if a reader runs a file with other numbers, or refuses a
quantized one though it takes the stock converter's of the same model and form, as ``stock.json`` has it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.in_part import in_part

from suites.readers.campaign import (
    REFERENCE,
    failures,
    read_all,
    record_stock,
    stock_records,
    unnoticed,
)
from suites.readers.files import make_files
from suites.readers.models import MODELS
from suites.readers.page import PAGE, page, table
from suites.readers.reader import KINDS
from suites.readers.reading import Reader


def main(arguments: Sequence[str] | None = None) -> int:
    """Makes the files and has them read; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m suites.readers", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where files are written; it is empty")
    parser.add_argument("--only", default="", help="a regular expression of models' names")
    parser.add_argument("--part", action="store_true", help="one of three models, others in each turn of the tests")
    parser.add_argument("--stock", action="store_true", help="record what becomes of the stock converter's files")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument(
        "--reader", nargs=3, action="append", default=[], metavar=("NAME", "KIND", "PYTHON"), help=", ".join(KINDS)
    )
    given = parser.parse_args(arguments)
    if given.part:
        given.only = "|".join(f"^{re.escape(name)}$" for name in in_part(MODELS, 3))
    if given.only and (given.stock or given.write):
        parser.error("what is recorded is of all models: leave out --only and --part")
    given.folder.mkdir(parents=True, exist_ok=True)
    folder = given.folder.resolve()
    files, others = make_files(folder, {kind for _, kind, _ in given.reader}, given.only, stock=given.stock)
    with ExitStack() as stack:
        asked = [(REFERENCE, "litert", sys.executable), *given.reader]
        readers = [stack.enter_context(Reader(*each)) for each in asked]
        readings = read_all(readers, files)
        if given.stock:
            record_stock(read_all(readers, others))
        faults = [*unnoticed(readers, files)]
        versions = {each.name: each.version for each in readers}
    stock = stock_records()
    print("\n".join(table(files, readings)))
    if given.write:
        PAGE.write_text(page(files, readings, stock, versions), "utf-8")
    faults += failures(files, readings, stock, whole=not given.only)
    print("\n".join(["", *faults, f"{len(faults)} failures of {sum(map(len, readings.values()))} readings"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
