"""Replaces the body of one composite by a fused op."""

from __future__ import annotations

import functools
import reprlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import FusionError, LitefuseError
from litefuse.fusions.builder import Builder, first_line
from litefuse.fusions.composite import Composite
from litefuse.fusions.composites.outcome import Check, CheckResult, CheckTerms, InputsOfSize, Outcome
from litefuse.fusions.fusable_op import FusableOp, KeptComposite
from litefuse.fusions.fusion import Fusion, similar_name
from litefuse.ir.annotations import Annotation, remove_annotation
from litefuse.ir.attributes import AUXILIARY, COMPOSITE, custom_code
from litefuse.ir.call_graph import calls_in, function_symbol, operations, terminator_of
from litefuse.ir.constants import DENSE_CONSTANTS
from litefuse.ir.defining_ops import source, through_calls
from litefuse.ir.locations import composite_location
from litefuse.ir.mlir import func, ir
from litefuse.ir.purity import is_pure
from litefuse.ir.tensorflow_op import NotDecomposed
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import TensorType, tensor_type_of
from litefuse.litert.runtime.custom_op import has_kernel
from litefuse.litert.runtime.kernel_pack import RESOLVED_OPS
from litefuse.litert.runtime.model_tables import STAND_IN
from litefuse.support.options.forms import CompositeForm, CompositeForms
from litefuse.support.plug_ins.entry_points import (
    is_raised_by_litefuse,
    place_of,
    raised_at,
    third_party_code,
    what_was_raised,
)


class Replacer:
    """Builds fused ops, has them checked, and replaces composites' bodies by them.

    Args:
        check: The self-check that a fusion must pass; None for none.
        find: Returns the fusion for an annotation; None if there is none.
        forms: The forms of the composites.
        check_custom_ops: Whether to compare kernels even with bodies that look like placeholders.
    """

    def __init__(
        self,
        check: Check | None,
        find: Callable[[Annotation], Fusion | None],
        forms: CompositeForms,
        *,
        check_custom_ops: bool,
    ) -> None:
        self._check = check
        self._find = find
        self._forms = forms
        self._check_custom_ops = check_custom_ops

    def replace(self, module: ir.Module, function: func.FuncOp, annotation: Annotation, outcome: Outcome) -> Outcome:
        """Replaces the body of one annotated function, if possible; returns the outcome."""
        form = self._forms[annotation.name]
        fusion = self._fusion(annotation, form)
        if isinstance(fusion, str):
            return _inlined(outcome, fusion)
        if function.is_external:
            return outcome._replace(reason="the function has no body")
        replacement = _empty_copy(function)
        body = _Body(function)
        try:
            composite = Composite(
                annotation.name,
                annotation.attributes,
                _arguments(module, function, replacement),
                list(function.type.results),
                outcome.function,
                [op.name for op in operations(function) if op.name not in _NOT_OF_BODY],
            )
            faster = self._forms.faster and not self._forms.is_chosen(annotation.name)
            reason = _build(fusion, composite, replacement, body, annotation.interface, inline_faster=faster)
            fused_into = [] if reason is not None else _fused_ops(replacement, fusion)
            if form == "builtin" and reason is None:
                custom = sorted({_op_name(op) for op in fused_into if _is_custom(op)})
                reason = _not_builtin(custom) if custom else None
            checked = CheckResult()
            if reason is None:
                checked = self._compared(module, function, replacement, fusion, composite)
                reason = checked.problem
        except BaseException:
            replacement.operation.erase()
            body.discard()
            raise
        if reason is not None:
            replacement.operation.erase()
            body.discard()
            return _inlined(outcome, reason)
        named, symbol = ", ".join(map(_op_name, fused_into)), function_symbol(function)
        for op in fused_into:
            op.operation.location = composite_location(annotation.interface, symbol)
        _swap_bodies(function, replacement)
        seen = {"error": checked.error, "unchecked": checked.unchecked, "note": checked.note}
        return outcome._replace(kind="fused", fused_into=named, symbol=symbol, **seen)

    def _compared(
        self, module: ir.Module, function: func.FuncOp, replacement: func.FuncOp, fusion: Fusion, composite: Composite
    ) -> CheckResult:
        """Compares a composite with its replacement, or says why it does not."""
        if self._check is None:
            return CheckResult(unchecked="the check of fusions is off")
        of_its_name = isinstance(fusion, FusableOp | KeptComposite)
        kernel = _kernel(replacement, fusion) if of_its_name else ""
        why = self._not_compared(function, kernel, composite.name) if of_its_name else fusion.unchecked
        if why is not None:
            return CheckResult(unchecked=why)
        terms = _check_terms(fusion, composite)._replace(kernel=kernel)
        checked = self._check(module, function, replacement, terms)
        if of_its_name and checked.problem is not None:
            return checked._replace(problem=f"with the kernel for it here, {checked.problem}")
        return checked

    def _not_compared(self, function: func.FuncOp, kernel: str, name: str) -> str | None:
        """Returns why a kernel that stands for the body is not compared with it; None if it is."""
        if self._forms[name] == "generate":
            return "it carries its body, with which a generated kernel is compared"
        if not has_kernel(kernel) and kernel not in RESOLVED_OPS:
            carries = self._forms[name] == "keep"
            return f"no kernel for it here{', and the op carries its body' if carries else ''}"
        if is_placeholder(function) and not self._check_custom_ops:
            return "its body is a placeholder"
        return None

    def _fusion(self, annotation: Annotation, form: CompositeForm) -> Fusion | str:
        """Returns the conversion code for a composite, or why there is none."""
        if (why := self._forms.inlined_because(annotation.name)) is not None:
            return why if form == "inline" else _Better(why)
        named = bool(annotation.name.strip()) and annotation.name.isprintable()
        if form in {"keep", "generate", "custom"} and not named:
            return f"its name {annotation.name!r} is not a valid op name: annotate it with another one"
        if form in {"keep", "generate"}:
            return KeptComposite()
        if form == "custom":
            return FusableOp()
        fusion = self._find(annotation)
        if fusion is not None:
            return fusion
        fusable = annotation.attributes.get("tfl_fusable_op")
        if fusable is None:
            return f"no fusion is registered for {annotation.name!r}{similar_name(annotation.name)}"
        if fusable is not True:
            return f"its attribute tfl_fusable_op is {fusable!r}, not true"
        if not named:
            return f"its name {annotation.name!r} is not a valid op name: annotate it with another one"
        # Not even built: its attributes need not fit into the options of an op that is not wanted.
        return _not_builtin([annotation.name]) if form == "builtin" else FusableOp()


