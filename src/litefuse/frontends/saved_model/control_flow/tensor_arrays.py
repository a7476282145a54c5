"""Conversion of TensorFlow 1 TensorArrays to tensor lists.

The array is a resource, and a scalar called flow orders the operations on it: each op that writes takes the flow and
returns a new one. A list is a value: it replaces the flow, and the handle is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.control_flow.flat_function import (
    FlatFunction,
    constant_node,
    kind,
)
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import AttrValue, NodeDef, TensorProto, TensorShapeProto
from litefuse.frontends.saved_model.nodes import constant_value, control_inputs, data_inputs, node_of

_ARRAY = "TensorArrayV3"
# Ops that forward a handle or a flow.
_CARRIERS = frozenset({"Identity", "Switch", "Merge", "Enter", "Exit", "NextIteration"})
# Those that forward any value.
_FORWARDING = frozenset({"Identity", "Enter"})
_LIST_MAKERS = frozenset(
    {
        "TensorListFromTensor",
        "TensorListReserve",
        "TensorListScatterIntoExistingList",
        "TensorListSetItem",
        "TensorListSplit",
    }
)


def tensor_arrays_to_lists(function: FlatFunction) -> None:
    """Replaces the ops on TensorArrays by ops on tensor lists.

    Args:
        function: The function; it is changed. Its loops are still cycles.

    Raises:
        GraphError: An op has no equivalent for lists, or an array is created elsewhere.
    """
    arrays = [node.name for node in function.nodes.values() if node.op == _ARRAY]
    if arrays:
        _Arrays(function).rewrite(arrays)


@dataclass(frozen=True)
class _Arrays:
    """The TensorArrays of a function."""

    function: FlatFunction

    def rewrite(self, arrays: Sequence[str]) -> None:
        function = self.function
        made = {
            node.name: self._list_op(node)
            for node in list(function.nodes.values())
            if node.op.startswith("TensorArray") and node.op != _ARRAY
        }
        function.nodes |= made
        function.prune()  # the ops that forward handles
        for node in function.nodes.values():
            for tensor in data_inputs(node):
                if tensor.endswith(":0") and node_of(tensor) in arrays:
                    raise GraphError("the handle of a TensorArray is used", where=function.where(node.name))
        for name in arrays:
            if name in function.nodes:
                function.nodes[name] = self._reserved(function.nodes[name])
        function.rename({f"{name}:1": f"{name}:0" for name in arrays}, {})
        self._carry_lists([name for name in (*arrays, *made) if name in function.nodes])

    def _carry_lists(self, names: Sequence[str]) -> None:
        """Sets the type of lists on the ops of loops and branches that forward them."""
        readers: dict[str, list[NodeDef]] = {}
        for node in self.function.nodes.values():
            for tensor in data_inputs(node):
                readers.setdefault(tensor, []).append(node)
        pending = [f"{name}:0" for name in names if self.function.nodes[name].op in _LIST_MAKERS]
        seen: set[str] = set()
        while pending:
            for node in readers.get(pending.pop(), ()):
                if kind(node) in _CARRIERS and node.name not in seen:
                    seen.add(node.name)
                    node.attr["T"].type = DataType.VARIANT
                    count = 2 if kind(node) in {"Switch", "Merge"} else 1
                    scalars = AttrValue.ListValue(shape=[TensorShapeProto()] * count)
                    node.attr["_output_shapes"].list.CopyFrom(scalars)
                    pending += [f"{node.name}:0", f"{node.name}:1"]

    def _list_op(self, node: NodeDef) -> NodeDef:
        make = _LIST_OPS.get(node.op)
        if make is None:
            raise GraphError(
                f"{node.op} has no match among the ops on tensor lists", where=self.function.where(node.name)
            )
        made = make(self, node, self._array(node.input[0]))
        made.input.extend(f"^{name}" for name in control_inputs(node))
        return made

    def _array(self, handle: str) -> NodeDef:
        tensor, seen = handle, set[str]()
        while tensor not in seen:
            seen.add(tensor)
            node = self.function.nodes.producer(tensor)
            if node is None:
                break
            if node.op == _ARRAY:
                return node
            if kind(node) not in _CARRIERS:
                break
            tensor = node.input[0]
        raise GraphError(f"where the TensorArray {handle} is made is not known", where=self.function.where(handle))

    def _op(self, node: NodeDef, op: str, inputs: Sequence[str], dtype: int | None, **attributes: AttrValue) -> NodeDef:
        made = NodeDef(name=node.name, op=op, input=inputs)
        if dtype is not None:
            made.attr["element_dtype"].type = dtype
        for key, value in attributes.items():
            made.attr[key].CopyFrom(value)
        if "_output_shapes" in node.attr:
            made.attr["_output_shapes"].CopyFrom(node.attr["_output_shapes"])
        return made

    def _reserved(self, array: NodeDef) -> NodeDef:
        made = self._op(
            array,
            "TensorListReserve",
            [self._shape(array, self._noted(array)), *array.input],
            array.attr["dtype"].type,
            shape_type=AttrValue(type=DataType.INT32),
        )
        made.attr["_output_shapes"].list.CopyFrom(AttrValue.ListValue(shape=[TensorShapeProto()]))
        return made

    def _noted(self, node: NodeDef, attribute: str = "element_shape") -> TensorShapeProto:
        """Returns the shape of the items according to an op."""
        return self.function.registry.attribute(node, attribute).shape

    def _shape(self, node: NodeDef, shape: TensorShapeProto) -> str:
        """Makes a constant of the item shape: -1 for unknown dimensions, and instead of the vector for unknown rank."""
        sizes = [dim.size for dim in shape.dim]
        tensor = TensorProto(dtype=DataType.INT32, int_val=[-1] if shape.unknown_rank else sizes)
        if not shape.unknown_rank:
            tensor.tensor_shape.dim.add(size=len(sizes))
        return self._constant(f"{node.name}/element_shape", tensor)

    def _constant(self, name: str, tensor: TensorProto) -> str:
        made = constant_node(self.function.fresh(name), tensor)
        self.function.nodes[made.name] = made
        return f"{made.name}:0"

    def _is_whole(self, indices: str) -> bool:
        """Whether indices are a range from 0 in steps of 1."""
        node = self._origin(indices)
        if node is None or node.op != "Range":
            return False
        start, step = (constant_value(self._origin(node.input[position])) for position in (0, 2))
        return start is not None and start.item() == 0 and step is not None and step.item() == 1

    def _is_size(self, indices: str, array: NodeDef) -> bool:
        """Whether a range of indices ends at the size of an array."""
        node = self._origin(indices)
        size = self._origin(node.input[1]) if node is not None else None
        if size is None:
            return False
        if size.op == "TensorArraySizeV3":
            return self._array(size.input[0]).name == array.name
        return self.function.nodes.producer(array.input[0]) is size and not array.attr["dynamic_size"].b

    def _origin(self, tensor: str) -> NodeDef | None:
        nodes = self.function.nodes
        return nodes.producer(nodes.origin(tensor, _FORWARDING))

    def read(self, node: NodeDef, array: NodeDef) -> NodeDef:
        _, index, flow = data_inputs(node)
        shape = self._shape(node, self._noted(array))
        return self._op(node, "TensorListGetItem", [flow, index, shape], array.attr["dtype"].type)

    def write(self, node: NodeDef, array: NodeDef) -> NodeDef:
        _, index, value, flow = data_inputs(node)
        grows = AttrValue(b=array.attr["dynamic_size"].b)
        return self._op(
            node,
            "TensorListSetItem",
            [flow, index, value],
            array.attr["dtype"].type,
            resize_if_index_out_of_bounds=grows,
        )

    def gather(self, node: NodeDef, array: NodeDef) -> NodeDef:
        _, indices, flow = data_inputs(node)
        noted = self._noted(node)
        shape = self._shape(node, self._noted(array) if noted.unknown_rank else noted)
        if self._is_whole(indices) and self._is_size(indices, array):
            return self._op(node, "TensorListStack", [flow, shape], array.attr["dtype"].type)
        return self._op(node, "TensorListGather", [flow, indices, shape], array.attr["dtype"].type)

    def scatter(self, node: NodeDef, array: NodeDef) -> NodeDef:
        _, indices, value, flow = data_inputs(node)
        dtype = array.attr["dtype"].type
        if self._is_whole(indices) and flow == f"{array.name}:1":
            # Items that are not written cannot be read: it makes no difference how many there are in addition.
            shape = self._shape(node, self._noted(array))
            int32 = AttrValue(type=DataType.INT32)
            return self._op(node, "TensorListFromTensor", [value, shape], dtype, shape_type=int32)
        return self._op(node, "TensorListScatterIntoExistingList", [flow, value, indices], dtype)

    def size(self, node: NodeDef, array: NodeDef) -> NodeDef:
        del array
        return self._op(node, "TensorListLength", [node.input[1]], None)

    def concatenate(self, node: NodeDef, array: NodeDef) -> NodeDef:
        rest = self._noted(node, "element_shape_except0")
        shape = TensorShapeProto(unknown_rank=rest.unknown_rank)
        if not shape.unknown_rank:
            shape.dim.add(size=-1)
            shape.dim.extend(rest.dim)
        empty = TensorProto(dtype=DataType.INT64)
        empty.tensor_shape.dim.add(size=0)
        return self._op(
            node,
            "TensorListConcatV2",
            [node.input[1], self._shape(node, shape), self._constant(f"{node.name}/leading_dims", empty)],
            array.attr["dtype"].type,
            shape_type=AttrValue(type=DataType.INT32),
        )

    def split(self, node: NodeDef, array: NodeDef) -> NodeDef:
        _, value, lengths, _ = data_inputs(node)
        shape = self._shape(node, self._noted(array))
        int32 = AttrValue(type=DataType.INT32)
        return self._op(node, "TensorListSplit", [value, shape, lengths], array.attr["dtype"].type, shape_type=int32)

    def close(self, node: NodeDef, array: NodeDef) -> NodeDef:
        del array
        return NodeDef(name=node.name, op="NoOp")


_LIST_OPS: Mapping[str, Callable[[_Arrays, NodeDef, NodeDef], NodeDef]] = {
    "TensorArrayCloseV3": _Arrays.close,
    "TensorArrayConcatV3": _Arrays.concatenate,
    "TensorArrayGatherV3": _Arrays.gather,
    "TensorArrayReadV3": _Arrays.read,
    "TensorArrayScatterV3": _Arrays.scatter,
    "TensorArraySizeV3": _Arrays.size,
    "TensorArraySplitV3": _Arrays.split,
    "TensorArrayWriteV3": _Arrays.write,
}
