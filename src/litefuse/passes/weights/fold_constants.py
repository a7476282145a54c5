"""Folds ops on constants that the engine does not fold."""

from __future__ import annotations

import importlib
import math
from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import LitefuseError
from litefuse.ir.call_graph import defined_functions, nested_operations
from litefuse.ir.constants import absent_operand, pseudo_constant, stored
from litefuse.ir.engine.lowering import flatbuffer, set_signature
from litefuse.ir.mlir import func, ir, producer
from litefuse.ir.passes import module_pass
from litefuse.ir.purity import is_used

# Ops that compute.
_COMPUTING = frozenset(
    f"tfl.{name}"
    for name in (
        *("abs", "add", "add_n", "arg_max", "arg_min", "batch_matmul", "bitwise_xor", "cast", "ceil", "conv_2d", "cos"),
        *("cumsum", "div", "elu", "equal", "exp", "floor", "floor_div", "floor_mod", "fully_connected", "greater"),
        *("greater_equal", "less", "less_equal", "log", "log_softmax", "logical_and", "logical_not", "logical_or"),
        *("logistic", "maximum", "mean", "minimum", "mul", "neg", "not_equal", "pow", "reduce_all", "reduce_any"),
        *("reduce_max", "reduce_min", "reduce_prod", "relu", "relu6", "right_shift", "round", "rsqrt", "select"),
        *("select_v2", "sign", "sin", "softmax", "sqrt", "square", "squared_difference", "sub", "sum", "tanh"),
    )
)
# Ops that move or create elements: if only such ops are folded, the file may grow.
_MOVING = frozenset(
    f"tfl.{name}"
    for name in (
        *("broadcast_to", "concatenation", "expand_dims", "fill", "gather", "gather_nd", "matrix_diag", "one_hot"),
        *("matrix_set_diag", "mirror_pad", "pack", "pad", "padv2", "range", "reshape", "reverse_v2", "scatter_nd"),
        *("slice", "split", "split_v", "squeeze", "strided_slice", "tile", "transpose", "unpack", "zeros_like"),
        *("unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sum"),
    )
)
_FOLDED = _COMPUTING | _MOVING
# Ops that put a few elements at some places; segments are how elements at repeated places are found.
_SCATTERING = frozenset({"tfl.scatter_nd", "tfl.unsorted_segment_max", "tfl.unsorted_segment_sum"})
# The largest constant that is stored in place of ops that only move elements, in bytes, unless it is made of as many:
# in small models a class token for each image of a batch, say, is not larger than the ops.
_LARGEST_MOVED = 16 << 10
# The same for matrices of zeros with a few elements (``tf.eye``, ``tf.one_hot``): as weights, XNNPACK packs them once.
_LARGEST_SPARSE = 1 << 20
_SPARSE = frozenset({"tfl.matrix_diag", "tfl.matrix_set_diag", "tfl.one_hot"})
# The largest constant that is stored in place of one op that repeats one element, in bytes: about what the op takes.
_LARGEST_FILL = 1 << 10
# The largest mask that is stored in place of a scatter and a subtraction in each call, in bytes.
_LARGEST_MASK = 16 << 10
# Ops for which XNNPACK broadcasts a constant of low rank as fast as it takes a whole one.
_BROADCASTING = frozenset(f"tfl.{name}" for name in ("add", "div", "maximum", "minimum", "mul", "sub"))
_BROADCAST_RANK = 4
_DTYPES = {"bf16": 2, "f16": 2, "f32": 4, "i1": 1, "i16": 2, "i32": 4, "i64": 8, "i8": 1, "ui16": 2, "ui8": 1}
# The dtypes of packed weights, and the largest value of them that is computed here, in bytes: larger ones stay packed.
_PACKED = frozenset({"i16", "i8", "ui16", "ui8"})
_LARGEST_UNPACKED = 4 << 10
# The dtypes of folded constants; values of the others are only intermediate.
_MADE = frozenset({"f32", "i1", "i32", "i64"})

# Ops that change the shape or dtype of places, and the dtypes of places.
_PLACED = frozenset({"tfl.cast", "tfl.reshape"})
_INTEGERS = {"i32": np.int32, "i64": np.int64}
LARGEST_FOLDED = 10 << 20
"""The limit of TensorFlow's own folding, in bytes (tensorflow/core/grappler/optimizers/constant_folding.cc)."""


def is_used_among(use: ir.OpOperand, values: Container[ir.Value]) -> bool:
    """Whether the user of a value makes one of these values."""
    results = use.owner.results
    return len(results) > 0 and results[0] in values


