"""What the models of loops and branches are made of."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow


def library_ops(tf: Any, path: str) -> Counter[str]:
    """How often each op stands in the functions of a SavedModel."""
    del tf
    from tensorflow.core.protobuf import (  # pyright: ignore[reportMissingImports]
        saved_model_pb2,  # pyright: ignore[reportUnknownVariableType]
    )

    message: Any = saved_model_pb2.SavedModel()
    with open(f"{path}/saved_model.pb", "rb") as file:  # noqa: PTH123
        message.ParseFromString(file.read())
    return Counter(
        node.op for function in message.meta_graphs[0].graph_def.library.function for node in function.node_def
    )


def assert_uses(tensorflow: TensorFlow, path: Path, op: str) -> None:
    """The SavedModel has this op: the builder tests what its name says."""
    ops = tensorflow.call(library_ops, str(path))
    assert ops[op] > 0, ops


def weights(*shape: int, seed: int = 1) -> Any:
    return (np.random.default_rng(seed).standard_normal(shape) * 0.5).astype(np.float32)
