"""A TensorFlow op, or a formula of some, as a model: what becomes of it, and what it computes in the stock runtime."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from ai_edge_litert.interpreter import Interpreter

from litefuse.conversion.pipeline.lowering import Lowering, State, lower_module
from litefuse.ir.builder import Builder
from litefuse.ir.engine.lowering import flatbuffer
from litefuse.ir.importer import EntryPoint
from litefuse.ir.mlir import func, ir, mlir_context
from litefuse.ir.op_creation import create_op
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import TensorType, element_type_of, ranked_tensor_type
from litefuse.passes.weights import Weights

Array: TypeAlias = "npt.NDArray[Any]"

Formula: TypeAlias = "Callable[..., ir.Value]"
"""Emits several ops on the operands, which are ``Tensor``s, and returns the result; its first argument is a builder."""


class Constant(NamedTuple):
    """An operand that the model has as a constant; any other operand is an input.

    Attributes:
        value: Its value.
    """

    value: npt.ArrayLike


class Static(NamedTuple):
    """An operand that is an input whose dimensions are static, whatever those of the others.

    Attributes:
        value: Its value.
    """

    value: Array


class Model(NamedTuple):
    """A model of one op.

    Attributes:
        content: The model's file.
        forms: What became of each op that was rewritten, by its name.
    """

    content: bytes
    forms: dict[str, str]

    def __call__(self, *inputs: Array) -> list[Array]:
        """The results, of two calls in a row that agree."""
        run = Interpreter(model_content=self.content).get_signature_runner()
        given = {f"x{index}": value for index, value in enumerate(inputs)}
        first, second = run(**given), run(**given)
        names = [f"y{index}" for index in range(len(first))]
        for name in names:
            np.testing.assert_array_equal(first[name], second[name])
        return [first[name] for name in names]


def converted(
    op: str | Formula,
    operands: Sequence[Array | Constant | Static],
    results: Sequence[tuple[str, int | None]],
    attributes: Mapping[str, Any] = MappingProxyType({}),
    *,
    dynamic: bool = False,
    narrow: bool = False,
    unread: int = 0,
) -> Model:
    """Converts a model of one op, without custom ops.

    Args:
        op: The op's name, or the formula, which has one result.
        operands: Constants, and for each input an array of its dtype and shape, or ``Static``.
        results: The dtypes and ranks of the op's results, None for unknown ones; their shapes are inferred.
        attributes: The op's attributes.
        dynamic: Whether the dimensions of the inputs are dynamic.
        narrow: Whether ops of int64 may be computed in int32.
        unread: How many more results of float32 the op has that are no outputs.

    Raises:
        LitefuseError: It cannot be converted.
    """
    inputs = [each for each in operands if not isinstance(each, Constant)]
    with mlir_context():
        module = ir.Module.create()
        kinds = [ranked_tensor_type(_type_of(each, dynamic=dynamic)) for each in inputs]
        with ir.InsertionPoint(module.body), ir.Location.unknown():
            function = func.FuncOp("main", ir.FunctionType.get(kinds, []))
        with ir.InsertionPoint(function.add_entry_block()), ir.Location.unknown():
            b = Builder()
            arguments = iter(function.entry_block.arguments)
            values = [_constant(b, each) if isinstance(each, Constant) else next(arguments) for each in operands]
            if isinstance(op, str):
                declared = [_result_type(*each) for each in (*results, *[("float32", 1)] * unread)]
                answers = list(create_op(op, declared, values, attributes).results)[: len(results)]
            else:
                answers = [op(b, *map(Tensor, values))]
            func.ReturnOp(answers)
        function_type = ir.FunctionType.get(kinds, [each.type for each in answers])
        function.attributes["function_type"] = ir.TypeAttr.get(function_type)
        taken, given = (tuple(f"{key}{i}" for i in range(len(each))) for key, each in (("x", inputs), ("y", results)))
        entry = EntryPoint("main", taken, given, taken, given)
        lowering = Lowering((entry,), State(_no_variable, {}), Weights(sys.maxsize), narrow=narrow)
        lower_module(module, lowering)
        return Model(flatbuffer(module), {each.op: each.form for each in lowering.decomposed})


def check(
    op: str | Formula,
    operands: Sequence[Array | Constant | Static],
    *expected: npt.ArrayLike,
    attributes: Mapping[str, Any] = MappingProxyType({}),
    form: str | None = "rewritten",
    dynamic: Sequence[bool] = (False, True),
    narrow: bool = False,
    ranked: bool = True,
    unread: int = 0,
    rtol: float = 0.0,
    atol: float = 0.0,
) -> None:
    """Checks that an op is rewritten, and that the model computes what is expected.

    Args:
        op: The op's name; or the formula, whose ops may become anything.
        operands: Constants, and the values of the inputs.
        *expected: What the op's results are, of their dtypes.
        attributes: The op's attributes.
        form: What the op becomes, as in ``Decomposed``; None: nothing that would be reported; any: either.
        dynamic: Whether the dimensions of the inputs are dynamic: as a rule both is tried.
        narrow: Whether ops of int64 may be computed in int32.
        ranked: Whether the ranks of the results are known.
        unread: How many more results of float32 the op has that are no outputs.
        rtol: The error that is allowed, relative to each number.
        atol: The error that is allowed on top of that.
    """
    wanted = [np.asarray(each) for each in expected]
    results = [(_dtype_of(each), each.ndim if ranked else None) for each in wanted]
    inputs = [each for each in operands if not isinstance(each, Constant)]
    values = [each.value if isinstance(each, Static) else each for each in inputs]
    for is_dynamic in dynamic:
        model = converted(op, operands, results, attributes, dynamic=is_dynamic, narrow=narrow, unread=unread)
        assert not isinstance(op, str) or form in {model.forms.get(op), "any"}, model.forms
        for got, want in zip(model(*values), wanted, strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            if rtol or atol:
                wide = np.result_type(want, np.float64)  # halves and complex numbers, too
                np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol, atol)
            else:
                np.testing.assert_array_equal(got, want)


def counted(*shape: int) -> Any:
    """The numbers 0, 1, 2... of float32 in a shape."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def normal(*shape: int) -> Any:
    """Normally distributed numbers of float32, the same for each shape."""
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def _type_of(value: Array | Static, *, dynamic: bool) -> TensorType:
    if isinstance(value, Static):
        return TensorType(_dtype_of(value.value), value.value.shape)
    return TensorType(_dtype_of(value), tuple(None if dynamic else size for size in value.shape))


def _result_type(dtype: str, rank: int | None) -> ir.Type:
    if rank is None:
        return ir.UnrankedTensorType.get(element_type_of(dtype))
    return ranked_tensor_type(TensorType(dtype, (None,) * rank))


def _dtype_of(value: Array) -> str:
    return "string" if value.dtype == object else str(value.dtype)


def _constant(b: Builder, constant: Constant) -> ir.Value:
    value = np.asarray(constant.value)
    return b.strings(value) if value.dtype == object else b.constant(value, _dtype_of(value))


def _no_variable(variable: str) -> ir.Attribute:
    raise AssertionError(f"there is no variable {variable}")