class _Origin(NamedTuple):
    """How a value is computed from constants.

    Attributes:
        computing: How many ops compute on the way; the others move elements.
        scattered: Whether it has few elements at some places, and the same value everywhere else.
        stored: How many bytes the constants have that it is made of.
        sparse: Whether it is made of a matrix that is zero in most places.
    """

    computing: int
    scattered: bool
    stored: int
    sparse: bool


@module_pass
def fold_constants(module: ir.Module) -> bool:
    """Folds ops on constants::

        %r = tfl.range(0, 80, 1)
        %e = tfl.exp(%r)               -->  %m = dense<...> : tensor<80xf32>
        %m = tfl.div(%e, dense<700.0>)

    The engine folds only some ops: filter banks, masks and positional encodings would be computed in each call. LiteRT
    itself evaluates them here, as it would in the model. What is only moved or repeated is stored where the file grows
    little: a small table of which ``tf.tile`` makes megabytes is repeated in each call. A value that repeats along a
    dimension is stored once if its user broadcasts, such as the mask of the rows that ``tf.tensor_scatter_nd_update``
    replaces. A mask of single elements is large, and still computed in each call.
    """
    modified = False
    for function in defined_functions(module):
        ops = list(nested_operations(function.entry_block))
        finds_places = any(op.name == "tfl.where" for op in ops)  # few models have one
        modified = _fold(ops) or modified
        if finds_places:
            modified = _fold_places(list(nested_operations(function.entry_block))) or modified
    return modified


def _fold(ops: Sequence[ir.OpView]) -> bool:
    cone: list[ir.OpView] = []
    computed: dict[ir.Value, _Origin] = {}
    for op in ops:
        if op.name not in _FOLDED or not all(map(_is_small, op.results)):
            continue
        if all(x in computed or stored(x) is not None or producer(x, "tfl.no_value") for x in op.operands):
            cone.append(op)
            origins = [computed[value] for value in op.operands if value in computed]
            computing = sum(origin.computing for origin in origins) + (op.name in _COMPUTING)
            scattered = op.name in _SCATTERING or any(origin.scattered for origin in origins)
            size = sum(computed[value].stored if value in computed else _bytes(value) for value in {*op.operands})
            sparse = op.name in _SPARSE or any(origin.sparse for origin in origins)
            computed.update(dict.fromkeys(op.results, _Origin(computing, scattered, size, sparse)))
    used = [value for value in computed if any(not is_used_among(use, computed) for use in value.uses)]
    wanted = [
        value
        for value in used
        if str(ir.ShapedType(value.type).element_type) in _MADE
        and (computed[value].computing or _bytes(value) <= _largest(computed[value]))
    ]
    arrays = _computed(cone, wanted) if wanted else None
    if arrays is None:
        return False
    known = dict(zip(wanted, arrays, strict=True))
    modified = False
    for op in cone:
        for value in op.results:
            if value in known:
                modified = _place(op, value, known[value], computed[value]) or modified
    for op in reversed(cone):
        if not is_used(op):
            op.operation.erase()
            modified = True
    return modified


def _largest(origin: _Origin) -> int:
    """Returns the most bytes that a constant may have in place of ops that only move elements."""
    return max(_LARGEST_SPARSE if origin.sparse else _LARGEST_MOVED, origin.stored)


def _place(op: ir.OpView, value: ir.Value, array: npt.NDArray[Any], origin: _Origin) -> bool:
    """Replaces a known value by constants; returns whether they are worth it."""
    once = _without_repetition(array)
    uses = list(value.uses)
    broadcast = [use for use in uses if once.size < array.size and _broadcasts(use, value)]
    size = once.nbytes if len(broadcast) == len(uses) else array.nbytes
    if origin.scattered and origin.computing < 2 and size > _LARGEST_MASK:
        return False
    if not origin.computing and once.size == 1 and size > _LARGEST_FILL:  # one op makes it of one element
        return False
    with ir.InsertionPoint(op), op.location:
        if broadcast:
            constant = pseudo_constant(ir.DenseElementsAttr.get(once))
            for use in broadcast:
                use.owner.operands[use.operand_number] = constant
        if len(broadcast) < len(uses):
            value.replace_all_uses_with(pseudo_constant(ir.DenseElementsAttr.get(array, type=value.type)))
    return True


