# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""What is read of the original's tables."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.verify import reference
from litefuse.conversion.verify.reference import original_tables
from litefuse.errors import LitefuseError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import AttrValue, NodeDef, TensorProto
from litefuse.litert.inputs.model_inputs import Tables
from tests.frontends.saved_model.model_writer import shape, write


def test_the_shapes_of_variables_and_constants(tmp_path: Path) -> None:
    """Scalars are no tables, and what cannot be read has none."""
    assert original_tables(write(tmp_path / "model"), None).shapes == {(2, 3), (2,)}
    assert original_tables(tmp_path, None) == original_tables(tmp_path / "none", None) == Tables()


def constant(*values: float, count: int | None = None) -> TensorProto:
    """A constant; one of ``count`` elements repeats its last."""
    return TensorProto(dtype=DataType.FLOAT32, tensor_shape=shape(count or len(values)), float_val=[*values])


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Returns the tables of a model that is described by its parts."""

    def read(nodes: Any = (), tables: Any = (), variables: Any = (), constants: Any = ()) -> Tables:
        def captured(sizes: Any, tensor: TensorProto | None = None) -> Any:
            return SimpleNamespace(shape=sizes, tensor=tensor or constant())

        def table(keys: Any) -> Any:
            def contents() -> Any:
                if isinstance(keys, Exception):
                    raise keys
                return np.array(keys), None

            return SimpleNamespace(read=contents)

        loaded = SimpleNamespace(
            tables={str(number): table(keys) for number, keys in enumerate(tables)},
            variables={str(number): captured(sizes) for number, sizes in enumerate(variables)},
            constants={str(number): captured((), tensor) for number, tensor in enumerate(constants)},
            functions={"f": SimpleNamespace(node_def=nodes)},
        )
        monkeypatch.setattr(reference, "load", lambda *_: loaded)
        return original_tables(tmp_path, None)

    return read


def test_keys(tables: Any) -> None:
    """Of integers and strings; a table that cannot be read has none."""
    keys = tables(
        tables=[[1, 2], LitefuseError("damaged"), [0.5], np.array([b"a"], object), np.array([3], np.uint8)]
    ).keys
    assert keys == ((1, 2), (b"a",), (3,))


def test_shapes(tables: Any) -> None:
    assert tables(variables=[(2, 3), (0, 3), (), None, (None, 3)]).shapes == {(2, 3), (0, 3)}


def test_numbers(tables: Any) -> None:
    """Of constants that are not weights, and of ops: the first twelve."""
    epsilon = NodeDef(op="FusedBatchNormV3", attr={"epsilon": AttrValue(f=0.25)})
    values = [constant(0.5), constant(1.5, count=64), constant(2.5, count=65), constant(0.5)]
    nodes = [NodeDef(op="Const", attr={"value": AttrValue(tensor=value)}) for value in values]
    nodes += [
        NodeDef(op="Relu6"),
        epsilon,
        NodeDef(op="Relu"),
        NodeDef(op="Add", attr={"value": nodes[0].attr["value"]}),
    ]
    assert tables(nodes, constants=[constant(3.5)]).numbers == (0.5, 1.5, 6.0, 0.25, 3.5)
    many = [constant(*range(start, start + 7)) for start in (0, 7)]
    assert tables(constants=many).numbers == tuple(map(float, range(12)))
    damaged = TensorProto(dtype=DataType.RESOURCE, tensor_shape=shape(1))
    assert tables(constants=[damaged, constant(3.5)]).numbers == (3.5,)


@pytest.mark.parametrize("op", ["IsNan", "IsInf", "IsFinite"])
def test_a_model_that_asks_for_nan(tables: Any, op: str) -> None:
    assert tables([NodeDef(op="Abs"), NodeDef(op=op)]).asks_for_nan
    assert not tables([NodeDef(op="Abs")]).asks_for_nan
