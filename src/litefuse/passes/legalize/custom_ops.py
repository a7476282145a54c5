"""Custom ops for the ops that LiteRT lacks, if allowed, and one error for the rest."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any

from litefuse.errors import ConversionError, FusionError, UnsupportedOp, UnsupportedOpsError
from litefuse.ir.attributes import attribute_value, custom_op_attributes
from litefuse.ir.call_graph import function_symbol, functions
from litefuse.ir.locations import node_name
from litefuse.ir.mlir import func, ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.types import is_resource, tensor_type_of
from litefuse.passes.legalize.lacking_ops import (
    REASON,
    CustomOpForm,
    is_chosen,
    is_option,
    left_over,
    tensorflow_name,
    tensorflow_op,
)
from litefuse.support.options.names import closest
from litefuse.support.records import Record

# Limits of frequencies, which the kernel of Mfcc reads as integers (tflite/kernels/mfcc.cc).
_LIMITS = ("lower_frequency_limit", "upper_frequency_limit")

# The dtypes that can be narrowed, and to which.
_WIDE = {"complex128": "complex64", "float64": "float32", "int64": "int32"}

# Narrowing does not help an op on these.
_NO_NUMBERS = frozenset({"resource", "string", "variant"})

# A shape is the text that MLIR has of it, such as 2x? (flexbuffers of TFLiteConverter's kind hold no lists of lists).
_SHAPE = re.compile(r"#tf_type\.shape<([\dx?]*)>")

_VARIABLE_OPS = frozenset({"tf.VarHandleOp", "tf.ReadVariableOp", "tf.AssignVariableOp"})

# LiteRT's TensorType enum (schema.fbs), whose numbers represent type attributes.
_TENSOR_TYPES = {
    name: number
    for number, name in enumerate(
        (
            *("float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16", "complex64", "int8"),
            *("float64", "complex128", "uint64", "resource", "variant", "uint32", "uint16", "int4", "bfloat16"),
        )
    )
}


class EmitCustomOps(Record):
    """Replaces the TensorFlow ops that are left after the engine and ``DecomposeOps`` by custom ops.

    A custom op has the TensorFlow op's name. Its options are a flexbuffer map of all the op's attributes, with types as
    numbers of LiteRT's ``TensorType``, as TFLiteConverter writes them.

    Attributes:
        allow: True for any op, or the names of the allowed ones.
        pack: The ops that litefuse has a kernel for, which are always allowed.
        runtime: The ops that LiteRT has a kernel for, which are always allowed.
        emitted: Filled with the ops that became custom ops.
        narrow: Whether the conversion narrows dtypes already.
        lower: Lowers a module of one function, the rewriting of an op. If given, the error tells whether narrowing
            would help an int64 op.

    Raises:
        UnsupportedOpsError: Ops are left that are not allowed; the error lists all of them.
    """

    name = "emit-custom-ops"
    allow: bool | Collection[str] = False
    pack: Collection[str] = ()
    runtime: Collection[str] = ()
    emitted: list[CustomOpForm] = field(default_factory=list[CustomOpForm])
    narrow: bool = False
    lower: Callable[[ir.Module], None] | None = None

    def run(self, module: ir.Module) -> bool:
        left = [(function, op) for function in functions(module).values() for op in left_over(function)]
        refused = [(function, op) for function, op in left if _is_stateful(op) or not self._allows(op)]
        if refused:
            # Reads and assignments of a variable are left too if another op on it is left: report only that one.
            blamed = [each for each in refused if each[1].name not in _VARIABLE_OPS]
            shown = blamed or refused
            wide = {dtype for _, op in shown for dtype in self._narrowable(op) if not self.narrow}
            allowed = set[str]() if isinstance(self.allow, bool) else {*self.allow}
            needless = allowed - {tensorflow_name(op) for _, op in left}
            lacking = {name for _, op in shown if not _is_stateful(op) and (name := tensorflow_name(op))}
            wanted = sorted(lacking | allowed - needless) if lacking else []
            raise _error([_describe(function, op) for function, op in shown], sorted(wide), sorted(needless), wanted)
        for function, op in left:
            name = tensorflow_name(op) or ""
            in_runtime = name in self.runtime and self._has_kernel(op, name)
            in_pack = not in_runtime and self._has_kernel(op, name)
            python_only = in_pack and _is_python_only(op, name)
            self.emitted.append(CustomOpForm(name, in_runtime, in_pack, python_only, _reason(op)))
            _replace(function, op)
        return bool(left)

    def _allows(self, op: ir.OpView) -> bool:
        name = tensorflow_name(op)
        if name is None:
            return False
        if is_chosen(op):
            return True
        return self._has_kernel(op, name) or (self.allow if isinstance(self.allow, bool) else name in self.allow)

    def _has_kernel(self, op: ir.OpView, name: str) -> bool:
        """Whether there is a kernel for the op; if not for this form of it, states why in an attribute."""
        if name in self.runtime:
            reason = _refusal_of_runtime(name, _attributes(op))
        elif name in self.pack:
            reason = _refusal(op, name)
        else:
            return False
        if reason:
            op.attributes[REASON] = ir.StringAttr.get(reason)
        return reason is None

    def _narrowable(self, op: ir.OpView) -> set[str]:
        """Returns the dtypes of an op whose narrowing might make it an op that LiteRT has."""
        if op.name == "tfl.custom_tf" and not _reason(op):
            return set()  # no rewriting of this op exists
        dtypes = {tensor_type_of(value).dtype for value in (*op.operands, *op.results)}
        if dtypes & _NO_NUMBERS:
            return set()
        found = dtypes & _WIDE.keys()
        if "int64" in found and not self._is_rewritten_in_int32(op):
            found.remove("int64")
        return found

    def _is_rewritten_in_int32(self, op: ir.OpView) -> bool:
        if self.lower is None:
            return False
        from litefuse.ir.tensorflow_op import NotDecomposed
        from litefuse.passes.legalize.rewriting import Rewritings

        try:
            return Rewritings(self.lower, narrow=True).find(op) is not None
        except NotDecomposed:
            return False


def _refusal(op: ir.OpView, name: str) -> str | None:
    # Imported late: few models have such ops.
    from litefuse.kernels.pack.supported import refusal

    return refusal(name, [tensor_type_of(result).dtype for result in op.results], _attributes(op))


def _refusal_of_runtime(op: str, attributes: Mapping[str, Any]) -> str | None:
    """Returns why the runtime's kernel does not compute an op of this form; None if it does."""
    for name in _LIMITS if op == "Mfcc" else ():
        if name in attributes and not float(attributes[name]).is_integer():
            return f"LiteRT's kernel takes whole frequencies, and its {name} is {attributes[name]:g}"
    return None