class _Body:
    """A copy of a composite for a fused op that carries it; created on demand."""

    def __init__(self, function: func.FuncOp) -> None:
        self._function = function
        self._copy: ir.OpView | None = None

    def symbol(self) -> str:
        symbol = f"{function_symbol(self._function)}.decomposition"
        if self._copy is None:
            with ir.InsertionPoint(self._function):
                self._copy = self._function.clone()
            self._copy.attributes["sym_name"] = ir.StringAttr.get(symbol)
            self._copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
            remove_annotation(self._copy)
        return symbol

    def discard(self) -> None:
        if self._copy is not None:
            self._copy.operation.erase()


def _fused_ops(replacement: func.FuncOp, fusion: Fusion) -> list[ir.OpView]:
    """The ops that a fusion is named by: not those that prepare operands.

    TensorFlow's, which the engine lowers, are what a function computes with operators; classes prepare operands so.
    """
    ops = [op for op in operations(replacement) if op.name not in _UNNAMED and AUXILIARY not in op.attributes]
    if fusion.function is not None:
        return ops
    return [op for op in ops if not op.name.startswith("tf.")] or ops


def _not_builtin(custom_ops: Sequence[str]) -> str:
    return f"its form was chosen to be builtin, and its fusion gives {', '.join(custom_ops)}"


_UNNAMED = DENSE_CONSTANTS | {"func.return", "tfl.no_value"}  # not ops in a model
_KEPT = "STABLEHLO_COMPOSITE "
_NOT_OF_BODY = frozenset({"func.return", "tf.Const"})


def _arguments(module: ir.Module, function: func.FuncOp, replacement: func.FuncOp) -> list[Tensor]:
    """Returns the arguments of a replacement, which know the constants that they are in all calls."""
    calls = functools.cache(functools.partial(calls_in, module))  # few fusions ask for values
    tensors = [Tensor(argument) for argument in replacement.arguments]
    for argument, tensor in zip(function.arguments, tensors, strict=True):
        tensor.origin = lambda argument=argument: through_calls(calls(), argument)
    return tensors


def _empty_copy(function: func.FuncOp) -> func.FuncOp:
    symbol = f"{function_symbol(function)}.replacement"
    with ir.InsertionPoint(function):
        copy = func.FuncOp(symbol, function.type, visibility="private", loc=function.location)
    copy.add_entry_block([argument.location for argument in function.arguments])
    return copy


def _where(fusion: Fusion, composite: Composite) -> str:
    place = place_of(type(fusion)) or type(fusion).__qualname__
    return f"fusion {place}, composite {composite.name!r} (function {composite.function})"


