"""Arrays in C++."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["byte_lines", "float_text", "number_lines"]

# So many bytes stand in a line, each in four characters.
_ROW = 25
_WIDTH = 100


def byte_lines(content: bytes) -> bytes:
    """Returns the elements of an array of bytes, ``" 28,"``, in lines; 10 MB take a fraction of a second."""
    texts = np.frombuffer("".join(f"{each:3d}," for each in range(256)).encode(), np.uint8).reshape(256, 4)
    data = np.frombuffer(content, np.uint8)
    whole = len(data) // _ROW * _ROW
    rows = np.full((whole // _ROW, _ROW * 4 + 1), ord("\n"), np.uint8)
    rows[:, :-1] = texts[data[:whole]].reshape(-1, _ROW * 4)
    rest = texts[data[whole:]].tobytes()
    return rows.tobytes() + (rest + b"\n" if rest else b"")


def float_text(number: float) -> str:
    """Returns a literal of the same float32."""
    value = np.float32(number)
    if np.isnan(value):
        return "NAN"
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = np.format_float_scientific(value, unique=True, trim="0") if value else f"{float(value)}"
    return f"{text}f"


def number_lines(values: npt.NDArray[Any]) -> str:
    """Returns the elements of an array of numbers, in lines."""
    flat = values.ravel()
    if flat.dtype.kind == "f":
        texts = [float_text(each) for each in flat]
    elif flat.dtype.kind == "b":
        texts = ["true" if each else "false" for each in flat.tolist()]
    else:
        texts = [_integer(each, str(flat.dtype)) for each in flat.tolist()]
    lines, line = list[str](), "   "
    for text in texts:
        if len(line) + len(text) + 2 > _WIDTH:
            lines.append(line)
            line = "   "
        line += f" {text},"
    return "\n".join([*lines, line])


def _integer(value: int, dtype: str) -> str:
    suffix = {"int64": "LL", "uint32": "U"}.get(dtype, "")
    # The literal of the least integer would be the negative of one that does not exist.
    if value == np.iinfo(dtype).min and dtype in {"int32", "int64"}:
        return f"{value + 1}{suffix} - 1"
    return f"{value}{suffix}"
