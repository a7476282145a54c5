"""Tests of conversion code, in pytest or any other runner: what composites become, and that they compute the same.

    from litefuse.testing import assert_fused, assert_refused, became

    def test_scaled_gelu():
        assert_fused(model, "scaled_gelu", into="ScaledGelu", cases=[{"x": np.ones([2, 4], np.float32)}])

    def test_other_dtypes():
        assert became("scaled_gelu", "float16[?,4]", "float16[?,4]", {"scale": 2.0}).reason == "x is float16[?,4], ..."

A model is anything that ``litefuse.convert`` takes: a SavedModel's folder, a function of TensorFlow, or an exported
JAX function. Only functions of TensorFlow need TensorFlow.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from litefuse.conversion.api import convert
from litefuse.errors import LitefuseError
from litefuse.support.options.names import fits

if TYPE_CHECKING:
    import numpy.typing as npt

    from litefuse.support.report import CompositeReport
    from litefuse.support.result import ConversionResult

__all__ = ["assert_fused", "assert_refused", "became"]

# Rounding is measured in so many runs with moved ops, for a case that differs.
_RUNS = 8


def assert_fused(
    model: object,
    name: str = "*",
    *,
    into: str | None = None,
    ops: Mapping[str, int] | None = None,
    unchecked: str | None = None,
    cases: Iterable[Mapping[str, npt.ArrayLike]] = (),
    counts: Mapping[str, str] | None = None,
    tolerance: float = 1e-5,
    signature: str | None = None,
    **options: Any,
) -> ConversionResult:
    """Converts a model, and asserts that its composites are fused and compute what their bodies compute.

    Each is compared with its body on the numbers of the self-check, of all kinds (``Checks(fusions="thorough")``).
    Cases of your own are run by the file and by one with the composites inlined, one after the other in two
    interpreters.

    Args:
        model: See :func:`litefuse.convert`.
        name: The composites' name, or a pattern of names such as ``lstm_*``; there is at least one.
        into: What each becomes, as in the report: ``ScaledGelu``, ``CONV_2D`` or ``AddV2, Mul``.
        ops: The ops of the file, by LiteRT's names, each with how often it is there.
        unchecked: A part of the reason why they cannot be compared with their bodies; None: they are.
        cases: Inputs of the model by name.
        counts: By the names of outputs that are defined only up to a count, the names of the outputs with these counts:
            a scalar counts along the first dimension, one of shape ``[batch]`` along the second.
        tolerance: The largest error of an element of a float output, relative to the element, or to how far rounding
            moves it.
        signature: The signature that cases call; None for the only one.
        options: Arguments of :func:`litefuse.convert`.

    Returns:
        The conversion.

    Raises:
        AssertionError: What is asserted does not hold; the message says what does.
    """
    options.setdefault("checks", {"fusions": "thorough"})
    result = convert(model, **options)
    for composite in _named(result, name):
        what = f"composite {composite.name!r} (function {composite.function})"
        _require(composite.outcome == "fused", f"{what} is not fused: {composite.reason}")
        if unchecked is None:
            _require(composite.unchecked is None, f"{what} was not compared with its body: {composite.unchecked}")
        else:
            reason = composite.unchecked or f"it was, and the error is {composite.error}"
            _require(unchecked in reason, f"{what} was to be unchecked, {unchecked!r}, but {reason}")
        _require(into in {None, composite.fused_into}, f"{what} became {composite.fused_into}, not {into}")
    if ops is not None:
        actual = dict(result.report.op_counts)
        _require(actual == dict(ops), f"the file has the ops {actual}, not {dict(ops)}")
    given = list(cases)
    if given:
        forms: Any = options.get("composites", {})
        others: Mapping[str, Any] = {"*": forms} if isinstance(forms, str) else forms
        options |= {"require_fused": False, "composites": {**others, name: "inline"}}
        _compare(result, convert(model, **options), given, counts or {}, tolerance, signature)
    return result


def assert_refused(model: object, name: str, reason: str, **options: Any) -> ConversionResult:
    """Converts a model, and asserts that none of its composites of a name is fused, and why.

    Args:
        model: See :func:`litefuse.convert`.
        name: The composites' name, or a pattern of names; there is at least one.
        reason: A part of the reason in the report.
        options: Arguments of :func:`litefuse.convert`.

    Raises:
        AssertionError: One is fused, or the reason is another.
    """
    result = convert(model, **options)
    for composite in _named(result, name):
        what = f"composite {composite.name!r} (function {composite.function})"
        _require(composite.outcome != "fused", f"{what} was not refused: it became {composite.fused_into}")
        _require(reason in (composite.reason or ""), f"{what} was refused because {composite.reason}, not {reason}")
    return result


def became(
    name: str,
    arguments: str | Sequence[str | npt.NDArray[Any]],
    results: str | Sequence[str],
    attributes: Mapping[str, Any] | None = None,
) -> CompositeReport:
    """Returns what conversion code makes of a composite of given types, without a model: the fastest test of refusals.

    It has no body to be compared with. TensorFlow must not be loaded in this process.

    Args:
        name: The composite's name.
        arguments: Types, ``"float32[?,4] int32[]"`` as one text or each, with ``?`` for dynamic sizes, ``[*]`` for any
            rank; arrays are arguments that are constant in the model.
        results: Types, alike.
        attributes: The annotation's attributes.

    Returns:
        An entry as in the report: ``outcome``, ``fused_into``, ``reason``.

    Raises:
        FusionError: The conversion code failed.
    """
    if "tensorflow" in sys.modules:
        raise LitefuseError(
            "TensorFlow is loaded in this process, and the lowering engine cannot be loaded beside it",
            hint="Test models with assert_fused and assert_refused, which convert in a process of their own.",
        )
    from litefuse.fusions.composites.fuse_composites import registered_fusion
    from litefuse.fusions.composites.outcome import Outcome
    from litefuse.fusions.composites.replace import Replacer
    from litefuse.ir.annotations import Annotation
    from litefuse.ir.call_graph import create_call
    from litefuse.ir.mlir import func, ir, mlir_context
    from litefuse.ir.op_creation import create_op
    from litefuse.ir.tensors import constant
    from litefuse.support.options.forms import CompositeForms
    from litefuse.support.report import CompositeReport

    def given(argument: str | npt.NDArray[Any]) -> ir.Value:
        if not isinstance(argument, str):
            return constant(argument, str(argument.dtype))
        return create_op("Placeholder", [_type(argument)], []).result

    with mlir_context(), ir.Location.unknown():
        module = ir.Module.create()
        outputs = [_type(text) for text in (results.split() if isinstance(results, str) else results)]
        with ir.InsertionPoint(module.body):
            caller = func.FuncOp("caller", ir.FunctionType.get([], []))
            with ir.InsertionPoint(caller.add_entry_block()):
                operands = [given(one) for one in (arguments.split() if isinstance(arguments, str) else arguments)]
                create_call("composite", outputs, operands)
                func.ReturnOp([])
            kind = ir.FunctionType.get([operand.type for operand in operands], outputs)
            composite = func.FuncOp("composite", kind, visibility="private")
            with ir.InsertionPoint(composite.add_entry_block()):
                func.ReturnOp([create_op("Placeholder", [output], []).result for output in outputs])
        replacer = Replacer(None, registered_fusion, CompositeForms(), check_custom_ops=False)
        annotation = Annotation(name, attributes or {})
        outcome = replacer.replace(module, composite, annotation, Outcome(name, "composite", 1, "inlined"))
    return CompositeReport(
        name, "composite", 1, outcome.kind, outcome.fused_into, outcome.reason, unchecked=outcome.unchecked
    )


def _require(holds: bool, message: str) -> None:
    if not holds:  # not an assert, which python -O leaves out
        raise AssertionError(message)


def _type(text: str) -> Any:
    """Returns the type of a text such as ``float32[?,4]``."""
    from litefuse.ir.mlir import ir
    from litefuse.ir.types import TensorType, element_type_of, ranked_tensor_type

    dtype, _, sizes = text.strip().removesuffix("]").partition("[")
    if sizes == "*":
        return ir.UnrankedTensorType.get(element_type_of(dtype))
    try:
        shape = tuple(None if size.strip() == "?" else int(size) for size in sizes.split(",") if size.strip())
        return ranked_tensor_type(TensorType(dtype, shape))
    except (KeyError, ValueError) as error:
        raise LitefuseError(f"{text!r} is not a type", hint="Write float32[?,4], int32[] or string[*].") from error


def _named(result: ConversionResult, name: str) -> list[CompositeReport]:
    composites = [composite for composite in result.report.composites if fits(composite.name, name)]
    names = ", ".join(composite.name for composite in result.report.composites) or "no composite"
    _require(bool(composites), f"the model has no composite {name!r}; it has {names}")
    return composites


def _compare(
    fused: ConversionResult,
    inlined: ConversionResult,
    cases: Sequence[Mapping[str, npt.ArrayLike]],
    counts: Mapping[str, str],
    tolerance: float,
    signature: str | None,
) -> None:
    """Asserts that two files compute the same of all cases."""
    import numpy as np

    from litefuse.conversion.verify.rounding import Rounding
    from litefuse.litert.results.difference import elements, up_to
    from litefuse.litert.runtime.interpreter import Interpreter

    def runner(content: bytes) -> Any:
        run = Interpreter(model_content=content).get_signature_runner(signature)

        def outputs(**inputs: Any) -> dict[str, npt.NDArray[Any]]:
            return {key: np.array(value) for key, value in run(**inputs).items()}

        return outputs

    body, replacement = runner(inlined.model_bytes), runner(fused.model_bytes)
    rounding = None
    for number, case in enumerate(cases, start=1):
        inputs = {key: np.asarray(value) for key, value in case.items()}
        expected, computed = body(**inputs), replacement(**inputs)
        for key, value in expected.items():
            what = f"case {number}, output {key!r}"
            types = [f"{array.dtype}{list(array.shape)}" for array in (computed[key], value)]
            _require(types[0] == types[1], f"{what} is {types[0]}, and of the body {types[1]}")
            if key in counts:
                computed[key] = up_to(expected[counts[key]], computed[key], value)
            difference = elements(computed[key], value)
            if difference.error > tolerance:
                rounding = rounding or Rounding(inlined.model_bytes, body, runner)
                for spread in itertools.islice(rounding.spreads(inputs, expected), _RUNS):
                    difference = elements(computed[key], value, spread[key])
            wrong = difference.undefined or (difference.place if difference.error > tolerance else "")
            _require(not wrong, f"{what}: {wrong}; the relative error is {difference.error:.2g}, above {tolerance:.0e}")
