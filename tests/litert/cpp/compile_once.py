"""A C++ compiler for a run of tests that compiles the sources of litefuse's kit once, not for each library of kernels.

Most libraries that tests build have little else in them. ``install`` puts a command ``c++`` that is this module as a
script before the system's: what it compiles is the same, whoever asks for it, in whichever process.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

# Options that change nothing of what a source of the kit computes: they are for loops, for people, for other sources.
# The kit is tested as users get it by the tests of the kernel pack.
_OF_LOOPS = ("-O", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math")
_OF_OTHERS = ("-D", "-I", "-M", "-W", "-c", "-g", "-shared", "-static", *_OF_LOOPS)
_WITH_A_FILE = ("-o", "-MF", "-MT")


def install(folder: Path) -> None:
    """Puts the command into a folder, which is first on the ``PATH`` from now on; does nothing without a compiler."""
    compiler = shutil.which("c++")
    if compiler is None or sys.platform == "win32":
        return
    command = folder / "c++"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{__file__}" "{compiler}" "{folder}" "$@"\n')
    command.chmod(0o755)
    os.environ["PATH"] = os.pathsep.join([str(folder), os.environ["PATH"]])


def run(compiler: str, folder: Path, words: list[str]) -> None:
    """Does what the compiler does; in the place of the kit's sources it gets what they were compiled to."""
    files = {word: words[place + 1] for place, word in enumerate(words[:-1]) if word in _WITH_A_FILE}
    rest = [word for word in words if word not in files.values()]
    options = [word for word in rest if word.startswith("-")]
    sources = [word for word in rest if word not in options]
    compiled: dict[str, str] = {}
    if all(word.endswith((".a", ".cc", ".o")) for word in sources) and {"-c", "-shared"} & {*options}:
        compiled = {word: file for word in sources if (file := _compiled(compiler, folder, options, Path(word)))}
    if "-c" in options and [*compiled] == sources and "-o" in files:
        shutil.copyfile(compiled[sources[0]], files["-o"])
        if "-MF" in files:
            Path(files["-MF"]).write_text(f"{files.get('-MT', files['-o'])}: {sources[0]}\n")
        return
    if "-c" not in options:
        words = [compiled.get(word, word) for word in words]
    os.execv(compiler, [compiler, *words])


def _compiled(compiler: str, folder: Path, options: list[str], source: Path) -> str | None:
    """Returns the object file of a source of the kit; None for others, and for one that does not compile."""
    native = source.parent.parent
    if source.parent.name != "src" or not (native / "include/litefuse/kernel.h").is_file():
        return None
    content = [path.read_bytes() for path in (source, *sorted(native.glob("*/*.h")), *sorted(native.glob("*/*/*.h")))]
    joined = b"\n".join(content)
    # Macros that it does not ask for are for others, and so are their headers.
    macros = [word for word in options if word.startswith("-D") and word[2:].partition("=")[0].encode() in joined]
    if macros:
        macros += [word for word in options if word.startswith("-I")]
    kept = [compiler, *sorted(word for word in options if not word.startswith((*_OF_OTHERS, *_WITH_A_FILE))), *macros]
    digest = hashlib.sha256("\n".join([source.name, *kept]).encode() + joined).hexdigest()
    command = [*kept, f"-I{native / 'include'}", "-O1", "-c"]
    file = folder / f"{digest}.o"
    if not file.exists():
        made = f"{file}.{os.getpid()}"
        if subprocess.run([*command, str(source), "-o", made], capture_output=True, check=False).returncode != 0:
            return None
        Path(made).replace(file)
    return str(file)


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
