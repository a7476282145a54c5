"""Ops that LiteRT lacks: custom ops where allowed, one error for the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from litefuse.allowed_ops import closest
from litefuse.engine.locations import node_name
from litefuse.engine.mlir import func, ir
from litefuse.errors import ConversionError, FusionError, UnsupportedOp, UnsupportedOpsError
from litefuse.fusions.annotation import attribute_value
from litefuse.fusions.composite import tensor_type_of
from litefuse.fusions.marks import custom_op_attributes
from litefuse.passes.call_graph import function_symbol, functions, operations
from litefuse.passes.handles import is_resource

__all__ = [
    "REASON",
    "CustomOpForm",
    "EmitCustomOps",
    "is_option",
    "left_over",
    "tensorflow_name",
    "tensorflow_op",
    "withhold",
]

#: The attribute of an op that says why it was not rewritten into builtin ops.
REASON = "_litefuse_not_rewritten"

# What the name of an op ends in that the engine is not to know.
_WITHHELD = ".withheld"

# What may stand beside tfl ops in a module that is exported: IF is exported from the op that TensorFlow calls If.
_EXPORTED = frozenset({"arith.constant", "func.call", "func.return", "tf.If"})
_EXPORTED_DIALECTS = frozenset({"tfl", "stablehlo", "vhlo"})

# What can be narrowed, and to what.
_WIDE = {"complex128": "complex64", "float64": "float32", "int64": "int32"}

# An op on these lacks more than narrow numbers.
_NO_NUMBERS = frozenset({"resource", "string", "variant"})

_VARIABLE_OPS = frozenset({"tf.VarHandleOp", "tf.ReadVariableOp", "tf.AssignVariableOp"})

# LiteRT's TensorType enum (schema.fbs), in which type attributes are written.
_TENSOR_TYPES = {
    name: number
    for number, name in enumerate(
        (
            *("float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16", "complex64", "int8"),
            *("float64", "complex128", "uint64", "resource", "variant", "uint32", "uint16", "int4", "bfloat16"),
        )
    )
}


class CustomOpForm(NamedTuple):
    """A TensorFlow op that became a custom op.

    Attributes:
        op: Its name.
        in_pack: Whether litefuse has a kernel for it.
        python_only: Whether this has no native form.
        reason: Why it was not rewritten into builtin ops; empty if there is no rewriting of this op at all.
    """

    op: str
    in_pack: bool
    python_only: bool
    reason: str


@dataclass(frozen=True)
class EmitCustomOps:
    """Makes custom ops of the TensorFlow ops that are left after the engine and ``DecomposeOps``.

    A custom op is named after the TensorFlow op; its options are a flexbuffer map of all the op's attributes, types
    among them as numbers of LiteRT's ``TensorType``, as TFLiteConverter writes them.

    Attributes:
        allow: True for any op, or the names of those that are allowed.
        pack: The ops that litefuse has a kernel for: they need no permission.
        emitted: Filled with the ops that became custom ops.
        narrow: Whether what can be narrowed has been.

    Raises:
        UnsupportedOpsError: Ops are left that are not allowed; the error lists every one.
    """

    name: ClassVar[str] = "emit-custom-ops"
    allow: bool | Collection[str] = False
    pack: Collection[str] = ()
    emitted: list[CustomOpForm] = field(default_factory=list[CustomOpForm])
    narrow: bool = False

    def run(self, module: ir.Module) -> bool:
        left = [(function, op) for function in functions(module).values() for op in left_over(function)]
        refused = [(function, op) for function, op in left if _is_stateful(op) or not self._allows(op)]
        if refused:
            # What reads and assigns a variable is left as well when another op on it is: that one is to blame.
            blamed = [each for each in refused if each[1].name not in _VARIABLE_OPS]
            shown = blamed or refused
            wide = {dtype for _, op in shown for dtype in _narrowable(op) if not self.narrow}
            allowed = set[str]() if isinstance(self.allow, bool) else {*self.allow}
            needless = allowed - {tensorflow_name(op) for _, op in left}
            raise _error([_describe(function, op) for function, op in shown], sorted(wide), sorted(needless))
        for function, op in left:
            name = tensorflow_name(op) or ""
            in_pack = self._in_pack(op, name)
            self.emitted.append(CustomOpForm(name, in_pack, in_pack and _is_python_only(op, name), _reason(op)))
            _replace(function, op)
        return bool(left)

    def _allows(self, op: ir.OpView) -> bool:
        name = tensorflow_name(op)
        if name is None:
            return False
        return self._in_pack(op, name) or (self.allow if isinstance(self.allow, bool) else name in self.allow)

    def _in_pack(self, op: ir.OpView, name: str) -> bool:
        """Whether the pack has a kernel for the op; if not for this form of it, an attribute of the op says why."""
        if name not in self.pack:
            return False
        reason = _refusal(op, name)
        if reason:
            op.attributes[REASON] = ir.StringAttr.get(reason)
        return reason is None


def left_over(function: func.FuncOp) -> Iterator[ir.OpView]:
    """The ops of a lowered function that cannot be exported; those in nested regions are left out."""
    for op in operations(function):
        dialect = op.name.partition(".")[0]
        if op.name == "tfl.custom_tf" or (op.name not in _EXPORTED and dialect not in _EXPORTED_DIALECTS):
            yield op


def _refusal(op: ir.OpView, name: str) -> str | None:
    # Few models have such ops.
    from litefuse.kernels.refusals import refusal

    return refusal(name, [tensor_type_of(result).dtype for result in op.results], _attributes(op))


def _is_python_only(op: ir.OpView, name: str) -> bool:
    from litefuse.kernels import PYTHON_ONLY
    from litefuse.kernels.partly_native import is_beyond_native

    return name in PYTHON_ONLY or is_beyond_native(name, _attributes(op))


def _attributes(op: ir.OpView) -> dict[str, Any]:
    own = tensorflow_op(op)
    return {key: attribute_value(own.attributes[key]) for key in own.attributes if is_option(key)}


def _is_stateful(op: ir.OpView) -> bool:
    """Whether the op works on a resource, which no custom op's kernel gets at."""
    return any(map(is_resource, (*op.operands, *op.results)))


