"""Builder of the ops that replace a composite."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import FusionError
from litefuse.ir.attributes import (
    AUXILIARY,
    COMPOSITE,
    INITIAL_STATE,
    custom_code,
    custom_op_attributes,
    int32_attribute,
    mlir_attribute,
)
from litefuse.ir.constants import absent_operand, string_elements
from litefuse.ir.mlir import ir, producer
from litefuse.ir.ops.facts import MALFORMED, ShapeError, Undecided
from litefuse.ir.shapes.result_types import constant_integers, result_shapes
from litefuse.ir.tensors import Tensor, dtype_beside, operand_array
from litefuse.ir.types import TensorType, ranked_tensor_type, ranked_type, tensor_type_of

if TYPE_CHECKING:
    from litefuse.fusions.builtins import Operand

_Given: TypeAlias = "ir.Value | npt.ArrayLike"
"""An operand: a value, or what becomes a constant."""

_DYNAMIC = ir.ShapedType.get_dynamic_size()


class Builder:
    """Emits LiteRT (``tfl``) ops into the function that replaces a composite's body, with inferred result types.

    Args:
        body: Creates a function with the replaced body, on demand, and returns its symbol; None without a body.
        result_types: The composite's result types.
    """

    def __init__(self, body: Callable[[], str] | None = None, result_types: Sequence[ir.Type] = ()) -> None:
        self._body = body
        self._result_types = result_types

    def op(
        self,
        name: str,
        operands: Sequence[_Given],
        result_types: Sequence[ir.Type],
        attributes: Mapping[str, ir.Attribute] | None = None,
    ) -> list[Tensor]:
        """Emits any op by its full name, such as ``tfl.embedding_lookup``, with the given result types.

        Raises:
            FusionError: No such op.
        """
        context = ir.Context.current
        assert context is not None, "ops are built in a context"
        if not context.is_registered_operation(name):
            raise FusionError(f"unknown op {name!r}", hint="LiteRT's builtin ops are tfl.add and the like.")
        _check_list("operands", operands, object, "[x, y]")
        _check_list("result types", result_types, ir.Type, "[x.type], and options by name")
        op = ir.Operation.create(
            name,
            results=result_types,
            operands=[self._value(operand) for operand in operands],
            attributes=dict(attributes) if attributes else None,
            regions=int(name == "tfl.lstm"),  # for its quantized form
        )
        try:
            op.verify()
        except ir.MLIRError as error:
            raise FusionError(f"the fused op is not valid: {first_line(error)}") from error
        return [Tensor(result) for result in op.results]

    def builtin(self, name: str, *operands: _Given | None, **attributes: Any) -> list[Tensor]:
        """Emits a builtin op with inferred result types.

        Args:
            name: LiteRT's name of the op, such as ``BATCH_MATMUL``: a key of ``litefuse.fusions.builtins.BUILTINS``.
            operands: Its operands, of known rank, by position or by name; None for an optional one that is left out.
                Arrays become constants, as do Python numbers and lists of numbers: of int32 or float32, or of the other
                operand's dtype if the op requires equal dtypes.
            attributes: Its attributes that differ from their defaults.

        Raises:
            FusionError: No such op or attribute, or the result types do not follow from the operands.
        """
        from litefuse.fusions.builtins import BUILTINS, LACKING, unavailable  # tables that many fusions do without

        known = BUILTINS.get(name)
        if known is None:
            raise FusionError(unavailable(str(name)))
        given = {key: attributes.pop(key) for key in [*attributes] if key in known.defaults}
        placed = known.placed(operands, attributes)
        values = self._operands(placed)
        for (operand, _), value in zip(placed, values, strict=True):
            if operand.constant and constant_integers(value) is None:
                raise FusionError(f"{name}: {operand.name} must be a constant: the result's shape follows from it")
        kinds = [_kind(value) for value in values]
        for index, kind in enumerate(kinds):
            if kind.shape is None:
                raise FusionError(f"operand {index} of {name} is {kind}, and its rank must be known")
        with _refusals(name, values, given):
            options = known.options(kinds, given)
            types = _result_types(name, values, known.elements(kinds, options), options)
        if name in LACKING:
            from litefuse.litert.runtime.model_tables import STAND_IN  # few fusions have such an op

            return self.op("tfl.custom", values, types, custom_op_attributes(STAND_IN + name, known.encoded(options)))
        return self.op(f"tfl.{name.lower()}", values, types, known.attributes(options, types))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Returns the builder of the builtin op of this name in lower case, ``rsqrt`` of ``RSQRT``.

        It takes the operands and, as keywords, the attributes, as ``builtin`` does; a single result comes alone.
        """
        from litefuse.fusions.builtins import BUILTINS, lacking  # as above

        known = BUILTINS.get(name.upper())
        if known is None or name != name.lower():
            raise AttributeError(lacking(name, vars(Builder)), name=name, obj=self)

        def build(*operands: _Given | None, **attributes: Any) -> Tensor | list[Tensor]:
            results = self.builtin(name.upper(), *operands, **attributes)
            return results[0] if len(results) == 1 else results

        build.__name__ = build.__qualname__ = name
        build.__doc__ = known.documentation
        vars(build)["__signature__"] = known.signature
        return build

    def __dir__(self) -> list[str]:
        from litefuse.fusions.builtins import BUILTINS  # as above

        return [*super().__dir__(), *map(str.lower, BUILTINS)]

    def _operands(self, placed: Sequence[tuple[Operand, Any]]) -> list[ir.Value]:
        """Returns operands as values: numbers that are alike others get their dtype."""
        dtype = dtype_beside([value for operand, value in placed if operand.alike and value is not None])
        omitted = self.no_value() if any(given is None for _, given in placed) else None  # one for all
        values: list[ir.Value] = []
        for operand, given in placed:
            value = self._value(
                omitted if given is None else given, dtype if operand.alike else None, integers=operand.integers
            )
            values.append(self.state(value) if operand.state and not _is_state(value) else value)
        alike = zip(placed, values, strict=True)
        dtypes = dict.fromkeys(_kind(value).dtype for (operand, _), value in alike if operand.alike)
        if len(dtypes.keys() - {"none"}) > 1:
            raise FusionError(f"operands are {' and '.join(dtypes)}, not of one dtype", hint="b.cast changes it.")
        return values

    def _value(self, operand: Any, dtype: str | None = None, *, integers: str = "") -> ir.Value:
        """Returns an operand as a value, None as the omitted one; see ``operand_array``."""
        if isinstance(operand, ir.Value):
            return operand
        return self.no_value() if operand is None else self.constant(operand_array(operand, dtype, integers))

    def custom(
        self,
        name: str,
        operands: Sequence[_Given],
        result_types: Sequence[ir.Type] | None = None,
        options: Mapping[str, Any] | bytes = b"",
    ) -> list[Tensor]:
        """Emits a custom op.

        Args:
            name: The name under which its kernel is registered.
            operands: Its inputs.
            result_types: The types of its outputs; None for those of the composite's results.
            options: A mapping becomes a flexbuffer map (see ``encode_options``), bytes are used unchanged.

        Raises:
            FusionError: A flexbuffer cannot represent an option.
        """
        if isinstance(options, bytes):
            data = options
        elif not isinstance(options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the options of {name} are {options!r}; pass a mapping, or bytes")
        else:
            from litefuse.ir.custom_options import encode_options  # few fusions need flexbuffers

            data = encode_options(options)
        types = self._result_types if result_types is None else result_types
        return self.op("tfl.custom", operands, types, custom_op_attributes(name, data))

    def composite(
        self,
        name: str,
        operands: Sequence[_Given],
        result_types: Sequence[ir.Type] | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> list[Tensor]:
        """Emits STABLEHLO_COMPOSITE: a named op with the body, which the runtime runs unless a kernel claims the op.

        Args:
            name: Its name.
            operands: All arguments of the composite, in order.
            result_types: The types of its results; None for those of the composite's.
            attributes: Ints, floats, bools, strings, and lists of these. They become a flexbuffer map.

        Raises:
            FusionError: The op cannot represent an attribute.
        """
        if self._body is None:
            raise FusionError(f"the composite {name!r} has no body to carry")
        held: dict[str, ir.Attribute] = {}
        for key, value in (attributes or {}).items():
            try:
                held[key] = mlir_attribute(value)
            except TypeError as error:
                raise FusionError(f"the attribute {key!r} holds {value!r}, which a composite op cannot") from error
        return self.op(
            "tfl.custom",
            operands,
            self._result_types if result_types is None else result_types,
            {
                **custom_op_attributes(COMPOSITE, b""),
                "name": ir.StringAttr.get(name),
                "attributes": ir.DictAttr.get(held),
                "decomposition": ir.FlatSymbolRefAttr.get(self._body()),
            },
        )

    def constant(self, value: npt.ArrayLike) -> Tensor:
        """Emits a constant tensor of an array's shape and dtype; of strings if it holds texts."""
        array = operand_array(value)
        dtype = "string" if array.dtype.kind in "SU" else str(array.dtype)
        kind = ranked_tensor_type(TensorType(dtype, array.shape))
        if dtype == "string":
            texts = [text if isinstance(text, bytes) else text.encode() for text in array.reshape(-1).tolist()]
            attribute: ir.Attribute = string_elements(np.array(texts, object).reshape(array.shape))
        else:
            attribute = ir.DenseElementsAttr.get(np.asarray(array, order="C"), type=kind)
        return self.op("tfl.pseudo_const", [], [kind], {"value": attribute})[0]

    def no_value(self) -> Tensor:
        """Emits the placeholder for an omitted optional operand."""
        return Tensor(absent_operand())

    def transpose(self, value: _Given, permutation: Sequence[int]) -> Tensor:
        """Emits TRANSPOSE; of a constant it is computed at conversion."""
        return self._auxiliary("TRANSPOSE", [value, np.array(permutation, np.int32)])

    def slice(self, value: _Given, begin: Sequence[int], size: Sequence[int]) -> Tensor:
        """Emits SLICE; a size of -1 takes all that follows. Of a constant it is computed at conversion."""
        return self._auxiliary("SLICE", [value, np.array(begin, np.int32), np.array(size, np.int32)])

    def last(self, value: ir.Value, axis: int, *, keep: bool = False) -> Tensor:
        """Emits STRIDED_SLICE: the last position along an axis (not negative), which is dropped or kept (``keep``)."""
        shape, element = _shape(value)
        index = [-1 if place == axis else 0 for place in range(len(shape))]
        all_but = sum(1 << place for place in range(len(shape)) if place != axis)
        operands = [value, index, [0] * len(shape), [1] * len(shape)]
        masks = {
            "begin_mask": all_but,
            "end_mask": all_but | 1 << axis,
            "ellipsis_mask": 0,
            "new_axis_mask": 0,
            "shrink_axis_mask": 0 if keep else 1 << axis,
            "offset": False,
        }
        # There is at least one element along the axis, which the shape rule cannot know.
        result = [1 if place == axis else size for place, size in enumerate(shape) if keep or place != axis]
        attributes = {name: int32_attribute(mask) for name, mask in masks.items()}
        return self._typed("tfl.strided_slice", operands, result, element, attributes)

    def reverse(self, value: _Given, axis: int) -> Tensor:
        """Emits REVERSE_V2 along one axis (not negative)."""
        return self._auxiliary("REVERSE_V2", [value, [axis]])

    def add(self, x: _Given, y: _Given, *, fused_activation_function: str = "NONE") -> Tensor:
        """Emits ADD, as ``builtin`` does; of constants it is computed at conversion."""
        dtype = dtype_beside([x, y])
        values = [self._value(value, dtype) for value in (x, y)]
        return self._auxiliary("ADD", values, {"fused_activation_function": fused_activation_function})

    def reshape(self, value: _Given, shape: Sequence[int | None] | ir.Value) -> Tensor:
        """Emits RESHAPE to a shape, known or computed; one size may be -1 or None, the one that is left."""
        if not isinstance(shape, ir.Value):
            shape = self.constant(np.array([-1 if size is None else size for size in shape], np.int32))
        return self._auxiliary("RESHAPE", [value, shape])

    def concatenation(self, values: Sequence[_Given], axis: int, *, fused_activation_function: str = "NONE") -> Tensor:
        """Emits CONCATENATION along an axis (not negative)."""
        attributes = {"axis": axis, "fused_activation_function": fused_activation_function}
        return self._auxiliary("CONCATENATION", values, attributes)

    def conv_2d(
        self,
        x: _Given,
        filters: _Given,
        bias: _Given | None = None,
        *,
        strides: int | Sequence[int] = (1, 1),
        dilations: int | Sequence[int] = (1, 1),
        padding: str = "SAME",
        activation: str = "NONE",
    ) -> Tensor:
        """Emits CONV_2D.

        Args:
            x: ``[batch, height, width, n]``.
            filters: ``[m, rows, columns, n]``.
            bias: ``[m]``; None for zeros.
            strides: Of rows and of columns, or one for both.
            dilations: Likewise.
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
            **_pair("strides", strides, "stride_h", "stride_w"),
            **_pair("dilations", dilations, "dilation_h_factor", "dilation_w_factor"),
            padding=padding,
            fused_activation_function=activation,
        )[0]

    def fully_connected(
        self, x: _Given, weights: _Given, bias: _Given | None = None, *, activation: str = "NONE"
    ) -> Tensor:
        """Emits FULLY_CONNECTED: x ``[..., n]``, weights ``[m, n]``, bias ``[m]`` or None; result ``[..., m]``."""
        x = self._value(x)
        keep = len(_shape(x)[0]) > 2
        return self.builtin(
            "FULLY_CONNECTED", x, weights, bias, fused_activation_function=activation, keep_num_dims=keep
        )[0]

    def zeros(self, like: ir.Value, axis: int, sizes: Sequence[int]) -> Tensor:
        """Emits float32 zeros ``[n, *sizes]``, n being the size of ``like`` along an axis: FILL if that is unknown."""
        batch = _shape(like)[0][axis]
        if batch != _DYNAMIC:
            return self.constant(np.zeros([batch, *sizes], np.float32))
        whole = self._auxiliary("SHAPE", [like], element=ir.IntegerType.get_signless(32))
        shape = self.concatenation([self.slice(whole, [axis], [1]), np.array(sizes, np.int32)], 0)
        # The shape rule does not know the elements of a computed shape.
        return self._typed("tfl.fill", [shape, np.float32(0)], [_DYNAMIC, *sizes], ir.F32Type.get())

    def state(self, value: _Given) -> Tensor:
        """Emits a state with this initial value, for an op that updates its state in place, such as LSTM.

        The op gets its own memory, which holds the value at the start of every call. The op must not get the value
        itself: the runtime keeps a constant's memory between calls, and its value would be lost.
        """
        value = self._value(value)
        shape, element = _shape(value)
        return self._typed("tfl.custom", [value], shape, element, custom_op_attributes(INITIAL_STATE, b""))

    def _auxiliary(
        self,
        name: str,
        operands: Sequence[_Given],
        attributes: Mapping[str, Any] | None = None,
        *,
        element: ir.Type | None = None,
    ) -> Tensor:
        """Emits an auxiliary op by LiteRT's name; its element type defaults to the first operand's."""
        options, operands = attributes or {}, [self._value(operand) for operand in operands]
        elements = [_shape(operands[0])[1] if element is None else element]
        with _refusals(name, operands, options):
            types = _result_types(name, operands, elements, options)
        held = {key: int32_attribute(value) for key, value in options.items()}
        return self.op(f"tfl.{name.lower()}", operands, types, {**held, AUXILIARY: ir.UnitAttr.get()})[0]

    def _typed(
        self,
        name: str,
        operands: Sequence[_Given],
        shape: Sequence[int],
        element: ir.Type,
        attributes: Mapping[str, ir.Attribute] | None = None,
    ) -> Tensor:
        """Emits an auxiliary op with a given result type."""
        result = ir.RankedTensorType.get(shape, element)
        return self.op(name, operands, [result], {**(attributes or {}), AUXILIARY: ir.UnitAttr.get()})[0]

    def non_max_suppression(
        self,
        boxes: _Given,
        scores: _Given,
        max_output_size: _Given,
        iou_threshold: _Given,
        score_threshold: _Given,
        *,
        size: int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Emits NON_MAX_SUPPRESSION_V4: the boxes with the best scores, the best one of those that overlap too much.

        Of equal scores, the lowest index is the best. Boxes without an area overlap none. TensorFlow ops
        around the op see to it, which the engine lowers.

        Args:
            boxes: float32 ``[n, 4]``, the two corners ``(y, x, y, x)`` of each in any order.
            scores: float32 ``[n]``.
            max_output_size: int32 scalar, the maximum number of boxes.
            iou_threshold: float32 scalar; boxes whose intersection over union with a chosen one is this or more are
                dropped.
            score_threshold: float32 scalar; boxes whose score is this or less are dropped.
            size: The value of ``max_output_size``, if it is known.

        Returns:
            int32 ``[max_output_size]``, the indices of the chosen boxes by descending score, padded with zeros; and the
            number of chosen boxes, an int32 scalar.
        """
        from litefuse.ir.builder import Builder as TensorFlowBuilder  # few fusions need it
        from litefuse.passes.legalize.images.suppression import apart, boxes_of_four, suppressed, threshold_above

        b = TensorFlowBuilder()
        kinds = ("float32", "float32", "int32", "float32", "float32")
        given = zip((boxes, scores, max_output_size, iou_threshold, score_threshold), kinds, strict=True)
        corners, score, count, iou, least = (Tensor(self._value(value, kind)) for value, kind in given)
        if size is None and not isinstance(max_output_size, ir.Value):
            size = int(np.asarray(max_output_size))
        threshold, none_overlap = threshold_above(b, iou, None, inclusive=True)
        separate = apart(b, boxes_of_four(b, corners), none_overlap)
        return suppressed(b, separate, score, count, threshold, least, length=size)

    def embedding_lookup(self, ids: _Given, table: _Given) -> Tensor:
        """Emits EMBEDDING_LOOKUP: rows of ``table`` ``[vocabulary, ...]`` at ``ids`` ``[n]`` int32; ``[n, ...]``."""
        values = [self._value(ids, integers="int32"), self._value(table)]
        types = _result_types("EMBEDDING_LOOKUP", values, [_shape(values[1])[1]], {})
        return self.op("tfl.embedding_lookup", values, types)[0]


def _shape(value: ir.Value) -> tuple[list[int], ir.Type]:
    """Returns the sizes and the element type of a value of known rank."""
    kind = ir.ShapedType(value.type)
    return list(kind.shape), kind.element_type


def _pair(what: str, values: int | Sequence[int], *names: str) -> dict[str, int]:
    pair = [values] * 2 if isinstance(values, int) else values
    if len(pair) != 2:
        raise FusionError(f"{what} are {values!r}", hint="Pass two, of rows and of columns, or one number.")
    return dict(zip(names, pair, strict=True))


def _check_list(what: str, values: object, kind: type, example: str) -> None:
    if not isinstance(values, Sequence) or not all(isinstance(value, kind) for value in cast("Sequence[Any]", values)):
        raise TypeError(f"{what} are {values!r}; pass a list, such as {example}")


def first_line(error: ir.MLIRError) -> str:
    """Returns the line of an error of MLIR's that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[0] if lines else repr(error))


def _kind(value: ir.Value) -> TensorType:
    """Returns the type of a value, or of an omitted operand."""
    return tensor_type_of(value) if isinstance(value.type, ir.ShapedType) else TensorType("none", ())


@contextmanager
def _refusals(name: str, operands: Sequence[ir.Value], attributes: Mapping[str, Any]) -> Generator[None]:
    """Explains why the result types of an op do not follow from its operands."""
    try:
        yield
    except (Undecided, ShapeError, *MALFORMED) as error:
        call = f"({', '.join(str(_kind(value)) for value in operands)})"
        if attributes:
            call += f" with {dict(attributes)}"
        if isinstance(error, Undecided):
            raise FusionError(f"the result types of {name} do not follow from {call}: {error}") from error
        raise FusionError(f"{name} does not take {call}: {error}") from error


def _result_types(
    name: str, operands: Sequence[ir.Value], elements: Sequence[ir.Type], attributes: Mapping[str, Any]
) -> list[ir.Type]:
    """Returns the types of a builtin op's results; raises ``Undecided`` if they do not follow from the operands.

    Raises ShapeError or one of ``MALFORMED`` if no such op accepts the operands. ``name`` is LiteRT's name,
    ``elements`` are the results' element types.
    """
    types: list[ir.Type] = []
    shapes = result_shapes(f"tfl.{name.lower()}", operands, elements, attributes)
    for shape, element in zip(shapes, elements, strict=True):
        if shape is None:
            raise Undecided("the rank of a result is not known")
        types.append(ranked_type(shape, element))
    return types


def _is_state(value: ir.Value) -> bool:
    owner = producer(value, "tfl.custom")
    return owner is not None and custom_code(owner) == INITIAL_STATE
