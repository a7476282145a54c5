"""One function of a module as a model of its own."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

from litefuse.conversion.pipeline.before_fusion import constant_variables
from litefuse.conversion.pipeline.lowering import Lowering, State, lower_module
from litefuse.errors import ConversionError, UnsupportedOpsError
from litefuse.ir.annotations import remove_annotation
from litefuse.ir.call_graph import callees, function_symbol, functions, operations, update_function_type
from litefuse.ir.engine.lowering import flatbuffer
from litefuse.ir.importer import EntryPoint
from litefuse.ir.mlir import func, ir
from litefuse.ir.passes import run_passes
from litefuse.kernels import PACK
from litefuse.litert.export.op_codes import with_builtins
from litefuse.litert.runtime.custom_op import installed_kernels, registered_kernels
from litefuse.passes.legalize.lacking_ops import is_chosen, release
from litefuse.passes.variables.freeze_variables import Verdict
from litefuse.passes.weights import Weights
from litefuse.passes.weights.place_weights import load_weights

_ENTRY = "standalone"
_FOR_KERNELS = frozenset({"tfl.custom", "vhlo.composite_v1"})


@dataclass(frozen=True, eq=False)
class StandaloneModel:
    """A LiteRT model of one function.

    Attributes:
        content: The model.
        for_kernels: Whether it has ops that kernels run or may run: custom ops and composites.
    """

    content: bytes
    for_kernels: bool


def standalone_model(
    module: ir.Module,
    function: func.FuncOp,
    lowering: Lowering | None = None,
    *,
    size: int | None = None,
    without: str = "",
) -> StandaloneModel:
    """Converts a function of the module to a LiteRT model of its own; the module is left unchanged.

    Its one signature has the inputs ``x0``, ``x1``... and the outputs ``y0``, ``y1``... It is converted as the module
    is, except that all weights are loaded, that ops may become custom ops if there are kernels for them here, and that
    a variable that the function only reads has its initial value.

    Args:
        module: The module.
        function: The function.
        lowering: How the module itself is lowered; None: without state or options.
        size: The size of all dynamic dimensions of its arguments; None to keep them dynamic.
        without: The op whose kernel is not to run in it, because the function is to be compared with that kernel.

    Raises:
        LitefuseError: The function cannot be converted alone.
    """
    whole = lowering or Lowering((), State(_no_value, {}), Weights(sys.maxsize))
    alone = _copied(module, function)
    (entry,) = (copy for symbol, copy in functions(alone).items() if symbol == function_symbol(function))
    if size is not None:
        _fix_arguments(entry, size)
    inputs = tuple(f"x{index}" for index in range(len(entry.type.inputs)))
    outputs = tuple(f"y{index}" for index in range(len(entry.type.results)))
    _freeze(alone, whole.state)
    entry.attributes["sym_name"] = ir.StringAttr.get(_ENTRY)
    run_passes(alone, [load_weights])
    own = replace(
        whole,
        entry_points=(EntryPoint(_ENTRY, inputs, outputs, inputs, outputs),),
        weights=Weights(sys.maxsize),
        allow_custom_ops=frozenset({*registered_kernels(), *installed_kernels()}) - {without},
        kernels=frozenset(PACK) - {without},
        fake_quantization=None,
        unrolled=None,
        naming=(),
        decomposed=[],
        emitted=[],
        initializers=[],
    )
    try:
        lower_module(alone, own)
    except UnsupportedOpsError as error:
        lacking = {op.op for op in error.ops}
        if lacking == {without}:
            raise ConversionError(f"it computes {without} itself, which only that kernel can") from error
        names = ", ".join(sorted(lacking))
        raise ConversionError(
            f"LiteRT has no op for {names}; it is checked where there are kernels for them (@litefuse.custom_op)"
        ) from error
    ops = [op for function in functions(alone).values() for op in operations(function) if op.name in _FOR_KERNELS]
    for op in ops:
        if op.name != "vhlo.composite_v1":
            continue
        from litefuse.passes.legalize.composite_ops import composite_name  # few functions have one

        if op.attributes["name"] == composite_name(without):
            op.attributes["name"] = composite_name(f"{without} without its kernel")  # its decomposition runs
    for_kernels = bool(ops)
    return StandaloneModel(with_builtins(flatbuffer(alone)), for_kernels)


def _copied(module: ir.Module, function: func.FuncOp) -> ir.Module:
    """Returns a module with copies of a function, the only public one, and of all that it calls."""
    alone = ir.Module.create()
    by_symbol = functions(module)
    copied = {function_symbol(function)}
    waiting = [function]
    while waiting:
        source = waiting.pop()
        source.clone(ip=ir.InsertionPoint(alone.body))
        for op in operations(source):
            for symbol in callees(op):
                if symbol not in copied:
                    copied.add(symbol)
                    waiting.append(by_symbol[symbol])
    for symbol, copy in functions(alone).items():
        remove_annotation(copy)  # the engine would fuse some of them itself, but the body is to be run
        visibility = "public" if symbol == function_symbol(function) else "private"
        copy.attributes["sym_visibility"] = ir.StringAttr.get(visibility)
        for op in list(operations(copy)):
            if is_chosen(op):  # the body says what is to be computed, and the user's kernels may not be here
                release(op)
    return alone


def _freeze(alone: ir.Module, state: State) -> None:
    """Replaces the variables that the function only reads by constants; raises a ConversionError if it writes one."""
    if not any(op.name == "tf.VarHandleOp" for function in functions(alone).values() for op in operations(function)):
        return
    verdicts: list[Verdict] = []
    run_passes(alone, constant_variables(state.values, verdicts))
    written = [verdict for verdict in verdicts if verdict.writer is not None]
    if written:
        named = ", ".join(f"{verdict.variable!r} ({verdict.writer})" for verdict in written)
        raise ConversionError(
            f"it writes the variables {named}, which is not compared: return the new values from the composite, and "
            "assign them outside of it"
        )


def _no_value(variable: str) -> ir.Attribute:
    raise ConversionError(f"the value of the variable {variable!r} is not known here")


def _fix_arguments(function: func.FuncOp, size: int) -> None:
    """Sets all dynamic dimensions of the arguments to a size, for ops that the engine takes only with static shapes."""
    for argument in function.entry_block.arguments:
        kind = ir.ShapedType(argument.type)
        if kind.has_rank and not kind.has_static_shape:
            shape = [size if kind.is_dynamic_dim(axis) else kind.shape[axis] for axis in range(kind.rank)]
            argument.set_type(ir.RankedTensorType.get(shape, kind.element_type))
    update_function_type(function)
