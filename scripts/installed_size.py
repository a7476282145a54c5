"""Says what an installation of litefuse weighs, and which packages weigh it.

    python -m scripts.installed_size                      # of this Python
    python -m scripts.installed_size --limit 450          # exit code 1 above 450 MB

It counts the files that packages record as theirs, compiled modules included, in millions of bytes.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path

__all__ = ["check_limit", "installed_sizes", "table"]

#: What environments have from the beginning.
_TOOLS = frozenset({"pip", "setuptools", "wheel"})


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, help="folders of installed packages (those of this Python)")
    parser.add_argument("--limit", type=float, help="the megabytes that must not be exceeded")
    options = parser.parse_args(arguments)
    sizes = installed_sizes(options.folders or map(Path, sys.path))
    print(table(sizes))
    if options.limit is not None:
        check_limit(sizes, options.limit)


def installed_sizes(folders: Iterable[Path]) -> dict[str, int]:
    """Returns the bytes of each installed package, the largest first, without pip and the like.

    Args:
        folders: The folders that the packages are in.
    """
    found: dict[str, int] = {}
    for package in distributions(path=[str(folder) for folder in folders]):
        name = re.sub(r"[-_.]+", "-", package.metadata["Name"]).lower()
        if name not in _TOOLS and name not in found:  # the first one is imported
            found[name] = _size(package)
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


def table(sizes: Mapping[str, int], shown: float = 1e6) -> str:
    """The sizes as a table in Markdown; packages of less than ``shown`` bytes together in one row."""
    rows = [(name, size) for name, size in sizes.items() if size >= shown]
    if rest := [size for size in sizes.values() if size < shown]:
        rows.append((f"{len(rest)} others", sum(rest)))
    rows.append(("together", sum(sizes.values())))
    return "\n".join(["| package | MB |", "| --- | ---: |", *(f"| {name} | {size / 1e6:.1f} |" for name, size in rows)])


def check_limit(sizes: Mapping[str, int], limit: float) -> None:
    """Checks that packages are not larger than they may be.

    Args:
        sizes: The bytes of each.
        limit: The megabytes that they may have together.

    Raises:
        SystemExit: They are larger.
    """
    if (megabytes := sum(sizes.values()) / 1e6) > limit:
        largest = ", ".join(list(sizes)[:3])
        sys.exit(f"{megabytes:.1f} MB are installed, which is more than {limit:g} MB; the largest packages: {largest}")


def _size(package: Distribution) -> int:
    paths = {Path(str(file.locate())) for file in package.files or ()}
    return sum(path.stat().st_size for path in paths if path.is_file())


if __name__ == "__main__":
    main()
