"""Lowers TensorFlow ops to a module that can be exported: the passes of each stage after fusion, in order.

Where the order matters, the line says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from litefuse.conversion.pipeline import deferred
from litefuse.conversion.pipeline.steps import INLINE, LOWER, REMOVE_UNUSED
from litefuse.frontends.saved_model import Table
from litefuse.ir.call_graph import functions
from litefuse.ir.engine.lowering import lower, run_mlir_passes, set_signature
from litefuse.ir.importer import EntryPoint
from litefuse.ir.mlir import ir
from litefuse.ir.passes import Pass, run_passes
from litefuse.ir.shapes.call_types import refine_call_types
from litefuse.ir.shapes.forward_values import ForwardValues
from litefuse.ir.shapes.result_types import type_results
from litefuse.litert.targets import TargetTraits, traits_of
from litefuse.passes.finishing.tensor_names import NameTensors
from litefuse.passes.legalize.before_engine import RewriteBeforeLowering
from litefuse.passes.legalize.decomposition import Decomposed
from litefuse.passes.legalize.lacking_ops import CustomOpForm
from litefuse.passes.simplify.simplify import Simplify
from litefuse.passes.variables.freeze_variables import CallOnce, InitializeVariables
from litefuse.passes.weights import Weights
from litefuse.passes.weights.fold_constants import fold_constants
from litefuse.passes.weights.lowered_constants import check_constants, drop_constants
from litefuse.passes.weights.place_weights import PlaceWeights
from litefuse.support.records import Record

if TYPE_CHECKING:
    from litefuse.passes.control_flow.unroll_loops import LoopOutcome
    from litefuse.passes.fake_quantization.pairs import NodesFound
    from litefuse.support.report.entries import RetypedReport


def before_engine_of_one_op(decomposed: list[Decomposed]) -> list[Pass]:
    """Returns the passes that prepare an op's rewriting for the engine.

    It has no weights, and has loops only if it iterates.
    """
    return [RewriteBeforeLowering(decomposed)]


def _after_engine() -> list[Pass]:
    """Returns the passes after the engine; all others run once the rewriting is inserted in the op's place."""
    return [type_results, deferred.PrepareShapes()]


def lower_one_op(module: ir.Module) -> None:
    """Lowers a module of one function, which computes an op that the engine leaves.

    Raises:
        LoweringError: The engine refused it.
    """
    run_passes(module, before_engine_of_one_op([]))
    lower(module)
    run_passes(module, _after_engine())


class State(NamedTuple):
    """The state that a model keeps between calls, with its initial values.

    Attributes:
        values: The elements attribute of a variable's value by its ``shared_name``.
        tables: The tables by the ``shared_name`` of their ``tf.HashTableV2``.
    """

    values: Callable[[str], ir.Attribute]
    tables: Mapping[str, Table]


class Lowering(Record):
    """The options of a lowering.

    Attributes:
        entry_points: The exported functions, by their symbols in the module.
        state: The variables and tables of the model that the module is, or is a part of.
        weights: The weights that stay mapped until the file is written.
        allow_custom_ops: Ops that LiteRT lacks become custom ops: True for any, or the names of those that may.
        kernels: The ops that may become custom ops in any case, because the pack has kernels for them.
        runtime_kernels: Those that LiteRT has kernels for.
        narrow: Whether an int64 op that LiteRT lacks is computed in int32.
        fake_quantization: Filled with what becomes of fake-quantization nodes, whose ops become integer ops; None: they
            are computed in floats.
        target: What the target of the file can run.
        unrolled: Filled with what becomes of loops, which are unrolled where possible; None: they stay loops.
        naming: The passes that name layers, once all calls are inlined and what is known of shapes is in the types.
        decomposed: Filled with the ops that are rewritten.
        emitted: Filled with the ops that become custom ops.
        narrowed: Filled with the ops of float64 that are computed in float32 without being asked, by their names.
        retyped: Filled with the inputs and outputs that get dtypes which the target takes.
        initializers: Filled with the symbols of the functions that run before all else.
    """

    entry_points: tuple[EntryPoint, ...]
    state: State
    weights: Weights
    allow_custom_ops: bool | Collection[str] = False
    kernels: Collection[str] = ()
    runtime_kernels: Collection[str] = ()
    narrow: bool = False
    fake_quantization: NodesFound | None = None
    target: TargetTraits = field(default_factory=lambda: traits_of("cpu"))
    unrolled: list[LoopOutcome] | None = None
    naming: Sequence[Pass] = ()
    decomposed: list[Decomposed] = field(default_factory=list[Decomposed])
    emitted: list[CustomOpForm] = field(default_factory=list[CustomOpForm])
    narrowed: Counter[str] = field(default_factory=Counter[str])
    retyped: list[RetypedReport] = field(default_factory=list["RetypedReport"])
    initializers: list[str] = field(default_factory=list[str])


