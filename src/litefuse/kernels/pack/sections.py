"""The available kernels as a section of a report."""

from __future__ import annotations

from collections.abc import Sequence

from litefuse.kernels.pack.catalog import AvailableKernel
from litefuse.support.report.section import Judgement, Section, count_of

__all__ = ["kernel_section"]

_LANGUAGES = {"native": "C++", "numpy": "Python", "compiled": "Python (numba)"}
_OWN = "litefuse"


def kernel_section(kernels: Sequence[AvailableKernel]) -> Section:
    """Returns a row for each op and origin of its kernels: the languages that it is written in, and where it runs.

    Args:
        kernels: The kernels, those of one op in the order of the lookup.
    """
    groups: dict[tuple[str, str], list[AvailableKernel]] = {}
    for each in kernels:
        groups.setdefault((each.op, _origin(each)), []).append(each)
    has_others = any(origin != _OWN for _, origin in groups)
    rows: list[tuple[str, ...]] = []
    judgements: list[Judgement] = []
    seen: set[str] = set()
    for (op, origin), group in groups.items():
        forms = [each.form for each in group]
        languages = ", ".join(dict.fromkeys(_LANGUAGES.get(form, "") for form in forms))
        runs = "" if "broken" in forms else "apps, Python" if "native" in forms else "Python"
        text = "; ".join(dict.fromkeys(each.dtype_text for each in group))
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