def _is_python_only(op: ir.OpView, name: str) -> bool:
    from litefuse.kernels import PYTHON_ONLY
    from litefuse.litert.runtime.custom_op import is_beyond_native

    return name in PYTHON_ONLY or is_beyond_native(name, _attributes(op))


def _attributes(op: ir.OpView) -> dict[str, Any]:
    own = tensorflow_op(op)
    return {key: attribute_value(own.attributes[key]) for key in own.attributes if is_option(key)}


def _is_stateful(op: ir.OpView) -> bool:
    """Whether the op uses a resource, which a custom op's kernel cannot access."""
    return any(map(is_resource, (*op.operands, *op.results)))


def _reason(op: ir.OpView) -> str:
    return ir.StringAttr(op.attributes[REASON]).value if REASON in op.attributes else ""


def _describe(function: func.FuncOp, op: ir.OpView) -> UnsupportedOp:
    return UnsupportedOp(
        op=tensorflow_name(op) or op.name,
        node=node_name(op.location),
        function=function_symbol(function),
        operands=tuple(str(tensor_type_of(value)) for value in op.operands),
        results=tuple(str(tensor_type_of(value)) for value in op.results),
        reason=_reason(op),
    )


# Advice for ops that should be replaced in the model.
_ADVICE = {
    frozenset({"EagerPyFunc", "PyFunc", "PyFuncStateless"}): (
        "Python code called by tf.py_function or tf.numpy_function is not saved with the model: write it in ops."
    ),
    frozenset({"MergeV2Checkpoints", "Restore", "RestoreSlice", "RestoreV2", "Save", "SaveSlices", "SaveV2"}): (
        "LiteRT reads and writes no checkpoints: let the signatures that save and restore give and take the weights as "
        "tensors, which the program writes: https://litefuse.github.io/litefuse/guides/training/"
    ),
    frozenset({"TFText>", "SentencepieceOp", "SentencepieceTokenizeOp"}): (
        "This tokenizer cannot be converted. Cut it off: convert the part of the model that takes token ids (in Keras "
        "Hub, the classifier without its preprocessor), and tokenize before the call. "
        "https://litefuse.github.io/litefuse/guides/text/ lists the tokenizers that can be converted."
    ),
}