def initial_state(lowering: Lowering) -> list[Pass]:
    """Returns the passes that give the remaining variables and tables their initial contents."""
    return [
        InitializeVariables(lowering.state.values, lowering.initializers),
        deferred.InitializeTables(lowering.state.tables, lowering.initializers),
    ]


def dense_lists() -> list[Pass]:
    """Returns the passes that replace lists by tensors, once calls are inlined: the uses of a list are then known."""
    return [
        deferred.LowerTensorLists(),
        refine_call_types,  # calls that return tensors now, where they returned lists
    ]


def before_engine(lowering: Lowering) -> list[Pass]:
    """Returns the last passes on TensorFlow ops, once all shapes are inferred: they prepare the ops for the engine."""
    return [
        deferred.MarkBranches(),  # first: it follows sizes by the rules of TensorFlow's ops
        deferred.KeepGenerators(lowering.initializers),  # once calls are inlined: each call has generators of its own
        deferred.FoldFloat64(),  # what is left of float64 is rewritten or refused
        deferred.NarrowFloat64(lowering.narrowed),  # after FoldFloat64, which is exact
        # Of steps that are unrolled for integers, input and state keep ranges of their own.
        deferred.HoistProjections()
        if lowering.unrolled is None
        else deferred.HoistProjections(least=0),  # emits products and slices of weights, for the passes that follow
        # After HoistProjections, which finds loops, and before what prepares single ops.
        *([] if lowering.unrolled is None else [deferred.UnrollLoops(lowering.unrolled)]),
        deferred.ReadReversed(),  # what unrolled loops read
        *([] if lowering.fake_quantization is None else [deferred.PairFakeQuantization(lowering.fake_quantization)]),
        *before_engine_of_one_op(lowering.decomposed),
        # Before PlaceWeights: each part of a weight gets a placeholder of its own.
        deferred.CutConstants(lowering.weights),
        PlaceWeights(lowering.weights),
        deferred.KeepZeroOperands(),  # a weight without a placeholder may be a factor that is zero everywhere
    ]


def after_engine(lowering: Lowering) -> list[Pass]:
    """Returns the passes for what the engine leaves undone, and for what the runtime demands of a file."""
    kept = lowering.weights
    return [
        ForwardValues(lowered=True),  # first: the other passes read types
        type_results,
        *([] if lowering.fake_quantization is None else [deferred.CheckPairs(lowering.fake_quantization)]),
        deferred.ExpandPowers(),  # not before the engine, which finds GELU by its POW
        deferred.NegateFactors(),  # before fold_constants: factors may be constants
        fold_constants,  # before FoldWeights, which fuses factors that are constants
        # What loops pass through unchanged is a constant now, and so are places that were computed.
        deferred.CutConstants(kept),
        deferred.DropNegations(),
        deferred.CenterFirst(),  # after DropNegations: it finds differences
        deferred.ScaleWeights(),  # before FoldWeights, which folds the factors of both
        deferred.FoldWeights(kept),
        deferred.MultiplyMatrices(),  # after CutConstants, and FoldWeights, which transposes constants
        deferred.CancelLayoutChanges(),
        deferred.CopyBranchResults(),  # before EmitCompositeOps: it finds the bodies of composites by the custom ops
        deferred.EmitCompositeOps(),
        deferred.PrepareShapes(),
        deferred.InitializeStates(),  # after PrepareShapes: the sizes of states must not be known before the call
        deferred.DeferBranches(),  # after PrepareShapes, too: these sizes must not be known either
        deferred.FillBuffers(),
        deferred.DropLoopVariables(),
        deferred.OutlineLoops(),  # before DecomposeOps, which looks into functions, not into regions
        deferred.DecomposeOps(lowering.decomposed, lower_one_op, lowering.narrow),
        deferred.OutlineLoops(),  # decomposed ops may have new ones
        deferred.MergeHandles(),
        deferred.AddMasks(),
        deferred.SeparateActivations(),
        deferred.KeepCopies(),  # after all that adds ops which XNNPACK runs
        deferred.SeparateReads(),  # after MergeHandles, which makes two reads of two handles reads of one
        check_constants,
        # After DecomposeOps: what is left has no rewriting.
        deferred.EmitCustomOps(
            lowering.allow_custom_ops,
            lowering.kernels,
            lowering.runtime_kernels,
            lowering.emitted,
            lowering.narrow,
            lower_one_op,
        ),
        # Before type_static_shapes: LiteRT's dialect has no BITCAST of complex numbers whose shape is known.
        *([] if lowering.target.complex else [deferred.ComplexPairs()]),
        *([] if lowering.target.dynamic else [deferred.TypeStaticShapes()]),
        *_plain_forms(lowering),  # after all that adds ops, and once all shapes are in the types
        drop_constants,  # those of decomposed ops, too
        CallOnce(lowering.initializers, tuple(entry.symbol for entry in lowering.entry_points)),
        NameTensors({entry.symbol: (entry.input_tensors, entry.output_tensors) for entry in lowering.entry_points}),
    ]


