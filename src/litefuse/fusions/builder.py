"""Builds the ops of a composite's replacement."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import FusionError
from litefuse.fusions.builtins import BUILTINS
from litefuse.ir.attributes import mlir_attribute
from litefuse.ir.marks import AUXILIARY, COMPOSITE, INITIAL_STATE, custom_op_attributes
from litefuse.ir.mlir import ir
from litefuse.ir.types import TensorType, element_type_of, ranked_type, tensor_type_of
from litefuse.ops.facts import ShapeError, Undecided
from litefuse.shapes.op_shapes import constant_integers, result_shapes

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
        for index, value in enumerate(values):
            if _kind(value).shape is None:
                raise FusionError(f"operand {index} of {name} is {_kind(value)}, and its rank must be known")
        for index, what in known.constants.items():
            if index < len(values) and constant_integers(values[index]) is None:
                raise FusionError(f"{name}: {what} must be a constant: the result's shape follows from it")
        given = {**known.defaults, **attributes}
        with _refusals(name, values, attributes):
            dtypes = known.dtypes([_kind(value).dtype for value in values], given)
            types = _result_types(name, values, [element_type_of(dtype) for dtype in dtypes], given)
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
        return self._auxiliary("TRANSPOSE", [value, self.constant(np.array(permutation, np.int32))])

    def slice(self, value: ir.Value, begin: Sequence[int], size: Sequence[int]) -> ir.Value:
        """SLICE; a size of -1 is all that follows. Of a constant it is computed at conversion."""
        operands = [value, *(self.constant(np.array(part, np.int32)) for part in (begin, size))]
        return self._auxiliary("SLICE", operands)

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
        # There is at least one element along the axis, which the rule cannot know.
        result = [1 if each == axis else size for each, size in enumerate(shape) if keep or each != axis]
        return self._typed(
            "tfl.strided_slice", operands, result, element, {**attributes, "offset": ir.BoolAttr.get(False)}
        )

    def reverse(self, value: ir.Value, axis: int) -> ir.Value:
        """REVERSE_V2 along one axis (not negative)."""
        return self._auxiliary("REVERSE_V2", [value, self.constant(np.array([axis], np.int32))])

    def add(self, a: ir.Value, b: ir.Value) -> ir.Value:
        """ADD of values of the same shape; of constants it is computed at conversion."""
        return self._auxiliary("ADD", [a, b], {"fused_activation_function": "NONE"})

    def reshape(self, value: ir.Value, shape: Sequence[int]) -> ir.Value:
        """RESHAPE to a known shape."""
        return self._auxiliary("RESHAPE", [value, self.constant(np.array(shape, np.int32))])

    def concatenation(self, values: Sequence[ir.Value], axis: int) -> ir.Value:
        """CONCATENATION along an axis (not negative)."""
        return self._auxiliary("CONCATENATION", values, {"axis": axis, "fused_activation_function": "NONE"})

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
        return self.builtin(
            "CONV_2D",
            x,
            filters,
            bias,
            stride_h=strides[0],
            stride_w=strides[1],
            dilation_h_factor=dilations[0],
            dilation_w_factor=dilations[1],
            padding=padding,
            fused_activation_function=activation,
        )[0]

    def fully_connected(self, x: ir.Value, weights: ir.Value, bias: ir.Value, *, activation: str = "NONE") -> ir.Value:
        """FULLY_CONNECTED: x ``[..., n]``, weights ``[m, n]``, bias ``[m]``; result ``[..., m]``."""
        keep = len(_shape(x)[0]) > 2
        return self.builtin(
            "FULLY_CONNECTED", x, weights, bias, fused_activation_function=activation, keep_num_dims=keep
        )[0]

    def zeros(self, like: ir.Value, axis: int, sizes: Sequence[int]) -> ir.Value:
        """Float32 zeros ``[n, *sizes]``, where n is the size of ``like`` along an axis: FILL where it is unknown."""
        batch = _shape(like)[0][axis]
        if batch != _DYNAMIC:
            return self.constant(np.zeros([batch, *sizes], np.float32))
        whole = self._auxiliary("SHAPE", [like], element=ir.IntegerType.get_signless(32))
        shape = [self.slice(whole, [axis], [1]), self.constant(np.array(sizes, np.int32))]
        # The rule knows nothing of what is in a shape that the model computes.
        return self._typed(
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
        return self._typed("tfl.custom", [value], shape, element, custom_op_attributes(INITIAL_STATE, b""))

    def _auxiliary(
        self,
        name: str,
        operands: Sequence[ir.Value],
        attributes: Mapping[str, Any] | None = None,
        *,
        element: ir.Type | None = None,
    ) -> ir.Value:
        """An auxiliary op by LiteRT's name; its result is of the first operand's element type if none is given."""
        given = attributes or {}
        elements = [_shape(operands[0])[1] if element is None else element]
        with _refusals(name, operands, given):
            types = _result_types(name, operands, elements, given)
        held = {key: _builtin_attribute(key, value) for key, value in given.items()}
        return self.op(f"tfl.{name.lower()}", operands, types, {**held, AUXILIARY: ir.UnitAttr.get()})[0]

    def _typed(
        self,
        name: str,
        operands: Sequence[ir.Value],
        shape: Sequence[int],
        element: ir.Type,
        attributes: Mapping[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        """An auxiliary op whose result's type is stated."""
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
        return self.builtin("EXPAND_DIMS", value, np.array(axis, np.int32))[0]

    def embedding_lookup(self, ids: ir.Value, table: ir.Value) -> ir.Value:
        """EMBEDDING_LOOKUP: rows of ``table`` ``[vocabulary, ...]`` at ``ids`` ``[n]`` int32; result ``[n, ...]``."""
        types = _result_types("EMBEDDING_LOOKUP", [ids, table], [ir.ShapedType(table.type).element_type], {})
        return self.op("tfl.embedding_lookup", [ids, table], types)[0]


