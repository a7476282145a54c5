"""C++ of applications for microcontrollers: the names of registrations and functions, and arrays of numbers.

Registrations are methods of ``MicroMutableOpResolver``, in ``tensorflow/lite/micro/micro_mutable_op_resolver.h``,
2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.runtime.model_reader import Model

# So many bytes stand in a line, each in four characters.
_ROW = 25
_WIDTH = 100
#: Custom ops for which tflite-micro has methods.
KNOWN_CUSTOM_OPS = {"TFLite_Detection_PostProcess": "AddDetectionPostprocess", "ethos-u": "AddEthosU"}

# Words of ops' names that a method writes in another way than with one capital.
_WORDS = {
    "2D": "2D",
    "BATCH_MATMUL": "BatchMatMul",
    "CUMSUM": "CumSum",
    "LSTM": "LSTM",
    "PADV2": "PadV2",
    "RELU6": "Relu6",
    "V2": "V2",
}


def registration(op: str) -> str:
    """Returns the name of the method for a builtin op, such as ``AddConv2D`` for ``CONV_2D``."""
    if op in _WORDS:
        return f"Add{_WORDS[op]}"
    return "Add" + "".join(_WORDS.get(word, word.capitalize()) for word in op.split("_"))


def used_ops(model: Model) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the names of the builtin ops in all subgraphs of a model, and of its custom ops, sorted."""
    used = {(op.name, op.custom) for graph in model.graphs for op in graph.ops}
    return _sorted(name for name, custom in used if not custom), _sorted(name for name, custom in used if custom)


def kernel_function(op: str) -> str:
    """Returns the name of the function that users write for a custom op, a valid identifier."""
    return "Register_" + re.sub(r"[^0-9A-Za-z_]", "_", op)


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def byte_lines(content: bytes) -> bytes:
    """Returns the elements of an array of bytes, ``" 28,"``, in lines; 10 MB take a fraction of a second."""
    texts = np.frombuffer("".join(f"{byte:3d}," for byte in range(256)).encode(), np.uint8).reshape(256, 4)
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
        texts = [float_text(number) for number in flat]
    elif flat.dtype.kind == "b":
        texts = ["true" if element else "false" for element in flat.tolist()]
    else:
        texts = [_integer(element, str(flat.dtype)) for element in flat.tolist()]
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
