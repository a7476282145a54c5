"""Builds the ops of a composite's replacement."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import FusionError
from litefuse.fusions.builtins import BUILTINS, Operand
from litefuse.ir.attributes import mlir_attribute
from litefuse.ir.marks import AUXILIARY, COMPOSITE, INITIAL_STATE, custom_op_attributes
from litefuse.ir.mlir import ir
from litefuse.ir.types import TensorType, ranked_tensor_type, tensor_type_of

__all__ = ["Builder"]

_DYNAMIC = ir.ShapedType.get_dynamic_size()


class Builder:
    """Emits LiteRT (``tfl``) ops into the function that replaces a composite's body, with inferred result types.

    Args:
        body: The symbol of a function with the body that is replaced, made on demand; None where there is none.
    """

    def __init__(self, body: Callable[[], str] | None = None) -> None:
        self._body = body

    def op(
        self,
        name: str,
        operands: Sequence[ir.Value],
        result_types: Sequence[ir.Type],
        attributes: Mapping[str, ir.Attribute] | None = None,
    ) -> list[ir.Value]:
        """Any op by its full name, such as ``tfl.embedding_lookup``, with the result types given.

        Raises:
            FusionError: There is no such op.
        """
        context = ir.Context.current
        assert context is not None, "ops are built in a context"
        if not context.is_registered_operation(name):
            raise FusionError(f"there is no op {name!r}", hint="LiteRT's builtin ops are tfl.add and the like.")
        op = ir.Operation.create(
            name, results=result_types, operands=operands, attributes=dict(attributes) if attributes else None
        )
        return list(op.results)

    def builtin(self, name: str, *operands: ir.Value | npt.ArrayLike, **attributes: Any) -> list[ir.Value]:
        """A builtin op with inferred result types.

        Args:
            name: LiteRT's name of the op, such as ``BATCH_MATMUL``; those of ``litefuse.fusions.builtins.BUILTINS``.
            operands: Its operands, of known rank. An array becomes a constant, as do Python's numbers and lists of
                them: of int32 or float32, or of the other operand's dtype where an op takes two of the same dtype.
            attributes: Those of its attributes that are not as by default.

        Raises:
            FusionError: There is no such op or attribute, or the result types do not follow from the operands.
        """
        known = BUILTINS.get(name)
        if known is None:
            close = difflib.get_close_matches(str(name), BUILTINS, n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ", which op() builds with result types"
            raise FusionError(f"builtin() does not know {name!r}{meant}")
        unknown = attributes.keys() - known.defaults.keys()
        if unknown:
            raise FusionError(f"{name} has no attributes {sorted(unknown)}; it has {sorted(known.defaults)}")
        values = self._values(operands, alike=known.alike)
        kinds = [_NONE if value.type == _none_type() else tensor_type_of(value) for value in values]
        for index, kind in enumerate(kinds):
            if kind.shape is None:
                raise FusionError(f"operand {index} of {name} is {kind}, and its rank must be known")
        given = {**known.defaults, **attributes}
        facts = [Operand(kind, _constant_value(value)) for kind, value in zip(kinds, values, strict=True)]
        try:
            types = [ranked_tensor_type(kind) for kind in known.rule(facts, given)]
        except (IndexError, ValueError) as error:
            shown = ", ".join(map(str, kinds))
            raise FusionError(f"{name} does not take ({shown}) with {attributes}: {error}") from error
        held = {key: _builtin_attribute(key, value) for key, value in given.items() if key not in _TYPE_ONLY}
        if name == "PACK":
            held["values_count"] = _builtin_attribute("values_count", len(values))
        return self.op(f"tfl.{name.lower()}", values, types, held)

    def _values(self, operands: Sequence[ir.Value | npt.ArrayLike], *, alike: bool) -> list[ir.Value]:
        """The operands as values; a Python number is of the others' dtype if all are alike."""
        dtype = next((tensor_type_of(each).dtype for each in operands if isinstance(each, ir.Value)), "float32")
        made: list[ir.Value] = []
        for each in operands:
            if isinstance(each, ir.Value):
                made.append(each)
            elif isinstance(each, (np.ndarray, np.generic)):
                made.append(self.constant(np.asarray(cast("Any", each))))
            elif isinstance(each, (int, float)) and alike:
                made.append(self.constant(np.array(each, dtype)))
            else:
                array = np.asarray(each)
                made.append(self.constant(array.astype(np.int32 if array.dtype.kind == "i" else np.float32)))
        return made

    def custom(
        self,
        name: str,
        operands: Sequence[ir.Value],
        result_types: Sequence[ir.Type],
        options: Mapping[str, Any] | bytes,
    ) -> list[ir.Value]:
        """A custom op.

        Args:
            name: The name that its kernel is registered under.
            operands: Its inputs.
            result_types: The types of its outputs.
            options: A mapping becomes a flexbuffer map (see ``encode_options``), bytes are taken as they are.

        Raises:
            FusionError: An option that a flexbuffer cannot hold.
        """
        if isinstance(options, bytes):
            data = options
        else:
            from litefuse.ir.custom_options import encode_options  # few fusions need flexbuffers

            data = encode_options(options)
        return self.op("tfl.custom", operands, result_types, custom_op_attributes(name, data))

    def composite(
        self,
        name: str,
        operands: Sequence[ir.Value],
        result_types: Sequence[ir.Type],
        attributes: Mapping[str, Any],
    ) -> list[ir.Value]:
        """STABLEHLO_COMPOSITE: a named op that carries the body, which the runtime runs where no kernel claims the op.

        Args:
            name: Its name.
            operands: The composite's arguments, all of them in their order.
            result_types: The composite's.
            attributes: Ints, floats, bools, strings, and lists of these; they become a flexbuffer map.

        Raises:
            FusionError: An attribute that such an op cannot hold.
        """
        if self._body is None:
            raise FusionError(f"there is no body for the composite {name!r} to carry")
        held: dict[str, ir.Attribute] = {}
        for key, value in attributes.items():
            try:
                held[key] = mlir_attribute(value)
            except TypeError as error:
                raise FusionError(f"the attribute {key!r} holds {value!r}, which a composite op cannot") from error
        return self.op(
            "tfl.custom",
            operands,
            result_types,
            {
                **custom_op_attributes(COMPOSITE, b""),
                "name": ir.StringAttr.get(name),
                "attributes": ir.DictAttr.get(held),
                "decomposition": ir.FlatSymbolRefAttr.get(self._body()),
            },
        )

    def constant(self, value: npt.NDArray[Any]) -> ir.Value:
        """A constant tensor of the array's shape and dtype."""
        attribute = ir.DenseElementsAttr.get(value)
        return self.op("tfl.pseudo_const", [], [attribute.type], {"value": attribute})[0]

    def no_value(self) -> ir.Value:
        """What an op gets for an optional operand that is left out."""
        return self.op("tfl.no_value", [], [_none_type()], {"value": ir.UnitAttr.get()})[0]

    def transpose(self, value: ir.Value, permutation: Sequence[int]) -> ir.Value:
        """TRANSPOSE; of a constant it is computed at conversion."""
        shape, element = _shape(value)
        order = self.constant(np.array(permutation, np.int32))
        return self._auxiliary("tfl.transpose", [value, order], [shape[axis] for axis in permutation], element)

    def slice(self, value: ir.Value, begin: Sequence[int], size: Sequence[int]) -> ir.Value:
        """SLICE; a size of -1 is all that follows. Of a constant it is computed at conversion."""
        shape, element = _shape(value)
        result = [
            count if count >= 0 or whole == _DYNAMIC else whole - first
            for whole, first, count in zip(shape, begin, size, strict=True)
        ]
        result = [_DYNAMIC if count < 0 else count for count in result]
        operands = [value, *(self.constant(np.array(part, np.int32)) for part in (begin, size))]
        return self._auxiliary("tfl.slice", operands, result, element)

    def last(self, value: ir.Value, axis: int, *, keep: bool = False) -> ir.Value:
        """STRIDED_SLICE: what is last along an axis (not negative), which has size 1 then (``keep``) or is gone."""
        shape, element = _shape(value)
        index = [-1 if each == axis else 0 for each in range(len(shape))]
        all_but = sum(1 << each for each in range(len(shape)) if each != axis)
        end = [0] * len(shape)
        operands = [value, *(self.constant(np.array(part, np.int32)) for part in (index, end, [1] * len(shape)))]
        masks = {
            "begin_mask": all_but,
            "end_mask": all_but | 1 << axis,
            "ellipsis_mask": 0,
            "new_axis_mask": 0,
            "shrink_axis_mask": 0 if keep else 1 << axis,
        }
        int32 = ir.IntegerType.get_signless(32)
        attributes: dict[str, ir.Attribute] = {name: ir.IntegerAttr.get(int32, mask) for name, mask in masks.items()}
        result = [1 if each == axis else size for each, size in enumerate(shape) if keep or each != axis]
        return self._auxiliary(
            "tfl.strided_slice", operands, result, element, {**attributes, "offset": ir.BoolAttr.get(False)}
        )

    def reverse(self, value: ir.Value, axis: int) -> ir.Value:
        """REVERSE_V2 along one axis (not negative)."""
        shape, element = _shape(value)
        axes = self.constant(np.array([axis], np.int32))
        return self._auxiliary("tfl.reverse_v2", [value, axes], shape, element)

    def add(self, a: ir.Value, b: ir.Value) -> ir.Value:
        """ADD of values of the same shape; of constants it is computed at conversion."""
        shape, element = _shape(a)
        return self._auxiliary(
            "tfl.add", [a, b], shape, element, {"fused_activation_function": ir.StringAttr.get("NONE")}
        )

    def reshape(self, value: ir.Value, shape: Sequence[int]) -> ir.Value:
        """RESHAPE to a known shape."""
        target = self.constant(np.array(shape, np.int32))
        return self._auxiliary("tfl.reshape", [value, target], shape, _shape(value)[1])

    def concatenation(self, values: Sequence[ir.Value], axis: int) -> ir.Value:
        """CONCATENATION along an axis (not negative)."""
        shape, element = _shape(values[0])
        sizes = [_shape(value)[0][axis] for value in values]
        shape[axis] = _DYNAMIC if _DYNAMIC in sizes else sum(sizes)
        return self._auxiliary(
            "tfl.concatenation",
            values,
            shape,
            element,
            {
                "axis": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), axis),
                "fused_activation_function": ir.StringAttr.get("NONE"),
            },
        )

    def conv_2d(
        self,
        x: ir.Value,
        filters: ir.Value,
        bias: ir.Value,
        *,
        strides: tuple[int, int] = (1, 1),
        dilations: tuple[int, int] = (1, 1),
        padding: str = "SAME",
        activation: str = "NONE",
    ) -> ir.Value:
        """CONV_2D.

        Args:
            x: ``[batch, height, width, n]``.
            filters: ``[m, rows, columns, n]``.
            bias: ``[m]``.
            strides: Of rows and of columns.
            dilations: Of rows and of columns.
            padding: ``SAME`` or ``VALID``.
            activation: ``NONE``, ``RELU``, ``RELU6`` or ``RELU_N1_TO_1``.

        Returns:
            ``[batch, out_height, out_width, m]``.
        """
        shape, element = _shape(x)
        outputs, *extents = _shape(filters)[0]
        sizes = [
            _DYNAMIC
            if size == _DYNAMIC
            else -(-(size if padding == "SAME" else size - (extent - 1) * dilation) // stride)
            for size, extent, stride, dilation in zip(shape[1:3], extents, strides, dilations, strict=False)
        ]
        int32 = ir.IntegerType.get_signless(32)
        numbers = {
            "stride_h": strides[0],
            "stride_w": strides[1],
            "dilation_h_factor": dilations[0],
            "dilation_w_factor": dilations[1],
        }
        attributes: dict[str, ir.Attribute] = {
            **{name: ir.IntegerAttr.get(int32, number) for name, number in numbers.items()},
            "padding": ir.StringAttr.get(padding),
            "fused_activation_function": ir.StringAttr.get(activation),
        }
        sizes = [size if size == _DYNAMIC else max(size, 0) for size in sizes]
        result = ir.RankedTensorType.get([shape[0], *sizes, outputs], element)
        return self.op("tfl.conv_2d", [x, filters, bias], [result], attributes)[0]

    def fully_connected(self, x: ir.Value, weights: ir.Value, bias: ir.Value, *, activation: str = "NONE") -> ir.Value:
        """FULLY_CONNECTED: x ``[..., n]``, weights ``[m, n]``, bias ``[m]``; result ``[..., m]``."""
        shape, element = _shape(x)
        attributes: dict[str, ir.Attribute] = {
            "fused_activation_function": ir.StringAttr.get(activation),
            "weights_format": ir.StringAttr.get("DEFAULT"),
            "keep_num_dims": ir.BoolAttr.get(len(shape) > 2),
        }
        result = ir.RankedTensorType.get([*shape[:-1], _shape(weights)[0][0]], element)
        return self.op("tfl.fully_connected", [x, weights, bias], [result], attributes)[0]

    def zeros(self, like: ir.Value, axis: int, sizes: Sequence[int]) -> ir.Value:
        """Float32 zeros ``[n, *sizes]``, where n is the size of ``like`` along an axis: FILL where it is unknown."""
        batch = _shape(like)[0][axis]
        if batch != _DYNAMIC:
            return self.constant(np.zeros([batch, *sizes], np.float32))
        int32, rank = ir.IntegerType.get_signless(32), len(_shape(like)[0])
        whole = self._auxiliary("tfl.shape", [like], [rank], int32)
        shape = [self.slice(whole, [axis], [1]), self.constant(np.array(sizes, np.int32))]
        return self._auxiliary(
            "tfl.fill",
            [self.concatenation(shape, 0), self.constant(np.array(0, np.float32))],
            [_DYNAMIC, *sizes],
            ir.F32Type.get(),
        )

    def state(self, value: ir.Value) -> ir.Value:
        """A state with this initial value, for an op that updates its state in place, as LSTM does.

        The op gets memory of its own that holds the value at the beginning of every call. Such an op must not be given
        the value itself: the runtime would keep a constant's memory between calls, and its value would be lost.
        """
        shape, element = _shape(value)
        return self._auxiliary("tfl.custom", [value], shape, element, custom_op_attributes(INITIAL_STATE, b""))

    def _auxiliary(
        self,
        name: str,
        operands: Sequence[ir.Value],
        shape: Sequence[int],
        element: ir.Type,
        attributes: Mapping[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        result = ir.RankedTensorType.get(shape, element)
        return self.op(name, operands, [result], {**(attributes or {}), AUXILIARY: ir.UnitAttr.get()})[0]

    def non_max_suppression(
        self,
        boxes: ir.Value,
        scores: ir.Value,
        max_output_size: ir.Value,
        iou_threshold: ir.Value,
        score_threshold: ir.Value,
        *,
        size: int | None = None,
    ) -> tuple[ir.Value, ir.Value]:
        """NON_MAX_SUPPRESSION_V4: the boxes with the best scores, of those that overlap too much the best one.

        Args:
            boxes: float32 ``[n, 4]``, the two corners ``(y, x, y, x)`` of each in any order.
            scores: float32 ``[n]``.
            max_output_size: int32 scalar, how many at most.
            iou_threshold: float32 scalar; a box whose intersection over union with a chosen one is this or more goes.
            score_threshold: float32 scalar; a box whose score is this or less goes.
            size: The value of ``max_output_size``, if it is known.

        Returns:
            int32 ``[max_output_size]``, the chosen boxes' positions by falling score, then zeros; and their number, an
            int32 scalar.
        """
        int32 = ir.IntegerType.get_signless(32)
        results = [
            ir.RankedTensorType.get([_DYNAMIC if size is None else size], int32),
            ir.RankedTensorType.get([], int32),
        ]
        operands = [boxes, scores, max_output_size, iou_threshold, score_threshold]
        indices, count = self.op("tfl.non_max_suppression_v4", operands, results)
        return indices, count

    def expand_dims(self, value: ir.Value, axis: int) -> ir.Value:
        """EXPAND_DIMS: the value of a ranked type with a dimension of size 1 more, at ``axis`` (not negative)."""
        kind = ir.ShapedType(value.type)
        shape = list(kind.shape)
        shape.insert(axis, 1)
        result = ir.RankedTensorType.get(shape, kind.element_type)
        return self.op("tfl.expand_dims", [value, self.constant(np.array(axis, np.int32))], [result])[0]

    def embedding_lookup(self, ids: ir.Value, table: ir.Value) -> ir.Value:
        """EMBEDDING_LOOKUP: rows of ``table`` ``[vocabulary, ...]`` at ``ids`` ``[n]`` int32; result ``[n, ...]``."""
        table_type, ids_type = ir.ShapedType(table.type), ir.ShapedType(ids.type)
        result = ir.RankedTensorType.get([*ids_type.shape, *table_type.shape[1:]], table_type.element_type)
        return self.op("tfl.embedding_lookup", [ids, table], [result])[0]


def _shape(value: ir.Value) -> tuple[list[int], ir.Type]:
    """The sizes and the element type of a value of known rank."""
    kind = ir.ShapedType(value.type)
    return list(kind.shape), kind.element_type


# The type of an optional operand that is left out.
_NONE = TensorType("none", ())

# Attributes that are there for the result type, which says the same.
_TYPE_ONLY = frozenset({"out_type", "output_type", "to"})


def _constant_value(value: ir.Value) -> npt.NDArray[Any] | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "tfl.pseudo_const":
        return None
    return np.array(ir.DenseElementsAttr(owner.attributes["value"]))


def _builtin_attribute(name: str, value: Any) -> ir.Attribute:
    """As ``mlir_attribute``, with the forms that builtin ops have: integers of 32 bits, and of 64 in lists."""
    if name == "mode":
        return ir.Attribute.parse(f"#tfl<mirror_pad_attr {value}>")
    if isinstance(value, int) and not isinstance(value, bool):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value)
    return mlir_attribute(value)


def _none_type() -> ir.Type:
    return ir.Type.parse("none")
