"""Finds what a build lacks among the files around its sources: folders of headers, and sources that define symbols."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from litefuse.errors import KernelError
from litefuse.litert.cpp.compiler import preprocessed
from litefuse.litert.cpp.registrations import files_of

_MISSING = re.compile(r"fatal error: '?([^\s':]+)'?(?::| file) (?:No such file|not found)")
# As the linkers of GNU, LLVM and macOS say it.
_UNDEFINED = re.compile(
    r"undefined reference to [`']([^'\n]+)'|undefined symbol: (.+)|^ *\"(.+)\", referenced from", re.MULTILINE
)
_SUFFIXES = (".cc", ".cpp", ".c")
_NO_PART = re.compile(r"(?:^|[_.])(?:test|tests|benchmark|fuzzer|main)(?:$|[_.])")


def missing_headers(error: KernelError) -> list[str]:
    """Returns the headers that the compiler did not find."""
    return list(dict.fromkeys(_MISSING.findall(error.message)))


def preprocessed_with_root(source: Path, includes: list[Path], options: Sequence[str], compiler: str | None) -> str:
    """Returns a source with its headers, which it may name from a folder that it is in; such folders are appended.

    Raises:
        KernelError: A header is missing, say.
        LitefuseError: No C++ compiler found, or it does not end.
    """
    while True:
        try:
            return preprocessed(source, includes=includes, options=options, compiler=compiler)
        except KernelError as error:
            missing = missing_headers(error)
            roots = (folder for folder in source.parents if any((folder / header).is_file() for header in missing))
            if (root := next(roots, None)) is None or root in includes:
                raise
            includes.append(root)


def sources_defining(error: KernelError, texts: Iterable[str], used: Collection[Path]) -> list[Path]:
    """Returns the sources of what the linker did not find, beside headers that are included."""
    names = dict.fromkeys("".join(symbol) for symbol in _UNDEFINED.findall(error.message))
    headers = {Path(name).resolve() for text in texts for name in files_of(text) if not name.startswith("<")}
    beside = [header.with_suffix(suffix) for header in sorted(headers) for suffix in _SUFFIXES]
    around = [
        path
        for folder in sorted({header.parent for header in headers})
        for path in sorted(folder.iterdir())
        if path.suffix in _SUFFIXES and not _NO_PART.search(path.stem)
    ]
    candidates = dict.fromkeys(path for path in (*beside, *around) if path.is_file() and path not in used)
    contents = {path: path.read_text("utf-8", "replace") for path in candidates}
    chosen: dict[Path, None] = {}
    for defines in map(_definition, names):
        chosen |= dict.fromkeys([path for path, content in contents.items() if defines(content)][:1])
    return list(chosen)


def _definition(symbol: str) -> Callable[[str], object]:
    """Returns what finds the definition of a symbol in a source, where it begins a line."""
    name = (
        symbol.removeprefix("vtable for ").removeprefix("typeinfo for ").removeprefix("_" if "(" not in symbol else "")
    )
    while (plain := re.sub(r"<[^<>]*>", "", name)) != name:
        name = plain
    parts = name.split("(")[0].split(" ")[-1].split("::")
    words = r"\s*::\s*".join(map(re.escape, parts[-2:] if parts[-2:-1] and parts[-2][:1].isupper() else parts[-1:]))
    after = r"::" if symbol.startswith(("vtable", "typeinfo")) else r"\s*(?:\([^;{}]*\)[^;{}]*\{|[;={\[])"
    return re.compile(rf"^(?![\s#/])[^;{{}}\n]*(?<!\w){words}{after}", re.MULTILINE).search