def _check_terms(fusion: Fusion, composite: Composite) -> CheckTerms:
    count = len(composite.result_types)
    pairs = dict(one for one in fusion.open_results if isinstance(one, tuple))
    results = [one for one in fusion.open_results if not isinstance(one, tuple)]
    if any(index not in range(count) for index in (*results, *pairs, *pairs.values())):
        raise FusionError(
            f"open_results is {fusion.open_results!r}, the indices of results; the composite has {count}",
            where=_where(fusion, composite),
        )
    inputs = _check_inputs(fusion, composite)
    return CheckTerms(fusion.tolerance, inputs, results, pairs, ids_in_range=fusion.ids_in_range)


def _check_inputs(fusion: Fusion, composite: Composite) -> InputsOfSize | None:
    if type(fusion).check_inputs is Fusion.check_inputs:
        return None

    def inputs(size: int, random: np.random.Generator) -> Sequence[npt.NDArray[Any]] | None:
        where = _where(fusion, composite)
        with third_party_code("check_inputs failed", where, FusionError):
            values = fusion.check_inputs(composite, size, random)
        return None if values is None else _fitting(values, composite.arg_types, where)

    return inputs


# The dtypes that numpy supports itself.
_NUMPY = frozenset(
    {
        *("bool", "complex64", "float16", "float32", "float64", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64"),
    }
)


def _fitting(values: Sequence[Any], types: Sequence[TensorType], where: str) -> list[npt.NDArray[Any]]:
    """Returns a fusion's inputs for the check in the composite's dtypes; numpy itself makes floats float64."""
    if len(values) != len(types):
        raise FusionError(f"check_inputs gave {len(values)} arrays for {len(types)} arguments", where=where)
    arrays = [np.asarray(value) for value in values]
    for index, (array, kind) in enumerate(zip(arrays, types, strict=True)):
        fits = kind.shape is None or _has_sizes(array, kind.shape)
        if kind.dtype in _NUMPY:
            fits = fits and np.can_cast(array.dtype, kind.dtype, "same_kind")
        if not fits:
            actual = f"{array.dtype} {list(array.shape)}"
            raise FusionError(f"check_inputs gave {actual} for argument {index}, which is {kind}", where=where)
        if kind.dtype in _NUMPY:
            arrays[index] = array.astype(kind.dtype)
    return arrays


def _has_sizes(array: npt.NDArray[Any], sizes: Sequence[int | None]) -> bool:
    return array.ndim == len(sizes) and all(
        known is None or known == size for known, size in zip(sizes, array.shape, strict=True)
    )


class _Better(str):
    """The reason to keep a body that is better than the fused op."""

    __slots__ = ()


def _inlined(outcome: Outcome, reason: str) -> Outcome:
    return outcome._replace(reason=str(reason), better_inlined=isinstance(reason, _Better))


def _build(
    fusion: Fusion, composite: Composite, replacement: func.FuncOp, body: _Body, node: str, *, inline_faster: bool
) -> str | None:
    where = _where(fusion, composite)
    try:
        reason = _verdict(fusion.verify(composite))
        if reason is not None:
            return reason if fusion.function is None else _see(fusion, reason)
        reason = _verdict(fusion.faster_inlined(composite)) if inline_faster else None
        if reason is not None:
            return _Better(reason)
        with ir.InsertionPoint(replacement.entry_block), ir.Location.name(node):
            results = fusion.rewrite(composite, Builder(body.symbol, composite.result_types))
            results = [results] if isinstance(results, ir.Value) else _values(results, fusion)
            func.ReturnOp(results)
        reason = _result_mismatch(results, composite.result_types)
        if reason is not None:
            return _see(fusion, reason)
        replacement.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get(list(replacement.type.inputs), [value.type for value in results])
        )
        replacement.operation.verify()
    except ir.MLIRError as error:
        return _see(fusion, f"the fused op is not valid: {first_line(error)}", error)
    except NotDecomposed as error:
        return _see(fusion, str(error), error)
    except FusionError as error:
        if isinstance(fusion, FusableOp):  # the author asked for this op, and no other form of it would run
            error.where = error.where or where
            raise
        if not is_raised_by_litefuse(error):  # its author declines
            return error.message
        return _see(fusion, " ".join(filter(None, (f"{error.message}.", error.hint))).removesuffix("."), error)
    except LitefuseError:
        raise
    except Exception as error:
        hint = _OF_TENSORS if isinstance(error, AttributeError | TypeError) and "ensor" in str(error) else ""
        raise FusionError(f"the conversion code failed: {what_was_raised(error)}", where=where, hint=hint) from error
    return None