def _without_repetition(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns an array that broadcasts to the given one: dimensions along which it repeats have size 1."""
    bits = array.view(f"u{array.itemsize}")  # distinguishes zeros of either sign
    for axis in range(bits.ndim):
        first = bits.take([0], axis)
        if np.array_equal(np.broadcast_to(first, bits.shape), bits):
            bits = first
    return np.ascontiguousarray(bits).view(array.dtype)


def _broadcasts(use: ir.OpOperand, value: ir.Value) -> bool:
    """Whether an op returns the same if it broadcasts the operand, because the other one has the whole shape."""
    shape = ir.RankedTensorType(value.type).shape
    if use.owner.name not in _BROADCASTING or len(shape) > _BROADCAST_RANK:
        return False
    other = use.owner.operands[1 - use.operand_number]
    return other != value and isinstance(other.type, ir.RankedTensorType) and other.type.shape == shape


def _fold_places(ops: Sequence[ir.OpView]) -> bool:
    """Folds ``tfl.where`` of constants, and the ops that change the shape or dtype of its places."""
    places: dict[ir.Value, npt.NDArray[Any]] = {}
    folded: list[ir.OpView] = []
    for op in ops:
        array = _places(op, places)
        dtype = None if array is None else _INTEGERS.get(str(ir.ShapedType(op.results[0].type).element_type))
        if array is not None and dtype is not None:
            places[op.results[0]] = np.ascontiguousarray(array, dtype)
            folded.append(op)
    for op in folded:
        array = places[op.results[0]]
        # A function's result must have the type that the function declares; LiteRT has no constants without elements.
        users = [use for use in op.results[0].uses if _is_ordinary(use.owner)]
        if array.size and any(use.owner.results[0] not in places for use in users):
            with ir.InsertionPoint(op), op.location:
                constant = pseudo_constant(ir.DenseElementsAttr.get(array))
            for use in users:
                use.owner.operands[use.operand_number] = constant
    for op in reversed(folded):
        if not is_used(op):
            op.operation.erase()
    return bool(folded)


def _places(op: ir.OpView, known: Mapping[ir.Value, npt.NDArray[Any]]) -> npt.NDArray[Any] | None:
    """Returns the places that an op finds, or whose shape or dtype it changes; None if they are unknown."""
    if op.name == "tfl.where":
        conditions = _small_array(op.operands[0])
        return None if conditions is None else np.argwhere(conditions)
    if op.name not in _PLACED or op.operands[0] not in known:
        return None
    array = known[op.operands[0]]
    if op.name == "tfl.cast":
        return array
    sizes = _small_array(op.operands[1])
    if sizes is None:
        return None
    shape: list[int] = sizes.tolist()
    return array.reshape(shape)


def _is_ordinary(op: ir.OpView | ir.Operation) -> bool:
    """Whether an op takes operands of any type and passes none to a function or region."""
    return op.name.startswith("tfl.") and len(op.results) > 0 and len(op.regions) == 0


def _small_array(value: ir.Value) -> npt.NDArray[Any] | None:
    """Returns the elements of a constant of integers or booleans that is not a weight."""
    elements = stored(value)
    if elements is None or not _is_small(value):
        return None
    return np.array(elements).reshape(elements.type.shape)


def _is_small(value: ir.Value) -> bool:
    packed = isinstance(value.type, ir.ShapedType) and str(value.type.element_type) in _PACKED
    return 0 < _bytes(value) <= (_LARGEST_UNPACKED if packed else LARGEST_FOLDED)


def _bytes(value: ir.Value) -> int:
    """Returns the size of a value; 0 if that, or the dtype's, is unknown."""
    if not isinstance(value.type, ir.RankedTensorType) or not value.type.has_static_shape:
        return 0
    return math.prod(value.type.shape) * _DTYPES.get(str(value.type.element_type), 0)


def _computed(ops: Sequence[ir.OpView], wanted: Sequence[ir.Value]) -> list[npt.NDArray[Any]] | None:
    """Returns the values, computed by LiteRT; None if that fails."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        function = func.FuncOp("main", ir.FunctionType.get([], [value.type for value in wanted]))
    names = [f"y{index}" for index in range(len(wanted))]
    copies: dict[ir.Value, ir.Value] = {}
    with ir.InsertionPoint(function.add_entry_block()) as point:
        for op in ops:
            for value in op.operands:
                if value in copies:
                    continue
                elements = stored(value)
                copies[value] = absent_operand() if elements is None else pseudo_constant(elements)
            copy = op.clone(ip=point)
            for index, value in enumerate(op.operands):
                copy.operands[index] = copies[value]
            copies.update(zip(op.results, copy.results, strict=True))
        func.ReturnOp([copies[value] for value in wanted])
    set_signature(function, "main", [], names)
    litert: Any = importlib.import_module("ai_edge_litert.interpreter")
    plain = litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    try:
        interpreter = litert.Interpreter(model_content=flatbuffer(module), experimental_op_resolver_type=plain)
        outputs = interpreter.get_signature_runner("main")()
    except (LitefuseError, RuntimeError, ValueError):  # reported when the ops run in the model
        return None
    shapes = [tuple(ir.RankedTensorType(value.type).shape) for value in wanted]
    arrays = [np.array(outputs[name], order="C") for name in names]  # of rank 0, too
    return arrays if [array.shape for array in arrays] == shapes else None
