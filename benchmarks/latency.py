"""Latency and size of the models that both converters write, in ``ai_edge_litert``."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from document import megabytes, milliseconds, paragraph, table
from models import inputs_of
from process import call, seconds_in_turn

from conversion import CONVERTERS, command, make_model

_SECONDS = 8.0  # for the calls of one pair of models
_CALLS = 60


def measure_latency(name: str, folder: Path) -> dict[str, Any]:
    """Runs the two models in turn in a process of their own, which prints medians."""
    source = make_model(name, folder)
    paths = [folder / f"{source.name}.{each}.tflite" for each in CONVERTERS]
    for converter, path in zip(CONVERTERS, paths, strict=True):
        if not path.exists():
            call(*command(converter, source, path))
    return {"model": name, **json.loads(call(sys.executable, __file__, *map(str, paths)))}


def document(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results in Markdown."""
    cells = [
        [
            row["model"],
            *(milliseconds(row[each]["seconds"]) for each in CONVERTERS),
            f"{row['stock']['seconds'] / row['litefuse']['seconds']:.2f}",
            *(megabytes(row[each]["bytes"]) for each in CONVERTERS),
            f"{row['stock']['bytes'] / row['litefuse']['bytes']:.3f}",
        ]
        for row in rows
    ]
    heads = ["Model", "litefuse", "stock", "ratio", "size", "stock", "ratio"]
    return [*paragraph(_ABOUT), *table(heads, cells, text=1)]


_ABOUT = """
The files of both converters, called alternately in one process, with one thread and a batch of one; medians. A ratio
above 1 is in favor of litefuse.
"""


def _input_details(path: str) -> dict[str, Any]:
    """By another interpreter: one that made a signature runner takes no new shapes."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter: Any = Interpreter(model_path=path)
    (key,) = interpreter.get_signature_list()
    return interpreter.get_signature_runner(key).get_input_details()


def _compare(paths: Sequence[str]) -> dict[str, Any]:
    from ai_edge_litert.interpreter import Interpreter

    interpreters: list[Any] = []
    for path in paths:
        interpreter: Any = Interpreter(model_path=path, num_threads=1)
        details = _input_details(path)
        for input_name, value in inputs_of(details).items():
            interpreter.resize_tensor_input(details[input_name]["index"], value.shape)
        interpreter.allocate_tensors()
        for input_name, value in inputs_of(details).items():
            interpreter.set_tensor(details[input_name]["index"], value)
        interpreters.append(interpreter)
    taken = seconds_in_turn([interpreter.invoke for interpreter in interpreters], _SECONDS, least=5, most=_CALLS)
    return {
        converter: {
            "seconds": statistics.median(each[1:]),
            "bytes": Path(path).stat().st_size,
        }
        for converter, path, each in zip(CONVERTERS, paths, taken, strict=False)  # the stock converter may fail
    }


if __name__ == "__main__":
    print(json.dumps(_compare(sys.argv[1:])))