def withhold(op: ir.OpView, reason: str) -> None:
    """Keeps a TensorFlow op from the engine, which would make something wrong of it.

    Under a name that the engine does not know, it is left over; ``tensorflow_name`` gives its own.

    Args:
        op: The op.
        reason: Why it was not rewritten.
    """
    attributes = {key: op.attributes[key] for key in op.attributes} | {REASON: ir.StringAttr.get(reason)}
    withheld = ir.Operation.create(
        f"{op.name}{_WITHHELD}",
        results=[result.type for result in op.results],
        operands=list(op.operands),
        attributes=attributes,
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    for old, new in zip(op.results, withheld.results, strict=True):
        old.replace_all_uses_with(new)
    op.operation.erase()


def tensorflow_op(op: ir.OpView) -> ir.OpView:
    """The TensorFlow op itself: the engine wraps ops that its dialect does not know in ``tfl.custom_tf``."""
    return op.regions[0].blocks[0].operations[0] if op.name == "tfl.custom_tf" else op


def tensorflow_name(op: ir.OpView) -> str | None:
    """The TensorFlow op's name, such as ``Roll``; None for an op of another dialect."""
    name = tensorflow_op(op).name
    return name.removeprefix("tf.").removesuffix(_WITHHELD) if name.startswith("tf.") else None


def is_option(key: str) -> bool:
    """Whether an attribute is one of the op's own: those that begin with an underscore are bookkeeping."""
    return not key.startswith("_") and not key.endswith("_segment_sizes")


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


# What to do instead of some ops.
_ADVICE = {
    frozenset({"EagerPyFunc", "PyFunc", "PyFuncStateless"}): (
        "What tf.py_function and tf.numpy_function call is no part of a saved model: write it in ops."
    ),
    frozenset({"MergeV2Checkpoints", "Restore", "RestoreSlice", "RestoreV2", "Save", "SaveSlices", "SaveV2"}): (
        "LiteRT reads and writes no checkpoints: let the signatures that save and restore give and take the weights as "
        "tensors, which the program writes (docs/training.md)."
    ),
}


def _narrowable(op: ir.OpView) -> set[str]:
    """The dtypes of an op without which it might be one that LiteRT has."""
    if op.name == "tfl.custom_tf" and not _reason(op):
        return set()  # nothing here knows this op
    dtypes = {tensor_type_of(value).dtype for value in (*op.operands, *op.results)}
    if dtypes & _NO_NUMBERS:
        return set()
    found = dtypes & _WIDE.keys()
    if "int64" in found and not _is_rewritten_in_int32(op):
        found.remove("int64")
    return found


def _is_rewritten_in_int32(op: ir.OpView) -> bool:
    from litefuse.decompositions.decomposition import NotDecomposed
    from litefuse.passes.decompose.rewriting import Rewritings

    try:
        return Rewritings(narrow=True).find(op) is not None
    except NotDecomposed:
        return False


def _error(refused: list[UnsupportedOp], wide: Sequence[str], needless: Sequence[str]) -> UnsupportedOpsError:
    names = sorted({op.op for op in refused})
    listed = "\n".join(f"  {op}" for op in refused)
    hint = (
        "Allow them as custom ops (allow_custom_ops, --allow-custom-ops) and give the interpreter kernels for them, or "
        "write the model without them."
    )
    if needless:
        hint = f"Allowed, but not among them: {', '.join(needless)}. {closest(needless, names)}".rstrip() + f"\n{hint}"
    for ops, advice in _ADVICE.items():
        if not ops.isdisjoint(names):
            hint = f"{advice}\n{hint}"
    if wide:
        hint = (
            f"Narrowing may help, where the values allow it: narrow=True, --narrow computes {' and '.join(wide)} in "
            f"{' and '.join(_WIDE[dtype] for dtype in wide)}.\n{hint}"
        )
    return UnsupportedOpsError(f"LiteRT has no op for {', '.join(names)}:\n{listed}", hint=hint, ops=refused)


def _replace(function: func.FuncOp, op: ir.OpView) -> None:
    tf_op = tensorflow_op(op)
    name = tensorflow_name(op) or ""
    options: dict[str, Any] = {}
    for key in tf_op.attributes:
        if is_option(key) and not key.endswith("SegmentSizes"):  # which is MLIR's
            options[key] = _option(tf_op.attributes[key])
    # Few models have custom ops; the others do not need flexbuffers.
    from litefuse.engine.options import encode_options

    try:
        data = encode_options(options)
    except FusionError as error:
        raise ConversionError(
            f"{name} cannot become a custom op: {error.message}",
            where=f"node {node_name(op.location)}, function {function_symbol(function)}",
        ) from error
    with ir.InsertionPoint(op):
        custom = ir.Operation.create(
            "tfl.custom",
            results=[result.type for result in op.results],
            operands=list(op.operands),
            attributes=custom_op_attributes(name, data),
            loc=op.location,
        )
    for old, new in zip(op.results, custom.results, strict=True):
        old.replace_all_uses_with(new)
    op.operation.erase()


def _option(attribute: ir.Attribute) -> Any:
    if isinstance(attribute, ir.TypeAttr):
        return _TENSOR_TYPES.get(tensor_type_of(ir.UnrankedTensorType.get(attribute.value)).dtype, attribute)
    if isinstance(attribute, ir.ArrayAttr):
        return [_option(item) for item in attribute]
    return attribute_value(attribute)
