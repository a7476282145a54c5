"""Tries a wheel in empty environments, one for each Python, as somebody who installs it.

    python -m scripts.try_wheel dist/litefuse-*manylinux*x86_64.whl python3.10 python3.14
    python -m scripts.try_wheel dist/litefuse-*.tar.gz             # the source distribution, with this Python

For each Python: nothing but the package and what it depends on is installed, it weighs no more than it may, its native
kernels are those of the wheel, a small model runs, ``litefuse demo`` computes what TensorFlow computes, and without the
lowering engine a converted file still runs. Packages come from the index that pip is set up with.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from scripts.installed_size import check_limit, installed_sizes, table

#: The megabytes that an installation may have.
LIMIT = 450.0
_ENGINE = "litert-converter"
_KERNELS = "from litefuse.litert.runtime.native import pack; print(pack().names)"


class Environment:
    """An empty environment of a Python.

    Args:
        python: The interpreter.
        folder: The folder to make it in.

    Raises:
        SystemExit: The interpreter makes none.
    """

    def __init__(self, python: str, folder: Path) -> None:
        self.python = folder.joinpath(*(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
        # Without pip: that of this Python installs.
        if (found := shutil.which(python)) is None:
            sys.exit(f"{python} is no interpreter")
        run(str(Path(found).absolute()), "-m", "venv", "--without-pip", str(folder))
        self.version = self.ask("import platform; print(platform.python_version())")
        self.packages = Path(self.ask("import sysconfig; print(sysconfig.get_path('platlib'))"))

    def ask(self, code: str) -> str:
        """Runs code; returns what it prints."""
        return run(str(self.python), "-c", code).strip()

    def pip(self, *arguments: str) -> None:
        """Runs pip for it."""
        run(sys.executable, "-m", "pip", "--python", str(self.python), "--quiet", *arguments)

    def litefuse(self, *arguments: str, code: int = 0) -> str:
        """Runs the command in an empty folder; returns what it prints.

        Raises:
            SystemExit: It ends with another exit code.
        """
        return run(
            str(self.python.with_name(f"litefuse{self.python.suffix}")),
            *arguments,
            code=code,
            folder=self.python.parents[1],
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package", type=Path, help="a wheel or a source distribution")
    parser.add_argument("pythons", nargs="*", default=[sys.executable], help="interpreters (this one)")
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"the megabytes that it may take ({LIMIT:g})")
    parser.add_argument("--no-kernels", action="store_true", help="the package has no native kernels")
    options = parser.parse_args(arguments)
    if not options.package.is_file():
        parser.error(f"{options.package}: there is no such file")
    for python in options.pythons:
        started = time.monotonic()
        version = try_package(options.package, python, limit=options.limit, native=not options.no_kernels)
        print(f"Python {version}: works ({time.monotonic() - started:.0f} s)\n", flush=True)


def try_package(package: Path, python: str, *, limit: float = LIMIT, native: bool = True) -> str:
    """Installs a package in an empty environment and uses it.

    Args:
        package: A wheel or a source distribution.
        python: The interpreter.
        limit: The megabytes that the installation may have.
        native: Whether the package has native kernels.

    Returns:
        The version of the Python.

    Raises:
        SystemExit: Something does not work.
    """
    with tempfile.TemporaryDirectory(prefix="litefuse-") as name:
        environment = Environment(python, Path(name))
        environment.pip("install", str(package.absolute()))
        environment.pip("check")
        sizes = installed_sizes([environment.packages])
        print(table(sizes), flush=True)
        check_limit(sizes, limit)
        if native and "'Roll'" not in environment.ask(_KERNELS):
            sys.exit("the package has no native kernels, or they cannot be loaded")
        environment.litefuse("--version")
        print(environment.litefuse("doctor"), flush=True)
        small = environment.packages / "litefuse" / "tools" / "environment" / "small_model.tflite"
        for command in ("inspect", "run"):
            environment.litefuse(command, str(small))
        converts = _ENGINE in sizes
        if converts:
            if "\nOK: " not in environment.litefuse("demo"):
                sys.exit("the demo does not say that all is well")
            environment.litefuse(
                "convert",
                str(environment.packages / "litefuse" / "tools" / "demo" / "saved_model"),
                "-o",
                "model.tflite",
            )
            environment.pip("uninstall", "--yes", _ENGINE)
        refusal = environment.litefuse("demo", code=1)
        if "Traceback" in refusal or "the lowering engine, litert-converter, " not in refusal:
            sys.exit(f"without the engine, the demo ends otherwise than it should:\n{refusal}")
        if converts:
            environment.litefuse("inspect", "model.tflite")
            environment.litefuse("run", "model.tflite", "--signature", "embed")
            if re.search(r"convert\s+not possible", environment.litefuse("doctor", code=1)) is None:
                sys.exit("litefuse doctor does not say that the engine is missing")
        return environment.version


def run(*command: str, code: int = 0, folder: Path | None = None) -> str:
    """Runs a command outside of this folder, and without what variables add to Python's path; returns what it prints.

    Raises:
        SystemExit: It ends with another exit code.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LITEFUSE"))}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=clean,
        cwd=folder or tempfile.gettempdir(),
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != code:
        sys.exit(f"{done.stdout}{done.stderr}\nended with {done.returncode}, not {code}: {' '.join(command)}")
    return done.stdout + done.stderr


if __name__ == "__main__":
    main()
