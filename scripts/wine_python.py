"""Makes a CPython 3.11 for Windows that runs in Wine, with a wheel and what that depends on.

    python -m scripts.wine_python FOLDER 'WHEEL[quantize]' pytest

The package index has the parts: ``panda3d`` brings Python's library and its extension modules, ``msvc-runtime``
Microsoft's C++ libraries, and the standard library is that of the Python 3.11 that runs this. The program is made by
Zig, and so is ``python3.dll``, which hands on to ``python311.dll`` what extension modules look for in it.

It takes the packages of ``scripts/requirements.txt``, and ``uv``, which installs for other systems.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts.build_wheels import MACHINES, run, zig

_VERSION = (3, 11)
_PARTS = ("panda3d", "msvc-runtime")
_NOT_COPIED = (
    "site-packages",
    "dist-packages",
    "lib-dynload",
    "test",
    "idlelib",
    "ensurepip",
    "__pycache__",
    "config-*",
)
# numpy 2 calls a function of complex numbers that the C library of Wine lacks until its release 9.
_CONSTRAINTS = ("numpy<2",)
_PROGRAM = """
#include <windows.h>

typedef int (*Main)(int, wchar_t**);

int wmain(int count, wchar_t** arguments) {
  HMODULE library = LoadLibraryW(L"python311.dll");
  if (library == NULL) return 99;
  return ((Main)(void*)GetProcAddress(library, "Py_Main"))(count, arguments);
}
"""
_NOTHING = "int __stdcall DllMainCRTStartup(void* library, unsigned reason, void* more) { return 1; }\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the folder to make it in")
    parser.add_argument("packages", nargs="*", help="what to install: wheels, with extras, and names")
    options = parser.parse_args(arguments)
    print(make_python(options.folder, options.packages))


def make_python(folder: Path, packages: Sequence[str]) -> Path:
    """Makes the Python.

    Args:
        folder: The folder, which must not exist.
        packages: What to install.

    Returns:
        The program; ``wine PROGRAM`` runs it, if ``WINEDLLOVERRIDES`` has Wine take the libraries of C++ beside it.

    Raises:
        SystemExit: This is another Python than 3.11, or a part is missing.
    """
    if sys.version_info[:2] != _VERSION:
        sys.exit("the standard library is to be that of Python 3.11: start this with it")
    stdlib = sysconfig.get_path("stdlib")
    shutil.copytree(stdlib, folder / "Lib", ignore=shutil.ignore_patterns(*_NOT_COPIED))
    (folder / "DLLs").mkdir()
    with tempfile.TemporaryDirectory(prefix="litefuse-") as name:
        _unpack_parts(Path(name), folder)
        site = folder / "Lib" / "site-packages"
        _install(site, packages)
        _compile(Path(name), folder / "python.exe", _PROGRAM, "-municode")
        names = "".join(f"  {each} = python311.{each}\n" for each in sorted(set(_stable_names(site))))
        table = Path(name, "python3.def")
        table.write_text(f"LIBRARY python3.dll\nEXPORTS\n{names}", encoding="utf-8")
        _compile(Path(name), folder / "python3.dll", _NOTHING, "-shared", "-nostdlib", str(table))
    return folder / "python.exe"


def _unpack_parts(downloads: Path, folder: Path) -> None:
    wanted = ["--no-deps", "--only-binary", ":all:", "--platform", "win_amd64", "--python-version", "3.11"]
    run(sys.executable, "-m", "pip", "--quiet", "download", *wanted, "-d", str(downloads), *_PARTS)
    for wheel in downloads.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                path = Path(name)
                if path.parts[0] == "deploy_libs" and not path.name.lower().startswith(("api-ms-", "vcruntime")):
                    target = folder / path.name if path.name == "python311.dll" else folder / "DLLs" / path.name
                elif path.parent.name == "Scripts" and path.suffix == ".dll":
                    target = folder / path.name
                else:
                    continue
                target.write_bytes(archive.read(name))


def _install(site: Path, packages: Sequence[str]) -> None:
    """Installs packages as they are for Windows."""
    index = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False
    ).stdout.strip()
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--target", str(site)]
    command += ["--python-platform", "x86_64-pc-windows-msvc", "--python-version", "3.11", "--only-binary", ":all:"]
    run(*command, *(["--index-url", index] if index else []), *packages, *_CONSTRAINTS)


def _stable_names(site: Path) -> Iterator[str]:
    """Yields the names that extension modules look for in ``python3.dll``."""
    import pefile

    for path in (*site.rglob("*.pyd"), *site.rglob("*.dll")):
        with pefile.PE(str(path), fast_load=True) as library:
            library.parse_data_directories([1])  # what it imports
            for each in getattr(library, "DIRECTORY_ENTRY_IMPORT", []):
                if each.dll.lower() == b"python3.dll":
                    yield from (entry.name.decode() for entry in each.imports)


def _compile(folder: Path, output: Path, source: str, *options: str) -> None:
    """Compiles a source; all that the compiler makes besides stays in the folder."""
    text, made = folder / f"{output.stem}.c", folder / output.name
    text.write_text(source, encoding="utf-8")
    run(zig(), "cc", "-target", MACHINES["win_amd64"].target, "-O1", "-s", str(text), "-o", str(made), *options)
    shutil.copyfile(made, output)


if __name__ == "__main__":
    main()
