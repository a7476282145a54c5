"""Writes small frozen graphs, with weights of a seed: models that differ in nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import AttrValue, GraphDef, NodeDef, TensorProto, TensorShapeProto

_FLOAT = AttrValue(type=DataType.FLOAT32)


def write_dense(path: Path, seed: int, size: int = 16) -> Path:
    """Writes a layer ``relu(x @ w + b)`` of this size with drawn weights, as a file ``.pb``."""
    random = np.random.default_rng(seed)
    open_batch = AttrValue(shape=_shape(-1, size))
    nodes = [
        NodeDef(name="x", op="Placeholder", attr={"dtype": _FLOAT, "shape": open_batch}),
        _constant("w", random.normal(size=(size, size)).astype(np.float32)),
        _constant("b", random.normal(size=size).astype(np.float32)),
        NodeDef(name="product", op="MatMul", input=["x", "w"], attr={"T": _FLOAT}),
        NodeDef(name="sum", op="BiasAdd", input=["product", "b"], attr={"T": _FLOAT}),
        NodeDef(name="y", op="Relu", input=["sum"], attr={"T": _FLOAT}),
    ]
    path.write_bytes(GraphDef(node=nodes).SerializeToString())
    return path


def _shape(*sizes: int) -> TensorShapeProto:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def _constant(name: str, value: npt.NDArray[Any]) -> NodeDef:
    tensor = TensorProto(dtype=DataType.FLOAT32, tensor_shape=_shape(*value.shape), tensor_content=value.tobytes())
    return NodeDef(name=name, op="Const", attr={"dtype": _FLOAT, "value": AttrValue(tensor=tensor)})
