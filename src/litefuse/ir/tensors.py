"""Tensors in formulas: operators and functions that emit TensorFlow ops, at the current insertion point and location.

Shapes broadcast as in TensorFlow, and a number beside a tensor becomes a constant of its dtype::

    size = abs(x)
    y = select(size < 1.0, square(x), exp(-size) / (size + 1.0))
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast, overload

import numpy as np
import numpy.typing as npt

from litefuse.errors import FusionError
from litefuse.ir.constants import elements_of
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.ops.dims import Shape
from litefuse.ir.ops.facts import ShapeError, broadcast_shapes
from litefuse.ir.tensorflow_op import NotDecomposed
from litefuse.ir.types import TensorType, ranked_tensor_type, tensor_type_of
from litefuse.support.plug_ins.entry_points import is_own


class Tensor(ir.Value):
    """A value with operators. ``==`` compares values, not elements: see ``equal``."""

    __array_ufunc__ = None  # numbers of numpy, too, leave operators to this class

    #: Finds what an argument of a function is in all calls, if that is one value.
    origin: Callable[[], ir.Value | None] | None = None

    @property
    def shape(self) -> Shape:
        """The shape, with None for dynamic dimensions.

        Raises:
            NotDecomposed: The rank is unknown.
        """
        shape = tensor_type_of(self).shape
        if shape is None:
            raise NotDecomposed("an operand is of unknown rank")
        return shape

    @property
    def dtype(self) -> str:
        return tensor_type_of(self).dtype

    @property
    def value(self) -> npt.NDArray[Any] | None:
        """Its elements if it is a constant, or an argument that is one in all calls; None otherwise."""
        value = self if self.origin is None else self.origin()
        return None if value is None else elements_of(value)

    def __bool__(self) -> bool:
        # Passes ask whether there is a tensor at all.
        if is_own(sys._getframe(1).f_code.co_filename):  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            return True
        raise TypeError("a tensor of the model is neither true nor false at conversion")

    def __array__(self, *_: Any, **__: Any) -> npt.NDArray[Any]:
        raise TypeError("a tensor of the model has no elements at conversion")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {tensor_type_of(self)}>"

    def __add__(self, other: Operand) -> Tensor:
        return binary("AddV2", self, other)

    def __radd__(self, other: float) -> Tensor:
        return binary("AddV2", other, self)

    def __sub__(self, other: Operand) -> Tensor:
        return binary("Sub", self, other)

    def __rsub__(self, other: float) -> Tensor:
        return binary("Sub", other, self)

    def __mul__(self, other: Operand) -> Tensor:
        return binary("Mul", self, other)

    def __rmul__(self, other: float) -> Tensor:
        return binary("Mul", other, self)

    def __truediv__(self, other: Operand) -> Tensor:
        return binary("RealDiv", self, other)

    def __rtruediv__(self, other: float) -> Tensor:
        return binary("RealDiv", other, self)

    def __floordiv__(self, other: Operand) -> Tensor:
        return binary("FloorDiv", self, other)

    def __rfloordiv__(self, other: float) -> Tensor:
        return binary("FloorDiv", other, self)

    def __mod__(self, other: Operand) -> Tensor:
        return binary("FloorMod", self, other)

    def __rmod__(self, other: float) -> Tensor:
        return binary("FloorMod", other, self)

    def __pow__(self, other: Operand) -> Tensor:
        return binary("Pow", self, other)

    def __neg__(self) -> Tensor:
        return unary("Neg", self)

    def __abs__(self) -> Tensor:
        return unary("Abs", self)

    # Of conditions.

    def __and__(self, other: ir.Value) -> Tensor:
        return binary("LogicalAnd", self, other)

    def __or__(self, other: ir.Value) -> Tensor:
        return binary("LogicalOr", self, other)

    def __invert__(self) -> Tensor:
        return unary("LogicalNot", self)

    # Of integers.

    def __xor__(self, other: Operand) -> Tensor:
        return binary("BitwiseXor", self, other)

    # Python turns ``1 < x`` into ``x > 1``, which is another op.

    def __lt__(self, other: Operand) -> Tensor:
        return compare("Less", self, other)

    def __le__(self, other: Operand) -> Tensor:
        return compare("LessEqual", self, other)

    def __gt__(self, other: Operand) -> Tensor:
        return compare("Greater", self, other)

    def __ge__(self, other: Operand) -> Tensor:
        return compare("GreaterEqual", self, other)


Operand: TypeAlias = "ir.Value | float"
"""An operand of an elementwise op; one of several is a value. A number of numpy, or an array, is one as well."""

MixedSize: TypeAlias = "int | Tensor"
"""A size: a number if it is known, otherwise an int32 scalar that the model computes. MLIR calls such sizes mixed."""


def emit(name: str, operands: Sequence[ir.Value], shape: Sequence[int | None], dtype: str, **attributes: Any) -> Tensor:
    """Emits an op with one result of the given type."""
    kind = ranked_tensor_type(TensorType(dtype, tuple(shape)))
    return Tensor(create_op(name, [kind], operands, attributes).result)


_NUMPY = {"float16": "f2", "float32": "f4", "float64": "f8", "bool": "?"}


def numpy_dtype(dtype: str) -> npt.DTypeLike:
    """Returns numpy's dtype of a dtype."""
    if dtype == "bfloat16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    return _NUMPY.get(dtype, dtype)


