"""Models of raw ops, one signature for each, converted and compared with TensorFlow."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from tests.tensorflow.checking import check_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    import litefuse
    from tests.tensorflow.process import TensorFlow

Make: TypeAlias = "Callable[[np.random.Generator, Sequence[int]], Any]"


@dataclass(frozen=True)
class Case:
    """One op: its attributes, its inputs (None for an open size) and constant operands.

    Attributes:
        op: The op's name.
        inputs: For each operand the signature's shape and dtype, or the value of a constant.
        attributes: The op's attributes.
        values: Makes an operand's value from (random, shape, dtype), by operand; others are normally distributed.
        outcome: What the report must say of it.
        open_sizes: What to put in place of the open sizes, in turn.
    """

    op: str
    inputs: Sequence[Any]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    values: Mapping[int, Make] = field(default_factory=dict[int, Make])
    outcome: str = "rewritten"
    open_sizes: Sequence[int] = (1, 3)


def ops(tf: Any, cases: Sequence[tuple[str, Sequence[Any], Mapping[str, Any]]]) -> Any:
    """A module with one signature for each case, c0, c1..., that calls the raw op."""
    module = tf.Module()
    signatures: dict[str, Any] = {}
    for number, (op, inputs, attributes) in enumerate(cases):
        function = one_op(tf, op, inputs, attributes)
        setattr(module, f"f{number}", function)
        signatures[f"c{number}"] = function.get_concrete_function()
    return module, signatures


def lone(tf: Any, op: str, dtype: str) -> Any:
    return ops(tf, [(op, [((None, 3, 3), dtype)], {})])


def one_op(tf: Any, op: str, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    open_inputs = [cast("tuple[Any, str]", each) for each in inputs if isinstance(each, tuple)]
    specs = [tf.TensorSpec(shape, dtype, name=f"x{n}") for n, (shape, dtype) in enumerate(open_inputs)]
    raw_op = getattr(tf.raw_ops, op)
    keywords = {name: tf.as_dtype(value) if name == "Targmax" else value for name, value in attributes.items()}

    def serve(*args: Any) -> dict[str, Any]:
        remaining = iter(args)
        operands = [next(remaining) if isinstance(each, tuple) else tf.constant(each) for each in inputs]
        results = raw_op(**dict(zip(inspect.signature(raw_op).parameters, operands, strict=False)), **keywords)
        # An op with several results returns a named tuple.
        several = cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)
        return {f"y{index}": result for index, result in enumerate(several)}

    return tf.function(serve, input_signature=specs, autograph=False)


def calls_of(cases: Sequence[Case]) -> list[tuple[str, dict[str, npt.NDArray[Any]]]]:
    random = np.random.default_rng(5)
    calls: list[tuple[str, dict[str, npt.NDArray[Any]]]] = []
    for number, case in enumerate(cases):
        for size in case.open_sizes:
            inputs: dict[str, npt.NDArray[Any]] = {}
            for index, each in enumerate(case.inputs):
                if not isinstance(each, tuple):
                    continue
                open_shape, dtype = cast("tuple[Sequence[int | None], str]", each)
                key = f"x{len(inputs)}"
                shape = [size if n is None else n for n in open_shape]
                make = case.values.get(index)
                value = make(random, shape) if make else random.standard_normal(shape) * 3
                inputs[key] = np.asarray(value).astype(dtype)
            calls += [(f"c{number}", inputs)] * 2
    return calls


def check_cases(tensorflow: TensorFlow, cases: Sequence[Case], rtol: float = 1e-5) -> litefuse.ConversionResult:
    path = tensorflow.save(ops, [(case.op, case.inputs, case.attributes) for case in cases])
    result = check_calls(tensorflow, path, calls_of(cases), rtol=rtol, allow_custom_ops="never")
    assert result.report.custom_ops == ()
    found = {(each.op, each.outcome) for each in result.report.lacking_ops}
    assert found == {(case.op, case.outcome) for case in cases if case.outcome != "builtin"}
    return result


def integers(low: int, high: int) -> Make:
    def make(random: np.random.Generator, shape: Sequence[int]) -> Any:
        return random.integers(low, high, shape)

    return make


def uniform(low: float, high: float) -> Make:
    def make(random: np.random.Generator, shape: Sequence[int]) -> Any:
        return random.uniform(low, high, shape)

    return make


def always(value: Any) -> Make:
    def make(random: np.random.Generator, shape: Sequence[int]) -> Any:
        return value

    return make
