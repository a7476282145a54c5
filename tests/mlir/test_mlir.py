"""Text in, text out: every ``.mlir`` file here is run through the passes that it names.

The first lines say what to do, the rest is the module::

    // RUN: lift-reads, sink-handles     the passes, in order; options in braces: emit-custom-ops{allow=Roll}
    // VALUE: v = dense<1.0> : tensor<f32>    a variable's value in the checkpoint
    // TABLE: t = ["a"] : string -> [1] : int64    a hash table, with its keys and values
    // LIMIT: max_ops = 10               a limit of the conversion
    // ERROR: some text                  instead of checks: a pass raises a litefuse error that contains this
    // REASON: some text                 fuse-composites keeps a body for a reason that contains this; one for each body

``wrap-program`` makes an op of a module of StableHLO ops, as a SavedModel has it: ``main`` calls it. ``map-weights``
makes weights that stay mapped of the constants with the attribute ``mapped``, and ``show-weights`` constants of these.

Checks are FileCheck's. Modules in a file are separated by ``// -----``, and each names its own passes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from litert_converter.model_utils_ext import filecheck_check_input

from litefuse.conversion.pipeline import deferred
from litefuse.conversion.pipeline.lowering import lower_one_op
from litefuse.errors import LitefuseError
from litefuse.fusions.composites.fuse_composites import FuseComposites
from litefuse.fusions.recognizers.layers.name_layers import NameLayers
from litefuse.fusions.recognizers.recognize import RecognizeComposites
from litefuse.fusions.recognizers.recurrent.block_cells import ExpandBlockCells
from litefuse.ir.engine.lowering import run_mlir_passes
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.passes import Deferred, Pass, op_names, run_passes
from litefuse.ir.shapes.call_types import RefineCallTypes, SetInputShapes
from litefuse.ir.shapes.forward_values import ForwardValues
from litefuse.ir.shapes.infer_loop_types import InferLoopTypes
from litefuse.ir.shapes.result_types import TypeResults
from litefuse.passes.control_flow.branches import (
    CopyBranchResults,
    DeferBranches,
    FoldBranches,
    LowerCase,
    LowerConditions,
    MarkBranches,
)
from litefuse.passes.control_flow.hoist_projections import HoistProjections
from litefuse.passes.control_flow.limit_ops import LimitOps
from litefuse.passes.control_flow.litert_loops import DropLoopVariables, FillBuffers, OutlineLoops
from litefuse.passes.control_flow.lower_for import LowerFor
from litefuse.passes.control_flow.reversed_items import ReadReversed
from litefuse.passes.control_flow.unroll_loops import UnrollLoops
from litefuse.passes.fake_quantization.integer_boundary import IntegerBoundary
from litefuse.passes.fake_quantization.integer_ops import IntegerOps
from litefuse.passes.fake_quantization.pairs import CheckPairs, NodesFound, PairFakeQuantization
from litefuse.passes.finishing.initialize_states import InitializeStates
from litefuse.passes.finishing.kept_copies import KeepCopies
from litefuse.passes.finishing.prepared_shapes import PrepareShapes
from litefuse.passes.finishing.separate_activations import SeparateActivations
from litefuse.passes.finishing.sequence_layouts import CancelLayoutChanges
from litefuse.passes.finishing.static_shapes import TypeStaticShapes
from litefuse.passes.finishing.tensor_names import NameTensors
from litefuse.passes.legalize.before_engine import RewriteBeforeLowering
from litefuse.passes.legalize.chosen_ops import WithholdChosenOps
from litefuse.passes.legalize.composite_ops import EmitCompositeOps
from litefuse.passes.legalize.custom_ops import EmitCustomOps
from litefuse.passes.legalize.expand_powers import ExpandPowers
from litefuse.passes.legalize.inplace_ops import LowerInplaceOps
from litefuse.passes.legalize.left_over import DecomposeOps
from litefuse.passes.legalize.matrix_products import MultiplyMatrices
from litefuse.passes.legalize.narrow_float64 import NarrowFloat64
from litefuse.passes.legalize.zero_operands import KeepZeroOperands
from litefuse.passes.plain_forms.complex_pairs import ComplexPairs
from litefuse.passes.plain_forms.equal_ops import EmitEqualOps, UnpackReversals
from litefuse.passes.plain_forms.low_ranks import LowerRanks
from litefuse.passes.plain_forms.plain_operands import FlattenIds, PlainOperands
from litefuse.passes.plain_forms.plain_slices import PlainSlices
from litefuse.passes.plain_forms.reshapes import JoinReshapes
from litefuse.passes.simplify.simplify import Simplify
from litefuse.passes.stablehlo.xla_call_module import LowerXlaCallModule
from litefuse.passes.tensor_lists.dense_lists import LowerTensorLists
from litefuse.passes.variables.freeze_variables import CallOnce, FreezeVariables, InitializeVariables
from litefuse.passes.variables.handles_and_reads import MergeHandles, SeparateReads
from litefuse.passes.variables.hash_tables import InitializeTables
from litefuse.passes.variables.random_generators import KeepGenerators
from litefuse.passes.variables.resource_handles import CheckHandles, LiftReads, SinkHandles
from litefuse.passes.variables.resource_ops import DecomposeResourceOps
from litefuse.passes.weights.cut_constants import CutConstants
from litefuse.passes.weights.fold_constants import FoldConstants
from litefuse.passes.weights.fold_float64 import FoldFloat64
from litefuse.passes.weights.fold_weights import FoldWeights
from litefuse.passes.weights.lowered_constants import CheckConstants, DropConstants
from litefuse.passes.weights.place_weights import LoadWeights, PlaceWeights
from litefuse.support.options.forms import RnnForm
from litefuse.support.options.input_shapes import InputShapes
from litefuse.support.options.limits import limited
from tests.mlir.given import Given, directives, named_passes
from tests.mlir.setup_passes import MapWeights, ShowWeights, WrapProgram


def _input_shapes(options: dict[str, str]) -> InputShapes:
    """``x=2x?`` among the options is the shape of the input ``x``."""
    shapes = {
        name: tuple(None if size == "?" else int(size) for size in shape.split("x") if size)
        for name, shape in options.items()
        if name not in {"batch", "entry", "inputs"}
    }
    return InputShapes.of(shapes, int(options["batch"]) if "batch" in options else None)


PASSES: dict[str, Callable[[dict[str, str], Given], Pass]] = {
    "call-once": lambda options, given: CallOnce(
        options["initializers"].split("+") if "initializers" in options else given.initializers,
        tuple(options["entry"].split("+")),
    ),
    "check-constants": lambda _o, _v: CheckConstants(),
    "check-handles": lambda _o, _v: CheckHandles(),
    "check-pairs": lambda _o, _v: CheckPairs(NodesFound()),
    "complex-pairs": lambda _o, _v: ComplexPairs(),
    "copy-branch-results": lambda _o, _v: CopyBranchResults(),
    "cut-constants": lambda _, given: CutConstants(given.weights),
    "defer-branches": lambda _o, _v: DeferBranches(),
    "decompose-ops": lambda _o, _v: DecomposeOps([], lower_one_op),
    "drop-loop-variables": lambda _o, _v: DropLoopVariables(),
    "drop-constants": lambda _o, _v: DropConstants(),
    "decompose-resource-ops": lambda _o, _v: DecomposeResourceOps(),
    "emit-custom-ops": lambda options, _: EmitCustomOps(frozenset(options["allow"].split("+")) if options else False),
    "expand-block-cells": lambda _o, _v: ExpandBlockCells(),
    "emit-composite-ops": lambda _o, _v: EmitCompositeOps(),
    "expand-powers": lambda _o, _v: ExpandPowers(),
    "flatten-ids": lambda _o, _v: FlattenIds(),
    "fill-buffers": lambda _o, _v: FillBuffers(),
    "fold-branches": lambda _o, _v: FoldBranches(),
    "forward-values": lambda options, _: ForwardValues(lowered="lowered" in options),
    "join-reshapes": lambda _o, _v: JoinReshapes(),
    "lower-ranks": lambda options, _: LowerRanks(int(options["rank"])),
    "plain-operands": lambda _o, _v: PlainOperands(),
    "plain-slices": lambda _o, _v: PlainSlices(),
    "simplify": lambda _o, _v: Simplify(),
    "freeze-variables": lambda _, given: FreezeVariables(given.value, []),
    "fuse-composites": lambda _o, _v: FuseComposites([]),
    "hoist-projections": lambda _o, _v: HoistProjections(),
    "integer-boundary": lambda options, _: IntegerBoundary(options["entry"].split("+")),
    "integer-ops": lambda _o, _v: IntegerOps(),
    "infer-loop-types": lambda _o, _v: InferLoopTypes(),
    "initialize-states": lambda _o, _v: InitializeStates(),
    "type-static-shapes": lambda _o, _v: TypeStaticShapes(),
    "initialize-tables": lambda _, given: InitializeTables(given.tables, given.initializers),
    "initialize-variables": lambda _, given: InitializeVariables(given.value, given.initializers),
    "keep-copies": lambda _o, _v: KeepCopies(),
    "keep-generators": lambda _, given: KeepGenerators(given.initializers),
    "fold-constants": lambda _o, _v: FoldConstants(),
    "cancel-layout-changes": lambda _o, _v: CancelLayoutChanges(),
    "multiply-matrices": lambda _o, _v: MultiplyMatrices(),
    "narrow-float64": lambda _o, _v: NarrowFloat64(Counter()),
    "fold-float64": lambda _o, _v: FoldFloat64(),
    "fold-weights": lambda _, given: FoldWeights(given.weights),
    "merge-handles": lambda _o, _v: MergeHandles(),
    "separate-reads": lambda _o, _v: SeparateReads(),
    "set-input-shapes": lambda options, _: SetInputShapes(
        _input_shapes(options), {options["entry"]: options["inputs"].split("+")}
    ),
    "show-weights": lambda _, given: ShowWeights(given.weights),
    "type-results": lambda _o, _v: TypeResults(),
    "keep-zero-operands": lambda _o, _v: KeepZeroOperands(),
    "lift-reads": lambda _o, _v: LiftReads(),
    "limit-ops": lambda _o, _v: LimitOps(),
    "load-weights": lambda _o, _v: LoadWeights(),
    "lower-case": lambda _o, _v: LowerCase(),
    "lower-for": lambda _o, _v: LowerFor(),
    "lower-inplace-ops": lambda _o, _v: LowerInplaceOps(),
    "lower-conditions": lambda _o, _v: LowerConditions(),
    "lower-xla-call-module": lambda _o, _v: LowerXlaCallModule(),
    "mark-branches": lambda _o, _v: MarkBranches(),
    "map-weights": lambda _, given: MapWeights(given.weights),
    "lower-tensor-lists": lambda _o, _v: LowerTensorLists(),
    "name-tensors": lambda options, _: NameTensors(
        {options["entry"]: (tuple(options["inputs"].split("+")), tuple(options["outputs"].split("+")))}
    ),
    "outline-loops": lambda _o, _v: OutlineLoops(),
    "pair-fake-quantization": lambda _o, _v: PairFakeQuantization(NodesFound()),
    "place-weights": lambda _, given: PlaceWeights(given.weights),
    "prepare-shapes": lambda _o, _v: PrepareShapes(),
    "read-reversed": lambda _o, _v: ReadReversed(),
    "name-layers": lambda options, _: NameLayers([], [], {options.get("wanted")}.__contains__),
    "recognize-composites": lambda options, _: RecognizeComposites([], cast("RnnForm", options.get("rnn", "auto"))),
    "refine-call-types": lambda _o, _v: RefineCallTypes(),
    "rewrite-before-lowering": lambda _o, _v: RewriteBeforeLowering([]),
    "sink-handles": lambda _o, _v: SinkHandles(),
    "unroll-loops": lambda _o, _v: UnrollLoops([]),
    "separate-activations": lambda _o, _v: SeparateActivations(),
    "emit-equal-ops": lambda options, _: EmitEqualOps(options["avoided"].split("+")),
    "unpack-reversals": lambda _o, _v: UnpackReversals(),
    "wrap-program": lambda _o, _v: WrapProgram(),
    "withhold-chosen-ops": lambda options, _: WithholdChosenOps(frozenset(options["chosen"].split("+"))),
}


#: The passes that a conversion does not even import for modules that they are not for, which they must not change.
DEFERRED: dict[str, type[Deferred]] = {
    one.name: one for one in vars(deferred).values() if isinstance(one, type) and issubclass(one, Deferred)
}


def _cases() -> list[Any]:
    cases: list[Any] = []
    for path in sorted(Path(__file__).parent.glob("*.mlir")):
        for number, text in enumerate(re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE)):
            cases.append(pytest.param(text, id=f"{path.stem}-{number}"))
    return cases


def _passes(text: str, given: Given) -> list[Pass | str]:
    assert len(directives(text, "RUN")) == 1
    found: list[Pass | str] = []
    for name, options in named_passes(text):
        pairs = dict(option.split("=", 1) for option in options.split()) if options else {}
        found.append(PASSES[name](pairs, given) if name in PASSES else f"{name}{{{options}}}")
    return found


def _check_reasons(expected: list[str], passes: list[Pass | str]) -> None:
    outcomes = [outcome for one in passes if isinstance(one, FuseComposites) for outcome in one.outcomes]
    reasons = [outcome.reason or "" for outcome in outcomes if outcome.kind != "fused"]
    assert len(reasons) == len(expected), reasons
    for reason, part in zip(reasons, expected, strict=True):
        assert part in reason


@pytest.mark.parametrize("text", _cases())
def test_pass(text: str) -> None:
    errors = directives(text, "ERROR")
    assert errors or "// CHECK" in text, "the module checks nothing"
    with mlir_context():
        module = ir.Module.parse(text)
        given = Given.of(text)
        passes = _passes(text, given)

        def run() -> None:
            with limited(given.limits):
                for one in passes:
                    if isinstance(one, str):
                        run_mlir_passes(module, one)
                    else:
                        place, before = DEFERRED.get(one.name), str(module)
                        is_for = place is None or place.may_change(module, op_names(module))
                        if run_passes(module, [one]):
                            assert is_for, f"{one.name} changes what it is not loaded for"
                        else:
                            assert str(module) == before, f"{one.name} changes the module, and does not say so"

        if errors:
            with pytest.raises(LitefuseError) as caught:
                run()
            for expected in errors:
                assert expected in str(caught.value)
            return
        run()
        _check_reasons(directives(text, "REASON"), passes)
        module.operation.verify()
        result = str(module)
        assert filecheck_check_input(result, text), result
