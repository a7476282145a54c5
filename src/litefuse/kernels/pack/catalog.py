"""The available kernels, as data and as a section of a report, for the command ``kernels list``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litefuse.errors import KernelError
from litefuse.kernels import PACK, native_library
from litefuse.kernels.pack.supported import ANY, COMPLEX, FLOATS, NUMBERS, REAL
from litefuse.litert.runtime.custom_op import CustomOp, find_kernel, installed_kernels, registered_kernels
from litefuse.support.report.json_form import json_form
from litefuse.support.report.sections import Judgement, Section, count_of

_FAMILIES: Mapping[frozenset[str], str] = {
    frozenset((*ANY, "string")): "all",
    frozenset(ANY): "all but strings",
    frozenset(NUMBERS): "all numbers",
    frozenset(REAL): "all real numbers",
    frozenset((*FLOATS, *COMPLEX)): "all floats and complex numbers",
    frozenset(FLOATS): "all floats",
    frozenset(COMPLEX): "complex numbers",
}
_LANGUAGES = {"native": "C++", "numpy": "Python", "compiled": "Python (numba)"}
_OWN = "litefuse"


@dataclass(frozen=True)
class AvailableKernel:
    """A kernel that a model's op can run with.

    Attributes:
        op: The op's name.
        form: ``numpy``, ``compiled`` (numba), ``native`` (C++); ``broken`` if it does not load.
        source: Its origin: a file, ``litefuse``, or a package.
        dtypes: The dtypes that it supports; empty if it does not state them.
        problem: Why it does not load.
    """

    op: str
    form: str
    source: str
    dtypes: tuple[str, ...] = ()
    problem: str = ""

    @property
    def dtype_text(self) -> str:
        """The dtypes in words; the problem if it does not load."""
        return self.problem or _FAMILIES.get(frozenset(self.dtypes)) or ", ".join(self.dtypes) or "not stated"

    def to_json(self) -> dict[str, Any]:
        """Returns the fields as a dictionary for ``json.dumps``."""
        return json_form(self)


def available_kernels() -> list[AvailableKernel]:
    """Returns all kernels, sorted by the names of their ops; those of one op in the order of the lookup.

    Registered kernels take precedence over the pack's, the pack's native form over its numpy form, and both over the
    entry points of installed packages.
    """
    kernels = [*_registered(), *_native(), *_pack(), *_installed()]
    return sorted(kernels, key=lambda kernel: kernel.op)  # stable: the order of search stays


def _registered() -> Iterator[AvailableKernel]:
    for op, kernel in registered_kernels().items():
        yield AvailableKernel(op, kernel.form, _file(kernel), kernel.dtypes)


def _native() -> Iterator[AvailableKernel]:
    library = native_library()
    if library is None:
        return
    from litefuse.litert.runtime.native import pack

    loaded = pack()
    for op in loaded.names if loaded is not None else ():
        dtypes = PACK[op].dtypes if op in PACK else ()
        yield AvailableKernel(op, "native", f"litefuse ({library.name})", dtypes)


def _pack() -> Iterator[AvailableKernel]:
    for op, kernel in PACK.items():
        yield AvailableKernel(op, kernel.form, "litefuse", kernel.dtypes)


def _installed() -> Iterator[AvailableKernel]:
    for op, package in installed_kernels().items():
        try:
            kernel = find_kernel(op)
        except KernelError as error:
            yield AvailableKernel(op, "broken", package, problem=error.message)
            continue
        # Where another kernel takes precedence, that is what was found.
        own = op not in PACK and op not in registered_kernels() and kernel is not None
        yield AvailableKernel(
            op, kernel.form if own and kernel else "numpy", package, kernel.dtypes if own and kernel else ()
        )


def _file(kernel: type[CustomOp]) -> str:
    try:
        return kernel.library or str(Path(inspect.getfile(kernel)))
    except (OSError, TypeError):
        return kernel.__module__


def kernel_section(kernels: Sequence[AvailableKernel]) -> Section:
    """Returns a row for each op and origin of its kernels: the languages that it is written in, and where it runs.

    Args:
        kernels: The kernels, those of one op in the order of the lookup.
    """
    groups: dict[tuple[str, str], list[AvailableKernel]] = {}
    for kernel in kernels:
        groups.setdefault((kernel.op, _origin(kernel)), []).append(kernel)
    has_others = any(origin != _OWN for _, origin in groups)
    rows: list[tuple[str, ...]] = []
    judgements: list[Judgement] = []
    seen: set[str] = set()
    for (op, origin), group in groups.items():
        forms = [kernel.form for kernel in group]
        languages = ", ".join(dict.fromkeys(_LANGUAGES.get(form, "") for form in forms))
        runs = "" if "broken" in forms else "apps, Python" if "native" in forms else "Python"
        text = "; ".join(dict.fromkeys(kernel.dtype_text for kernel in group))
        if op in seen:
            text += "; another goes before it"
        rows.append((op, languages, runs, *([origin] if has_others else []), text))
        judgements.append("bad" if "broken" in forms else None)
        seen.add(op)
    return Section(
        f"Kernels: {count_of(len(seen), 'op')}",
        rows,
        ("op", "languages", "runs in", *(["from"] if has_others else []), "dtypes"),
        judgements=judgements,
        note="Apps get the kernels in C++ with litefuse kernels export; those in Python run with litefuse's "
        "interpreter and delegate.",
    )


def _origin(kernel: AvailableKernel) -> str:
    is_own = kernel.form == "native" and kernel.source.startswith(f"{_OWN} (")
    return _OWN if is_own else kernel.source