def constant(value: npt.ArrayLike, dtype: str) -> Tensor:
    """Emits a constant of the given dtype."""
    given = np.asarray(value)
    if given.dtype == np.object_:
        raise TypeError(f"an operand is {value!r}, which is neither a tensor nor numbers")
    array = np.ascontiguousarray(given.astype(numpy_dtype(dtype)))
    array = array.reshape(np.shape(value))
    kind = ranked_tensor_type(TensorType(dtype, array.shape))
    attribute = ir.DenseElementsAttr.get(array, type=kind)
    return Tensor(ir.Operation.create("tf.Const", results=[kind], attributes={"value": attribute}).result)


def dtype_beside(alike: Sequence[Any]) -> str | None:
    """Returns the dtype that numbers get beside operands of one dtype; None for int32, if all are integers.

    Args:
        alike: The operands: values, arrays, numbers or lists of numbers. An array of float64 counts as numbers.
    """
    shaped = (one for one in alike if isinstance(one, ir.Value) and isinstance(one.type, ir.ShapedType))
    values = [tensor_type_of(one).dtype for one in shaped]
    arrays = [np.asarray(cast("Any", one)).dtype for one in alike if isinstance(one, (np.ndarray, np.generic))]
    typed = [*values, *(str(kind) for kind in arrays if kind.name != "float64")]
    floats = (not isinstance(one, ir.Value) and np.asarray(one).dtype.kind == "f" for one in alike)
    return typed[0] if typed else "float32" if any(floats) else None


def operand_array(value: Any, dtype: str | None = None, integers: str = "") -> npt.NDArray[Any]:
    """Returns the array of an operand that becomes a constant.

    Args:
        value: An array, a number, a text, or a list of these.
        dtype: The dtype of numbers, also of those in arrays of numpy's own dtypes, float64 and int64; None for those of
            the array, and int32 or float32 for other numbers.
        integers: The dtype of integers, also of those in arrays; empty for ``dtype``.

    Raises:
        FusionError: It is something else, or not of this dtype.
    """
    try:
        array: npt.NDArray[Any] = np.asarray(value)
    except (ValueError, TypeError):  # lists of different lengths, or of values
        array = np.array(None)
    kind = "i" if integers and not array.size else array.dtype.kind
    if kind not in "biufcSUV":
        hint = "Pass a tensor of the model, an array, or numbers."
        raise FusionError(f"an operand is {value!r}, neither a value nor numbers", hint=hint)
    usual = integers if kind in "iu" else ""
    if not isinstance(value, (np.ndarray, np.generic)) or isinstance(value, float):  # np.float64 is a float
        usual = {"i": integers or dtype or "int32", "f": dtype or "float32"}.get(kind, "")
    elif array.dtype.name in {"float64", "int64"}:
        usual = integers or dtype or ""
    if not usual:
        return array
    try:
        wanted = array.astype(numpy_dtype(usual))
    except (TypeError, ValueError):  # texts, and quantized numbers
        raise FusionError(f"{value!r} is beside {usual}, and must be a value of this dtype") from None
    if wanted.dtype.kind in "iu" and not np.array_equal(wanted, array):
        raise FusionError(f"{value!r} is beside {usual}, which cannot hold it")
    return wanted


