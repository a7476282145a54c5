"""Checks that what is committed can be released, and tags it.

    python -m scripts.release --dry-run                              # all checks, no tag
    python -m scripts.release --python python3.10 --python python3.14

The tree is clean, version and CHANGELOG.md agree, and the tag is new. The source distribution has what is in the
repository, packages that are built twice, in different folders, have the same bytes, the package index can show their
descriptions, and they work in empty environments. Then the commit gets the tag; when that is pushed,
``.github/workflows/release.yml`` builds the packages once more and publishes them.

It takes the packages of ``scripts/requirements.txt``.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import platform
import re
import runpy
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts.build_wheels import MACHINES, ROOT, run
from scripts.build_wheels import main as build
from scripts.try_wheel import try_package

# What the source distribution has beside the files of the repository.
_MADE = frozenset({"PKG-INFO"})


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--dry-run", action="store_true", help="check only; do not tag")
    parser.add_argument("--python", action="append", help="an interpreter to try the wheel with; may be repeated")
    parser.add_argument("--for", dest="machines", action="append", choices=[*MACHINES], help="these wheels only")
    options = parser.parse_args(arguments)
    version = str(runpy.run_path(str(ROOT / "src" / "litefuse" / "version.py"))["__version__"])
    tag = f"v{version}"
    step("the tree is clean")
    if changed := git("status", "--porcelain"):
        sys.exit(f"these files are not committed:\n{changed}")
    step(f"CHANGELOG.md has {version}")
    if problem := changelog_problem((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version):
        sys.exit(problem)
    step(f"{tag} is new")
    if git("tag", "--list", tag):
        sys.exit(f"there is a tag {tag} already: raise the version in src/litefuse/version.py")
    machines = [word for machine in options.machines or MACHINES for word in ("--for", machine)]
    with tempfile.TemporaryDirectory(prefix="litefuse-") as name:
        first, second = Path(name, "first"), Path(name, "second")
        for folder in (first, second):
            step(f"build the packages ({folder.name} time)")
            build(["-o", str(folder), *machines])
        step("both times, the bytes are the same")
        if different := differing(checksums(first), checksums(second)):
            sys.exit(f"these packages are not built reproducibly: {', '.join(different)}")
        (sdist,) = first.glob("*.tar.gz")
        step("the source distribution has what is in the repository")
        if unlike := unlike_repository(git("ls-files").splitlines(), packed(sdist)):
            sys.exit("\n".join(unlike))
        step("the descriptions can be shown")
        print(run(sys.executable, "-m", "twine", "check", "--strict", *(str(each) for each in first.iterdir())))
        pythons = options.python or [sys.executable]
        for wheel in sorted(first.glob(f"*_{platform.machine()}.whl")):
            for python in pythons:
                step(f"try {wheel.name} with {python}")
                print(f"works with Python {try_package(wheel, python)}", flush=True)
        step(f"try {sdist.name} with {pythons[0]}")
        try_package(sdist, pythons[0], native=True)
        print("\n".join(f"{value}  {file}" for file, value in checksums(first).items()))
    if options.dry_run:
        print(f"all is well; without --dry-run, the commit would get the tag {tag}")
        return
    git("tag", "--annotate", tag, "--message", f"litefuse {version}")
    print(f"the commit has the tag {tag}; git push origin {tag} publishes the release")


def step(what: str) -> None:
    print(f"==> {what}", flush=True)


def git(*arguments: str) -> str:
    """Runs git in the repository; returns what it prints."""
    return run("git", "-C", str(ROOT), *arguments).strip()


def changelog_problem(text: str, version: str) -> str | None:
    """Returns what is wrong with the changelog for a release; None if nothing is.

    Args:
        text: The changelog: a heading ``## VERSION - YYYY-MM-DD`` for each version, the newest first.
        version: The version to be released.
    """
    headings = [line.removeprefix("## ").strip() for line in text.splitlines() if line.startswith("## ")]
    sections = re.split(r"^## .*$", text, flags=re.MULTILINE)[1:]
    for heading, section in zip(headings, sections, strict=True):
        found = re.fullmatch(r"\[?([^\]\s]+)\]?(?:\s+[-–(]*\s*(\d{4}-\d{2}-\d{2})\)?)?", heading)  # noqa: RUF001  a dash
        if found is None:
            return f"CHANGELOG.md: ## {heading} is no heading of a version"
        if found[1].lower() == "unreleased":
            if section.strip():
                return f"CHANGELOG.md has changes under ## {heading}: move them under ## {version}"
            continue
        if found[1] != version:
            return f"CHANGELOG.md has ## {heading} first; version.py says {version}"
        if found[2] is None:
            return f"CHANGELOG.md: ## {heading} has no date, as in ## {version} - {dt.date.today()}"
        try:
            dt.date.fromisoformat(found[2])
        except ValueError:
            return f"CHANGELOG.md: {found[2]} is no date"
        return None if section.strip() else f"CHANGELOG.md has no changes under ## {heading}"
    return f"CHANGELOG.md has no heading ## {version}"


def checksums(folder: Path) -> dict[str, str]:
    """Returns the SHA-256 of each file in a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def differing(first: dict[str, str], second: dict[str, str]) -> list[str]:
    """Returns the files that two folders do not share, or whose checksums differ."""
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def packed(sdist: Path) -> list[str]:
    """Returns the files of a source distribution, without the folder that they are in."""
    with tarfile.open(sdist) as archive:
        return [member.name.partition("/")[2] for member in archive.getmembers() if not member.isdir()]


def unlike_repository(tracked: Iterable[str], packed: Iterable[str]) -> list[str]:
    """Returns how the files of a source distribution differ from those of the repository, one line for each."""
    expected, found = {*tracked}, {*packed} - _MADE
    missing = [f"the source distribution lacks {name}" for name in sorted(expected - found)]
    return [*missing, *(f"the source distribution has {name} too" for name in sorted(found - expected))]


if __name__ == "__main__":
    main()