def _plain_forms(lowering: Lowering) -> list[Pass]:
    """Returns the passes that give ops the forms that a target takes, where it does not take them all."""
    target = lowering.target
    if target.takes_all_forms:  # as of most conversions, which import none of these
        return []
    from litefuse.passes.plain_forms.browser_forms import PlainSignatures, compute_ids
    from litefuse.passes.plain_forms.equal_ops import EmitEqualOps, unpack_reversals
    from litefuse.passes.plain_forms.low_ranks import LowerRanks
    from litefuse.passes.plain_forms.plain_operands import (
        align_constants,
        flatten_ids,
        plain_operands,
        plain_slices,
        select_masks,
    )
    from litefuse.passes.plain_forms.reshapes import join_reshapes

    others: list[Pass] = [
        *([PlainSignatures(lowering.entry_points, lowering.retyped)] if target.plain_signatures else []),
        *([unpack_reversals] if "REVERSE_V2" in target.avoided else []),
        *([EmitEqualOps(target.avoided)] if target.avoided else []),
        *([] if target.keeps_masks else [select_masks]),
    ]
    lower: list[Pass] = [
        *([flatten_ids] if target.flat_ids else []),
        *([] if target.constant_ids else [compute_ids]),
        *([] if target.shrinks_axes else [plain_slices]),
        *([plain_operands] if target.plain_operands else []),
        *([] if target.max_rank is None else [LowerRanks(target.max_rank)]),
        *([align_constants] if target.plain_operands else []),  # last: the others give constants other shapes
    ]
    return [*others, *lower, *([join_reshapes] if lower else [])]  # each of the lower forms adds reshapes


def lower_module(module: ir.Module, lowering: Lowering, on_step: Callable[[str], None] = lambda _: None) -> None:
    """Lowers a module of TensorFlow ops whose composites are fused, in place, so that it can be exported.

    Args:
        module: The module; its exported functions are public.
        lowering: The options of the lowering.
        on_step: Called with the name of each step when it begins.

    Raises:
        LitefuseError: Whatever a pass or the engine raises.
    """
    run_passes(module, initial_state(lowering), on_step)
    unsettled = _inline_and_fold(module, on_step)
    # Replacements enable more, and lists become tensors, whose shapes are new.
    if run_passes(module, dense_lists(), on_step) or unsettled:
        on_step(ForwardValues.name)
        ForwardValues().run(module)
        run_passes(module, [Simplify()], on_step)
    if run_passes(module, lowering.naming, on_step):
        _inline(module, on_step)
    run_passes(module, before_engine(lowering), on_step)
    on_step(REMOVE_UNUSED)
    run_mlir_passes(module, "symbol-dce")
    by_symbol = functions(module)
    for entry in lowering.entry_points:
        set_signature(by_symbol[entry.symbol], entry.symbol, entry.inputs, entry.outputs)
    on_step(LOWER)
    lower(module)
    run_passes(module, after_engine(lowering), on_step)


def _inline_and_fold(module: ir.Module, on_step: Callable[[str], None]) -> bool:
    """Inlines calls and folds sizes and taken branches, which are calls again; whether inference may find more."""
    while True:
        _inline(module, on_step)
        on_step(ForwardValues.name)
        ForwardValues().run(module)  # where shapes contradict each other, the module is invalid; inference reports why
        shapes = Simplify()
        run_passes(module, [shapes], on_step)
        if not run_passes(module, [deferred.FoldBranches()], on_step):
            return shapes.unsettled


def _inline(module: ir.Module, on_step: Callable[[str], None]) -> None:
    on_step(INLINE)
    # By default the inliner also runs the dialects' folding, whose mistakes keep-zero-operands prevents.
    run_mlir_passes(module, "inline{default-pipeline=}", "symbol-dce")
