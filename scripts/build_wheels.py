"""Builds the packages of a release: the source distribution, and wheels of what is in it.

    python -m scripts.build_wheels -o dist                # all
    python -m scripts.build_wheels -o dist --for x86_64   # the wheel for this machine alone, and what it is made of

The wheels for Linux and Windows are compiled by Zig, which knows the C library of old releases. ``auditwheel`` checks
that those for Linux need nothing but that library; the one for Windows needs nothing but what Windows has. The one for
macOS is built there, by ``.github/workflows/release.yml``. The same commit gives the same bytes, wherever it is built.

It takes the packages of ``scripts/requirements.txt``.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pefile

ROOT = Path(__file__).parents[1]
#: The oldest release of the C library that the native kernels run with; that of manylinux2014.
GLIBC = "2.17"


@dataclass(frozen=True)
class Machine:
    """What a wheel is for.

    Attributes:
        platform: The platform in the wheel's name.
        target: It as Zig calls it.
        system: The system as CMake calls it.
        processor: The processor as CMake calls it.
        library: The native kernels in the wheel.
    """

    platform: str
    target: str
    system: str
    processor: str
    library: str


def _linux(processor: str) -> Machine:
    return Machine(
        f"manylinux_{GLIBC.replace('.', '_')}_{processor}",
        f"{processor}-linux-gnu.{GLIBC}",
        "Linux",
        processor,
        "litefuse/kernels/liblitefuse_kernels.so",
    )


#: What there are wheels for: the processors of Linux, and Windows.
MACHINES = {
    "x86_64": _linux("x86_64"),
    "aarch64": _linux("aarch64"),
    "win_amd64": Machine(
        "win_amd64", "x86_64-windows-gnu", "Windows", "AMD64", "litefuse/kernels/litefuse_kernels.dll"
    ),
}
#: What every Windows has, from 10: its kernel, and the C library, which is in libraries whose names begin so.
WINDOWS_LIBRARIES = ("kernel32.dll", "api-ms-win-crt-")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist", help="the folder for the packages (dist)")
    parser.add_argument("--for", dest="machines", action="append", choices=[*MACHINES], help="a wheel; may be repeated")
    options = parser.parse_args(arguments)
    sdist = build_sdist(options.output)
    print(sdist, flush=True)
    with tempfile.TemporaryDirectory(prefix="litefuse-") as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        source = Path(folder, sdist.name.removesuffix(".tar.gz"))
        for machine in options.machines or MACHINES:
            print(build_wheel(source, MACHINES[machine], options.output), flush=True)


def source_date() -> str:
    """The time of the commit in seconds, which archives get as the time of their files.

    Without a repository, it is that of the variable ``SOURCE_DATE_EPOCH``.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return given or run("git", "-C", str(ROOT), "log", "-1", "--format=%ct").strip()


def build_sdist(output: Path) -> Path:
    """Builds the source distribution.

    Returns:
        Its path.
    """
    with tempfile.TemporaryDirectory(prefix="litefuse-") as folder:
        _build(ROOT, Path(folder), "--sdist")
        (built,) = Path(folder).glob("*.tar.gz")
        return _moved(built, output)


def build_wheel(source: Path, machine: Machine, output: Path) -> Path:
    """Builds a wheel.

    Args:
        source: The folder of the source distribution.
        machine: What it is for.
        output: The folder for the wheel.

    Returns:
        Its path.

    Raises:
        SystemExit: It has no native kernels, or they need more than the system has.
    """
    with tempfile.TemporaryDirectory(prefix="litefuse-") as name:
        folder = Path(name)
        _build(
            source,
            folder,
            "--wheel",
            settings={"wheel.tags": f"py3-none-{machine.platform}", "install.strip": "false"},
            environment=compiler(source, machine),
        )
        (built,) = folder.glob("*.whl")
        check_native(built, machine.library)
        if machine.system == "Windows":
            check_windows(built)
        else:
            check_platform(built, machine.platform)
        return _moved(built, output)