def _error(
    refused: list[UnsupportedOp], wide: Sequence[str], needless: Sequence[str], wanted: list[str]
) -> UnsupportedOpsError:
    names = sorted({op.op for op in refused})
    listed = "\n".join(f"  {op}" for op in refused)
    hint = _way_of_custom_ops(names, wanted)
    if needless:
        hint = f"Allowed, but not among them: {', '.join(needless)}. {closest(needless, names)}".rstrip() + f"\n{hint}"
    for ops, advice in _ADVICE.items():
        if not ops.isdisjoint(part for name in names for part in (name, name[: name.find(">") + 1])):
            hint = f"{advice}\n{hint}"
    if wide:
        hint = (
            f"Narrowing may help, where the values allow it: dtypes='narrow', --dtypes narrow computes "
            f"{' and '.join(wide)} in {' and '.join(_WIDE[dtype] for dtype in wide)}.\n{hint}"
        )
    return UnsupportedOpsError(f"LiteRT has no op for {', '.join(names)}:\n{listed}", hint=hint, ops=refused)


def _way_of_custom_ops(refused: Sequence[str], wanted: list[str]) -> str:
    """Says how the refused ops become custom ops, with the names to allow; none where no custom op can be one."""
    from litefuse.litert.runtime.custom_op import registered_kernels

    barred = ", ".join(name for name in refused if name not in wanted)
    ways = [f"{barred} cannot be custom ops: write the model without them."] if barred else []
    if wanted:
        allow = f"--allow-custom-ops {shlex.quote(','.join(wanted))}, in Python allow_custom_ops={wanted}"
        ways.append(f"Allow them as custom ops: {allow}.")
    if ready := [name for name in wanted if name in registered_kernels()]:
        ways.append(f"Kernels of {', '.join(ready)} are registered already.")
    if new := [name for name in refused if name in wanted and name not in ready]:
        begin = f"which litefuse kernels new {shlex.quote(new[0])} --from MODEL begins"
        ways.append(f"The interpreter needs kernels of {', '.join(new)}, {begin}. Or write the model without them.")
    return "\n".join(ways)


def _replace(function: func.FuncOp, op: ir.OpView) -> None:
    tf_op = tensorflow_op(op)
    name = tensorflow_name(op) or ""
    options: dict[str, Any] = {}
    for key in tf_op.attributes:
        if is_option(key) and not key.endswith("SegmentSizes"):  # which belongs to MLIR
            options[key] = _option(tf_op.attributes[key])
    # Imported late: models without custom ops do not need flexbuffers.
    from litefuse.ir.custom_options import encode_options

    try:
        data = encode_options(options, typed_strings=True)
    except FusionError as error:
        raise ConversionError(
            f"{name} cannot become a custom op: {error.message}",
            where=f"node {node_name(op.location)}, function {function_symbol(function)}",
        ) from error
    with ir.InsertionPoint(op):
        custom = create_op(
            "tfl.custom",
            [result.type for result in op.results],
            op.operands,
            custom_op_attributes(name, data),
            location=op.location,
        )
    for old, new in zip(op.results, custom.results, strict=True):
        old.replace_all_uses_with(new)
    op.operation.erase()


def _option(attribute: ir.Attribute) -> Any:
    if isinstance(attribute, ir.TypeAttr):
        return _TENSOR_TYPES.get(tensor_type_of(ir.UnrankedTensorType.get(attribute.value)).dtype, attribute)
    if isinstance(attribute, ir.ArrayAttr):
        return [_option(item) for item in attribute]
    shape = _SHAPE.fullmatch(str(attribute)) if attribute.__class__ is ir.Attribute else None
    return shape[1] if shape else attribute_value(attribute)