def unary(name: str, value: ir.Value) -> Tensor:
    """Emits an op that preserves shape and dtype, such as ``Neg``."""
    return emit(name, [value], Tensor(value).shape, Tensor(value).dtype)


def binary(name: str, a: Operand, b: Operand) -> Tensor:
    """Emits an op on two values of one dtype, such as ``AddV2``."""
    first, second = _alike(a, b)
    return emit(name, [first, second], _broadcast(first, second), first.dtype)


def compare(name: str, a: Operand, b: Operand) -> Tensor:
    """Emits a comparison, such as ``Less``."""
    first, second = _alike(a, b)
    attributes = {"incompatible_shape_error": True} if name in {"Equal", "NotEqual"} else {}
    return emit(name, [first, second], _broadcast(first, second), "bool", **attributes)


def select(condition: ir.Value, a: Operand, b: Operand) -> Tensor:
    """Emits ``SelectV2``: ``a`` where the condition is true, otherwise ``b``."""
    first, second = _alike(a, b)
    return emit("SelectV2", [condition, first, second], _broadcast(condition, first, second), first.dtype)


def _function(name: str) -> Callable[[ir.Value], Tensor]:
    return functools.partial(unary, name)


ceil = _function("Ceil")
cos = _function("Cos")
exp = _function("Exp")
floor = _function("Floor")
log = _function("Log")
rsqrt = _function("Rsqrt")
sign = _function("Sign")
sin = _function("Sin")
sqrt = _function("Sqrt")
square = _function("Square")


def atan2(y: Operand, x: Operand) -> Tensor:
    """Emits ``Atan2``: the angle of the point ``(x, y)``."""
    return binary("Atan2", y, x)


def equal(a: Operand, b: Operand) -> Tensor:
    """Emits ``Equal``."""
    return compare("Equal", a, b)


def not_equal(a: Operand, b: Operand) -> Tensor:
    """Emits ``NotEqual``."""
    return compare("NotEqual", a, b)


@overload
def maximum(a: ir.Value, b: Operand) -> Tensor: ...
@overload
def maximum(a: Operand, b: ir.Value) -> Tensor: ...
@overload
def maximum(a: MixedSize, b: MixedSize) -> MixedSize: ...
def maximum(a: Operand, b: Operand) -> float | Tensor:
    """Emits ``Maximum``; of two numbers, which sizes may be, returns the larger."""
    return binary("Maximum", a, b) if isinstance(a, ir.Value) or isinstance(b, ir.Value) else max(a, b)


@overload
def minimum(a: ir.Value, b: Operand) -> Tensor: ...
@overload
def minimum(a: Operand, b: ir.Value) -> Tensor: ...
@overload
def minimum(a: MixedSize, b: MixedSize) -> MixedSize: ...
def minimum(a: Operand, b: Operand) -> float | Tensor:
    """Emits ``Minimum``; of two numbers, which sizes may be, returns the smaller."""
    return binary("Minimum", a, b) if isinstance(a, ir.Value) or isinstance(b, ir.Value) else min(a, b)


def _alike(*operands: Operand) -> list[Tensor]:
    """Returns operands as tensors: numbers become constants of the others' dtype."""
    dtypes = dict.fromkeys(Tensor(operand).dtype for operand in operands if isinstance(operand, ir.Value))
    if len(dtypes) > 1:
        raise NotDecomposed(f"operands are {' and '.join(dtypes)}, not of one dtype")
    (dtype,) = dtypes
    return [Tensor(operand) if isinstance(operand, ir.Value) else constant(operand, dtype) for operand in operands]


def _broadcast(*values: ir.Value) -> Shape:
    """The shape of an elementwise op on the values; raises ``NotDecomposed`` without one."""
    try:
        return broadcast_shapes([Tensor(value).shape for value in values])
    except ShapeError as error:
        raise NotDecomposed(str(error)) from None
