"""Says what an installation of litefuse weighs, and which packages weigh it.

    python -m scripts.installed_size                      # of this Python
    python -m scripts.installed_size --limit 450          # exit code 1 above 450 MB

It counts the files that packages bring, in millions of bytes, and apart from them the bytecode that pip makes of their
modules (``pip install --no-compile`` and uv make none). The limit is for what packages bring.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import NamedTuple

#: What environments have from the beginning.
_TOOLS = frozenset({"pip", "setuptools", "wheel"})


class Size(NamedTuple):
    """Bytes of a package.

    Attributes:
        files: Of the files that it brings.
        bytecode: Of the compiled forms of its modules.
    """

    files: int
    bytecode: int


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, help="folders of installed packages (those of this Python)")
    parser.add_argument("--limit", type=float, help="the megabytes that must not be exceeded")
    options = parser.parse_args(arguments)
    sizes = installed_sizes(options.folders or map(Path, sys.path))
    print(table(sizes))
    if options.limit is not None:
        check_limit(sizes, options.limit)


def installed_sizes(folders: Iterable[Path]) -> dict[str, Size]:
    """Returns the sizes of each installed package, the largest first, without pip and the like.

    Args:
        folders: The folders that the packages are in.
    """
    found: dict[str, Size] = {}
    for package in distributions(path=[str(folder) for folder in folders]):
        name = re.sub(r"[-_.]+", "-", package.metadata["Name"]).lower()
        if name not in _TOOLS and name not in found:  # the first one is imported
            found[name] = _size(package)
    return dict(sorted(found.items(), key=lambda each: (-each[1].files, each[0])))


def table(sizes: Mapping[str, Size], shown: float = 1e6) -> str:
    """The sizes as a table in Markdown; packages of less than ``shown`` bytes together in one row."""
    rows = [(name, size) for name, size in sizes.items() if size.files >= shown]
    if rest := [size for size in sizes.values() if size.files < shown]:
        rows.append((f"{len(rest)} others", _together(rest)))
    rows.append(("together", _together(sizes.values())))
    lines = [f"| {name} | {size.files / 1e6:.1f} | {size.bytecode / 1e6:.1f} |" for name, size in rows]
    return "\n".join(["| package | MB | bytecode |", "| --- | ---: | ---: |", *lines])


def _together(sizes: Iterable[Size]) -> Size:
    each = [*sizes]
    return Size(sum(size.files for size in each), sum(size.bytecode for size in each))


def check_limit(sizes: Mapping[str, Size], limit: float) -> None:
    """Checks that packages are not larger than they may be.

    Args:
        sizes: The sizes of each.
        limit: The megabytes that their files may have together.

    Raises:
        SystemExit: They are larger.
    """
    if (megabytes := _together(sizes.values()).files / 1e6) > limit:
        largest = ", ".join(list(sizes)[:3])
        sys.exit(f"{megabytes:.1f} MB are installed, which is more than {limit:g} MB; the largest packages: {largest}")


def _size(package: Distribution) -> Size:
    sizes = {path: path.stat().st_size for path in _files(package) if path.is_file()}
    bytecode = sum(size for path, size in sizes.items() if path.suffix == ".pyc")
    return Size(sum(sizes.values()) - bytecode, bytecode)


def _files(package: Distribution) -> set[Path]:
    """Returns what a package records as its own, and bytecode that it does not record because Python made it later."""
    recorded = {Path(str(file.locate())) for file in package.files or ()}
    modules = (path for path in recorded if path.suffix == ".py")
    return recorded | {Path(importlib.util.cache_from_source(str(path))) for path in modules}


if __name__ == "__main__":
    main()