_OF_TENSORS = (
    "Arguments are tensors of the model: only shape, dtype and, of constants, value are known at conversion. "
    "Build ops with operators and with b, such as b.exp(x) and b.slice(x, begin, size)."
)


def _see(fusion: Fusion, reason: str, error: BaseException | None = None) -> str:
    """Adds to a reason the line of the fusion that it is about, or else where the fusion begins; nothing of our own."""
    line = "" if error is None else raised_at(error)
    place = line or place_of(type(fusion))
    return f"{reason}; see {place}" if place else reason


def _verdict(verdict: object) -> str | None:
    if verdict is None or (isinstance(verdict, str) and verdict.strip()):
        return verdict
    raise TypeError(f"verify returned {verdict!r}; it returns the reason not to fuse, a string, or None")


def _values(results: object, fusion: Fusion) -> list[ir.Value]:
    values = list(cast("Iterable[object]", results)) if isinstance(results, Iterable) else [results]
    if not all(isinstance(value, ir.Value) for value in values):
        name = "rewrite" if fusion.function is None else type(fusion).__qualname__
        hint = "b.equal compares elements" if isinstance(values[0], bool) else "b.constant makes one of an array"
        given = reprlib.repr(cast("Any", results))
        raise TypeError(f"{name} returned {given}; it returns the values that replace the results ({hint})")
    return cast("list[ir.Value]", values)


def _result_mismatch(results: Sequence[ir.Value], expected: Sequence[ir.Type]) -> str | None:
    if len(results) != len(expected):
        return f"the replacement has {len(results)} results, the composite {len(expected)}"
    for index, (value, kind) in enumerate(zip(results, expected, strict=True)):
        actual, wanted = tensor_type_of(value), tensor_type_of(kind)
        ranks_differ = None not in (actual.shape, wanted.shape) and actual.rank != wanted.rank
        sizes_differ = not ranks_differ and any(
            None not in sizes and sizes[0] != sizes[1]
            for sizes in zip(actual.shape or (), wanted.shape or (), strict=False)
        )
        if actual.dtype != wanted.dtype or ranks_differ or sizes_differ:
            return f"result {index} of the replacement is {actual}, the composite's {wanted}"
    return None


def _is_custom(op: ir.OpView) -> bool:
    """Whether an op is a custom op of the file: none that stands for a builtin op."""
    return op.name == "tfl.custom" and not custom_code(op).startswith(STAND_IN)


def _op_name(op: ir.OpView) -> str:
    if (name := custom_code(op)) == COMPOSITE:
        return f"{_KEPT}{ir.StringAttr(op.attributes['name']).value}"
    if name:
        return name.removeprefix(STAND_IN)
    return op.name.removeprefix("tfl.").upper() if op.name.startswith("tfl.") else op.name.removeprefix("tf.")


def _kernel(replacement: func.FuncOp, fusion: Fusion) -> str:
    """Returns the name of the op, and of the kernel that runs it, that stands for a whole body."""
    (op,) = _fused_ops(replacement, fusion)
    return _op_name(op).removeprefix(_KEPT)


def _swap_bodies(function: func.FuncOp, replacement: func.FuncOp) -> None:
    """Replaces the function's ops by those of the replacement."""
    block = function.entry_block
    for op in reversed(list(block.operations)):
        op.operation.erase()
    for old, new in zip(replacement.arguments, block.arguments, strict=True):
        old.replace_all_uses_with(new)
    for op in list(replacement.entry_block.operations):
        block.append(op)
    function.attributes["function_type"] = replacement.attributes["function_type"]
    replacement.operation.erase()


# Ops that take nothing but the shape of their operands.
_OF_SHAPES = frozenset({"tf.OnesLike", "tf.Rank", "tf.Shape", "tf.ShapeN", "tf.Size", "tf.ZerosLike"})


def is_placeholder(body: func.FuncOp) -> bool:
    """Whether the body of a composite computes nothing.

    Each of its results is an argument as it is, or depends on constants and shapes alone, as ``tf.zeros`` does. What
    reads a variable, draws random numbers or calls a function computes something.
    """
    return all(
        isinstance(source(value).owner, ir.Block) or not _is_computed(value)
        for value in terminator_of(body.entry_block).operands
    )


def _is_computed(result: ir.Value) -> bool:
    """Whether a value depends on anything but constants and shapes."""
    waiting, seen = [result], set[ir.Value]()
    while waiting:
        value = waiting.pop()
        op = value.owner
        if isinstance(op, ir.Block):  # it is an argument
            return True
        if value in seen or op.name in _OF_SHAPES:
            continue
        if not is_pure(op.name) or len(op.regions):
            return True
        seen.add(value)
        waiting += op.operands
    return False