def compiler(source: Path, machine: Machine) -> dict[str, str]:
    """The variables that make CMake compile with Zig for a machine, in the same way in every folder.

    Args:
        source: The folder of the sources.
        machine: The machine.

    Raises:
        SystemExit: Zig is not installed.
    """
    arguments = [f"-DCMAKE_SYSTEM_NAME={machine.system}", f"-DCMAKE_SYSTEM_PROCESSOR={machine.processor}"]
    if machine.system == "Windows":
        # CMake wants one, though nothing has resources.
        arguments.append(f"-DCMAKE_RC_COMPILER={zig()}")
    return {
        "CXX": f"{zig()} c++ -target {machine.target}",
        "CXXFLAGS": f"-g0 -ffile-prefix-map={shlex.quote(str(source))}=.",
        "LDFLAGS": "-Wl,-s",
        "CMAKE_ARGS": " ".join(arguments),
    }


def zig() -> str:
    """The compiler.

    Raises:
        SystemExit: It is not installed.
    """
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None:
        sys.exit("the compiler is missing: pip install -r scripts/requirements.txt")
    return str(Path(package.origin).with_name("zig"))


def check_native(wheel: Path, library: str) -> None:
    """Checks that a wheel has the native kernels: an installation goes without where they cannot be compiled.

    Raises:
        SystemExit: It has none.
    """
    with zipfile.ZipFile(wheel) as archive:
        if library not in archive.namelist():
            sys.exit(f"{wheel.name} has no {library}: the kernels were not compiled")


def check_platform(wheel: Path, platform: str) -> None:
    """Checks that the libraries in a wheel need no more than its platform has.

    Raises:
        SystemExit: They do.
    """
    # It breaks its lines wherever they are long enough.
    found = " ".join(run(sys.executable, "-m", "auditwheel", "show", str(wheel)).split())
    if f'consistent with the following platform tag: "{platform}"' not in found:
        sys.exit(f"{wheel.name} is not what its name says: {found}")


def check_windows(wheel: Path) -> None:
    """Checks that the libraries in a wheel are for Windows on x86-64 and need nothing that it has not.

    Raises:
        SystemExit: They are not, or do.
    """
    import pefile

    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if not name.endswith((".dll", ".pyd", ".exe")):
                continue
            try:
                with pefile.PE(data=archive.read(name)) as library:
                    machine = library.FILE_HEADER.Machine
                    needed = _needed_by(library)
            except pefile.PEFormatError as error:
                sys.exit(f"{wheel.name}: {name} is no library for Windows: {error}")
            if machine != pefile.MACHINE_TYPE["IMAGE_FILE_MACHINE_AMD64"]:
                sys.exit(f"{wheel.name}: {name} is for another processor, {machine:#x}")
            if foreign := [each for each in needed if not each.startswith(WINDOWS_LIBRARIES)]:
                sys.exit(f"{wheel.name}: {name} needs {', '.join(foreign)}, which Windows has not")


def _needed_by(library: pefile.PE) -> list[str]:
    """Returns the names of the libraries that one needs, at once or when it calls them first."""
    found: list[str] = []
    for directory in ("DIRECTORY_ENTRY_IMPORT", "DIRECTORY_ENTRY_DELAY_IMPORT"):
        entries: list[pefile.Imported] = getattr(library, directory, [])
        found += [each.dll.decode().lower() for each in entries]
    return found


def run(*command: str, environment: Mapping[str, str] | None = None) -> str:
    """Runs a command; returns what it prints.

    Raises:
        SystemExit: It failed; the message has what it printed.
    """
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})}
    )
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nfailed: {' '.join(command)}")
    return done.stdout


def _build(
    source: Path,
    output: Path,
    *arguments: str,
    settings: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    options = [f"-C{name}={value}" for name, value in (settings or {}).items()]
    command = [sys.executable, "-m", "build", *arguments, "-o", str(output), *options, str(source)]
    run(*command, environment={"SOURCE_DATE_EPOCH": source_date(), **(environment or {})})


def _moved(built: Path, output: Path) -> Path:
    output.mkdir(parents=True, exist_ok=True)
    target = output / built.name
    target.write_bytes(built.read_bytes())
    return target


if __name__ == "__main__":
    main()
