"""FunctionDefs for tests, written by hand."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping, Sequence

from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import (
    AttrValue,
    FunctionDef,
    NameAttrList,
    NodeDef,
    OpDef,
    TensorShapeProto,
)

TYPE_F32 = AttrValue(type=DataType.FLOAT32)


def shapes(*sizes: Sequence[int]) -> AttrValue:
    """A list of shapes, as in ``_output_shapes``; -1 is an unknown size."""
    protos = [TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in each]) for each in sizes]
    return AttrValue(list=AttrValue.ListValue(shape=protos))


def callee(name: str) -> AttrValue:
    """An attribute that names a function."""
    return AttrValue(func=NameAttrList(name=name))


def node(name: str, op: str, *inputs: str, **attributes: AttrValue) -> NodeDef:
    """A node whose attribute T is float32."""
    return NodeDef(name=name, op=op, input=inputs, attr={"T": TYPE_F32, **attributes})


def function(
    name: str,
    nodes: Sequence[NodeDef],
    *,
    arguments: Sequence[str] = ("x",),
    results: Mapping[str, str],
    effects: Sequence[str] = (),
    attributes: Mapping[str, AttrValue] | None = None,
    stateful: bool = False,
) -> FunctionDef:
    """A function of float32 tensors; the arguments have the shape [?, 2]."""
    signature = OpDef(
        name=name,
        input_arg=[OpDef.ArgDef(name=arg, type=DataType.FLOAT32) for arg in arguments],
        output_arg=[OpDef.ArgDef(name=result, type=DataType.FLOAT32) for result in results],
        is_stateful=stateful,
    )
    shape = FunctionDef.ArgAttrs(attr={"_output_shapes": shapes((-1, 2))})
    return FunctionDef(
        signature=signature,
        node_def=nodes,
        ret=results,
        control_ret={effect: effect for effect in effects},
        attr=attributes,
        arg_attr=dict.fromkeys(range(len(arguments)), shape),
    )


class Asked(UserDict[str, FunctionDef]):
    """Functions, with the names of those that were asked for."""

    def __init__(self, functions: Mapping[str, FunctionDef]) -> None:
        self.names: set[str] = set()
        super().__init__(functions)

    def __getitem__(self, name: str) -> FunctionDef:
        self.names.add(name)
        return self.data[name]
