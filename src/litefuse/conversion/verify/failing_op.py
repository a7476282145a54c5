"""Finds the op at which a model fails, where LiteRT does not name it: the last op of the shortest failing prefix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from litefuse.litert.runtime.failed_op import OpPlace, op_at
from litefuse.litert.runtime.schema_objects import flatbuffer_of, made, objects_of
from litefuse.support.files.temporary import make_temporary_folder

# Larger models would be copied again and again.
_MOST_BYTES = 1 << 28


def failing_op(path: Path, fails: Callable[[Path], bool]) -> OpPlace | None:
    """Finds the first op at which a model fails.

    Args:
        path: A ``.tflite`` file that fails.
        fails: Whether a file fails.

    Returns:
        The op; None if it could not be found: the model does not fail again, or it is too large to try its parts.
    """
    if path.stat().st_size > _MOST_BYTES:
        return None
    content = path.read_bytes()
    model = objects_of(content)
    with make_temporary_folder() as folder:
        beginning = Path(folder, "model.tflite")

        def fails_within(signature: int, ops: int) -> bool:
            beginning.write_bytes(_beginning(content, signature, ops))
            return fails(beginning)

        for number, signature in enumerate(model.signatureDefs or ()):
            subgraph = int(signature.subgraphIndex)
            good, bad = 0, len(model.subgraphs[subgraph].operators or ())
            if not bad or not fails_within(number, bad):
                continue
            while bad - good > 1:
                middle = (good + bad) // 2
                if fails_within(number, middle):
                    bad = middle
                else:
                    good = middle
            return op_at(content, subgraph, bad - 1)
    return None


def _beginning(content: bytes, signature: int, ops: int) -> bytes:
    """Returns a model of the first ops of a signature's subgraph, whose outputs are those of the last op."""
    model = objects_of(content)
    kept = model.signatureDefs[signature]
    graph = model.subgraphs[kept.subgraphIndex]
    graph.operators = graph.operators[:ops]
    graph.outputs = [index for index in graph.operators[-1].outputs if index >= 0]
    kept.outputs = [_output(index) for index in graph.outputs]
    model.signatureDefs = [kept]
    return bytes(flatbuffer_of(model))


def _output(index: int) -> Any:
    return made("TensorMap", name=f"y{index}", tensorIndex=index)