def _shape(value: ir.Value) -> tuple[list[int], ir.Type]:
    """The sizes and the element type of a value of known rank."""
    kind = ir.ShapedType(value.type)
    return list(kind.shape), kind.element_type


# The type of an optional operand that is left out.
_NONE = TensorType("none", ())

# Attributes that are there for the result type, which says the same.
_TYPE_ONLY = frozenset({"out_type", "output_type", "to"})


# What a rule or numpy raises on operands that no op accepts.
_MALFORMED = (ArithmeticError, LookupError, TypeError, ValueError)


def _kind(value: ir.Value) -> TensorType:
    return _NONE if value.type == _none_type() else tensor_type_of(value)


@contextmanager
def _refusals(name: str, operands: Sequence[ir.Value], attributes: Mapping[str, Any]) -> Generator[None]:
    """Says of an op whose result types do not follow from its operands why."""
    try:
        yield
    except (Undecided, ShapeError, *_MALFORMED) as error:
        call = f"({', '.join(str(_kind(value)) for value in operands)})"
        if attributes:
            call += f" with {dict(attributes)}"
        if isinstance(error, Undecided):
            raise FusionError(f"the result types of {name} do not follow from {call}: {error}") from error
        raise FusionError(f"{name} does not take {call}: {error}") from error


def _result_types(
    name: str, operands: Sequence[ir.Value], elements: Sequence[ir.Type], attributes: Mapping[str, Any]
) -> list[ir.Type]:
    """The types of the results of a builtin op, by LiteRT's name, from its operands and their element types.

    Raises:
        Undecided: They do not follow; or ShapeError or one of ``_MALFORMED``, if no such op takes the operands.
    """
    types: list[ir.Type] = []
    shapes = result_shapes(f"tfl.{name.lower()}", operands, elements, attributes)
    for shape, element in zip(shapes, elements, strict=True):
        if shape is None:
            raise Undecided("the rank of a result is not known")
        types.append(ranked_type(shape, element))
    return types


def _builtin_attribute(name: str, value: Any) -> ir.Attribute:
    """As ``mlir_attribute``, with the forms that builtin ops have: integers of 32 bits, and of 64 in lists."""
    if name == "mode":
        return ir.Attribute.parse(f"#tfl<mirror_pad_attr {value}>")
    if isinstance(value, int) and not isinstance(value, bool):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value)
    return mlir_attribute(value)


def _none_type() -> ir.Type:
    return ir.Type.parse("none")
