"""Entry points of installed packages for litefuse: modules, which register what they hold, and libraries of kernels.

Finding them takes reading the metadata of every installed package, which takes as long as loading the lowering engine.
So it is done once, in the calling process, while the conversion process starts; the result is sent to the latter.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from litefuse.errors import LitefuseError

if TYPE_CHECKING:
    import traceback
    from importlib.metadata import EntryPoint

#: The group of all plug-ins. The others are its former names: of modules, and of objects by their names.
GROUP = "litefuse"
_GROUPS = (GROUP, "litefuse.fusions", "litefuse.recognizers", "litefuse.kernels", "litefuse.targets")
_MODULES = (GROUP, "litefuse.fusions", "litefuse.recognizers")  # a module may be in several
# Suffixes of libraries on the systems, in the order in which they are tried; an entry point may have any of them.
_SUFFIXES = {"darwin": (".dylib", ".so"), "win32": (".dll",)}
_ALL_SUFFIXES = (".so", ".dylib", ".dll")

_found: tuple[PlugIn, ...] | None = None
_loading: PlugIn | None = None  # the one whose module is imported now
_loaded = False


class PlugIn(NamedTuple):
    """One entry point.

    Attributes:
        group: Its group: ``litefuse``, or a former one, such as ``litefuse.fusions``.
        name: Its name; in former groups, it may be that of an op or a target.
        value: Its target: ``package.module``, a library ``package:library.so``; in former groups, ``module:object``.
        package: The distribution that provides it.
    """

    group: str
    name: str
    value: str
    package: str

    @property
    def module(self) -> str:
        """Its module; of a library, the package that has it."""
        return self.value.partition(":")[0].strip() if self.is_library else self._entry_point().module

    @property
    def is_library(self) -> bool:
        """Whether it names a library of kernels."""
        return self.group == GROUP and self.value.strip().endswith(_ALL_SUFFIXES)

    @property
    def where(self) -> str:
        """Its place for errors."""
        return f"entry point {self.name} = {self.value} of the group {self.group}"

    def load(self) -> Any:
        """Imports the module, and returns it or the object in it; of a library, returns the path on this system.

        Raises:
            Exception: Any exception of the import.
        """
        if self.is_library:
            return self._library()
        if self.group == GROUP and ":" in self.value:
            raise LitefuseError(
                "this is neither a module nor a library",
                where=self.where,
                hint='Write NAME = "package.module" or "package:library.so".',
            )
        return self._entry_point().load()

    def _library(self) -> Path:
        package, _, name = (part.strip() for part in self.value.partition(":"))
        stem = name.removesuffix(Path(name).suffix)
        suffixes = _SUFFIXES.get(sys.platform, (".so",))
        names = [f"{prefix}{stem}{suffix}" for suffix in suffixes for prefix in ("", "lib")]
        parent, *inner = package.split(".")
        spec = importlib.util.find_spec(parent)  # which does not import it
        folders = [Path(folder, *inner) for folder in (spec and spec.submodule_search_locations) or ()]
        for path in (folder / name for folder in folders for name in names):
            if path.is_file():
                return path
        raise LitefuseError(
            f"the package has no library {' or '.join(names)}",
            where=self.where,
            hint=f"{self.package or package} was installed without its library, or for another system: install it "
            "again, from its sources if it has no wheel for this one.",
        )

    def _entry_point(self) -> EntryPoint:
        from importlib.metadata import EntryPoint

        return EntryPoint(self.name, self.value, self.group)


def find_plug_ins(*groups: str) -> tuple[PlugIn, ...]:
    """Returns the entry points of these groups in order; without arguments, those of all of litefuse's groups."""
    global _found
    if _found is None:
        from importlib.metadata import entry_points

        installed = entry_points()  # reads the metadata of every installed package
        _found = tuple(
            PlugIn(group, entry.name, entry.value, entry.dist.name if entry.dist is not None else "")
            for group in _GROUPS
            for entry in installed.select(group=group)
        )
    if not groups:
        return _found
    return tuple(plug_in for group in groups for plug_in in _found if plug_in.group == group)


def take_plug_ins(plug_ins: Iterable[PlugIn] | None) -> None:
    """Uses the entry points that another process found; None lets the next call find them anew."""
    global _found, _loaded
    _found, _loaded = None if plug_ins is None else tuple(plug_ins), False


def loading_plug_in() -> PlugIn | None:
    """Returns the plug-in whose module is being imported, so that it is what registers now; None if none is."""
    return _loading


def load_plug_ins() -> None:
    """Imports the modules of installed plug-ins, which register fusions, recognizers, kernels and targets, once.

    Raises:
        LitefuseError: One of them cannot be imported, or what it registers is rejected.
    """
    global _loading, _loaded
    if _loaded or _loading is not None:
        return
    try:
        for plug_in in find_plug_ins(*_MODULES):
            if not plug_in.is_library:
                _loading = plug_in
                with third_party_code("the plug-in cannot be loaded", plug_in.where, own=LitefuseError):
                    plug_in.load()
    finally:
        _loading = None
    _loaded = True


@contextmanager
def third_party_code(
    problem: str, where: str, kind: type[LitefuseError] = LitefuseError, *, own: type[LitefuseError] | tuple[()] = ()
) -> Generator[None]:
    """Turns whatever third-party code raises in the context into an error of litefuse's.

    Args:
        problem: What failed; what was raised is appended.
        where: The place of the error.
        kind: The class of the error.
        own: The errors that go on as they are, with the line that they come from.
    """
    try:
        yield
    except own as error:
        line = raised_at(error)
        if line and line.partition(",")[0] not in error.where:
            error.where = f"{error.where} ({line})" if error.where else line
        raise
    except Exception as error:
        raise kind(f"{problem}: {what_was_raised(error)}", where=where) from error


def what_was_raised(error: BaseException) -> str:
    """Describes an exception of third-party code for a message: its type, its text, and the line of that code."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    line = raised_at(error)
    return f"{text} ({line})" if line else text


def raised_at(error: BaseException) -> str:
    """Returns the line of third-party code that an exception passed, ``FILE, line N, in NAME``; empty without one.

    The line is the last one in the file that litefuse called, not in other files that it calls.
    """
    frames = [frame for frame in _frames(error) if not is_own(frame.filename)]
    if not frames:
        return ""
    last = [frame for frame in frames if frame.filename == frames[0].filename][-1]
    return f"{last.filename}, line {last.lineno}, in {last.name}"


def is_raised_by_litefuse(error: BaseException) -> bool:
    """Whether litefuse raised an exception, not third-party code that it called."""
    return is_own(_frames(error)[-1].filename)


def place_of(definition: Any) -> str:
    """Returns where conversion code, a recognizer or a kernel begins: ``NAME (FILE:LINE)``; empty of litefuse's own."""
    methods = (getattr(definition, name, None) for name in ("function", "rewrite", "formula", "prepare"))
    codes = (getattr(method, "__code__", None) for method in (*methods, definition))
    code = next(filter(None, codes), None)
    if code is None or is_own(code.co_filename):
        return ""
    return f"{definition.__qualname__} ({code.co_filename}:{code.co_firstlineno})"


def is_own(file: str) -> bool:
    """Whether code in a file is litefuse's, or Python's import system."""
    return file.startswith(_INNER)


def _frames(error: BaseException) -> traceback.StackSummary:
    import traceback

    return traceback.extract_tb(error.__traceback__)


_INNER = (str(Path(__file__).parents[2]), str(Path(importlib.__file__).parent), "<frozen ")
