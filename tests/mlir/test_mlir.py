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
from litefuse.fusions.recognizers.recurrent.block_cells import expand_block_cells
from litefuse.ir.engine.lowering import run_mlir_passes
from litefuse.ir.importer import EntryPoint
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.passes import Deferred, Pass, op_names, run_passes
from litefuse.ir.shapes.call_types import SetInputShapes, refine_call_types
from litefuse.ir.shapes.forward_values import ForwardValues
from litefuse.ir.shapes.result_types import infer_loop_types, type_results
from litefuse.passes.control_flow.branches import (
    copy_branch_results,
    defer_branches,
    fold_branches,
    lower_case,
    lower_conditions,
    mark_branches,
)
from litefuse.passes.control_flow.hoist_projections import HoistProjections
from litefuse.passes.control_flow.limit_ops import limit_ops
from litefuse.passes.control_flow.litert_loops import drop_loop_variables, fill_buffers, outline_loops
from litefuse.passes.control_flow.lower_for import lower_for
from litefuse.passes.control_flow.reversed_items import read_reversed
from litefuse.passes.control_flow.unroll_loops import UnrollLoops
from litefuse.passes.fake_quantization.integer_boundary import IntegerBoundary
from litefuse.passes.fake_quantization.integer_ops import IntegerOps
from litefuse.passes.fake_quantization.pairs import CheckPairs, NodesFound, PairFakeQuantization
from litefuse.passes.finishing.added_masks import add_masks
from litefuse.passes.finishing.initialize_states import initialize_states
from litefuse.passes.finishing.kept_copies import keep_copies
from litefuse.passes.finishing.linear_ops import drop_negations, negate_factors, scale_weights
from litefuse.passes.finishing.normalizations import center_first
from litefuse.passes.finishing.prepared_shapes import prepare_shapes
from litefuse.passes.finishing.separate_activations import separate_activations
from litefuse.passes.finishing.sequence_layouts import cancel_layout_changes
from litefuse.passes.finishing.static_shapes import type_static_shapes
from litefuse.passes.finishing.tensor_names import NameTensors
from litefuse.passes.legalize.before_engine import RewriteBeforeLowering
from litefuse.passes.legalize.chosen_ops import WithholdChosenOps
from litefuse.passes.legalize.composite_ops import emit_composite_ops
from litefuse.passes.legalize.custom_ops import EmitCustomOps
from litefuse.passes.legalize.inplace_ops import lower_inplace_ops
from litefuse.passes.legalize.left_over import DecomposeOps
from litefuse.passes.legalize.narrow_float64 import NarrowFloat64
from litefuse.passes.legalize.products import expand_powers, multiply_matrices
from litefuse.passes.legalize.zero_operands import keep_zero_operands
from litefuse.passes.plain_forms.browser_forms import PlainSignatures, compute_ids
from litefuse.passes.plain_forms.complex_pairs import complex_pairs
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
from litefuse.passes.simplify.simplify import Simplify
from litefuse.passes.stablehlo.xla_call_module import lower_xla_call_module
from litefuse.passes.tensor_lists.dense_lists import lower_tensor_lists
from litefuse.passes.variables.freeze_variables import CallOnce, FreezeVariables, InitializeVariables
from litefuse.passes.variables.handles_and_reads import merge_handles, separate_reads
from litefuse.passes.variables.hash_tables import InitializeTables
from litefuse.passes.variables.random_generators import KeepGenerators
from litefuse.passes.variables.resource_handles import check_handles, lift_reads, sink_handles
from litefuse.passes.variables.resource_ops import decompose_resource_ops
from litefuse.passes.weights.cut_constants import CutConstants
from litefuse.passes.weights.fold_constants import fold_constants
from litefuse.passes.weights.fold_float64 import fold_float64
from litefuse.passes.weights.fold_weights import FoldWeights
from litefuse.passes.weights.lowered_constants import check_constants, drop_constants
from litefuse.passes.weights.place_weights import PlaceWeights, load_weights
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


def _entry_point(options: dict[str, str]) -> EntryPoint:
    inputs, outputs = (tuple(filter(None, options.get(ends, "").split("+"))) for ends in ("inputs", "outputs"))
    return EntryPoint(options["entry"], inputs, outputs, inputs, outputs)


PASSES: dict[str, Callable[[dict[str, str], Given], Pass]] = {
    "call-once": lambda options, given: CallOnce(
        options["initializers"].split("+") if "initializers" in options else given.initializers,
        tuple(options["entry"].split("+")),
    ),
    "check-constants": lambda _o, _v: check_constants,
    "check-handles": lambda _o, _v: check_handles,
    "check-pairs": lambda _o, _v: CheckPairs(NodesFound()),
    "complex-pairs": lambda _o, _v: complex_pairs,
    "copy-branch-results": lambda _o, _v: copy_branch_results,
    "cut-constants": lambda _, given: CutConstants(given.weights),
    "defer-branches": lambda _o, _v: defer_branches,
    "decompose-ops": lambda _o, _v: DecomposeOps([], lower_one_op),
    "drop-loop-variables": lambda _o, _v: drop_loop_variables,
    "drop-constants": lambda _o, _v: drop_constants,
    "decompose-resource-ops": lambda _o, _v: decompose_resource_ops,
    "emit-custom-ops": lambda options, _: EmitCustomOps(frozenset(options["allow"].split("+")) if options else False),
    "expand-block-cells": lambda _o, _v: expand_block_cells,
    "emit-composite-ops": lambda _o, _v: emit_composite_ops,
    "expand-powers": lambda _o, _v: expand_powers,
    "flatten-ids": lambda _o, _v: flatten_ids,
    "compute-ids": lambda _o, _v: compute_ids,
    "fill-buffers": lambda _o, _v: fill_buffers,
    "fold-branches": lambda _o, _v: fold_branches,
    "forward-values": lambda options, _: ForwardValues(lowered="lowered" in options),
    "join-reshapes": lambda _o, _v: join_reshapes,
    "lower-ranks": lambda options, _: LowerRanks(int(options["rank"])),
    "plain-operands": lambda _o, _v: plain_operands,
    "plain-signatures": lambda options, _: PlainSignatures([_entry_point(options)], []),
    "plain-slices": lambda _o, _v: plain_slices,
    "simplify": lambda _o, _v: Simplify(),
    "freeze-variables": lambda _, given: FreezeVariables(given.value, []),
    "fuse-composites": lambda _o, _v: FuseComposites([]),
    "hoist-projections": lambda _o, _v: HoistProjections(),
    "integer-boundary": lambda options, _: IntegerBoundary(options["entry"].split("+")),
    "integer-ops": lambda _o, _v: IntegerOps(),
    "infer-loop-types": lambda _o, _v: infer_loop_types,
    "initialize-states": lambda _o, _v: initialize_states,
    "type-static-shapes": lambda _o, _v: type_static_shapes,
    "initialize-tables": lambda _, given: InitializeTables(given.tables, given.initializers),
    "initialize-variables": lambda _, given: InitializeVariables(given.value, given.initializers),
    "keep-copies": lambda _o, _v: keep_copies,
    "keep-generators": lambda _, given: KeepGenerators(given.initializers),
    "fold-constants": lambda _o, _v: fold_constants,
    "cancel-layout-changes": lambda _o, _v: cancel_layout_changes,
    "multiply-matrices": lambda _o, _v: multiply_matrices,
    "narrow-float64": lambda _o, _v: NarrowFloat64(Counter()),
    "fold-float64": lambda _o, _v: fold_float64,
    "fold-weights": lambda _, given: FoldWeights(given.weights),
    "merge-handles": lambda _o, _v: merge_handles,
    "separate-reads": lambda _o, _v: separate_reads,
    "set-input-shapes": lambda options, _: SetInputShapes(
        _input_shapes(options), {options["entry"]: options["inputs"].split("+")}
    ),
    "show-weights": lambda _, given: ShowWeights(given.weights),
    "type-results": lambda _o, _v: type_results,
    "keep-zero-operands": lambda _o, _v: keep_zero_operands,
    "lift-reads": lambda _o, _v: lift_reads,
    "limit-ops": lambda _o, _v: limit_ops,
    "load-weights": lambda _o, _v: load_weights,
    "lower-case": lambda _o, _v: lower_case,
    "lower-for": lambda _o, _v: lower_for,
    "lower-inplace-ops": lambda _o, _v: lower_inplace_ops,
    "lower-conditions": lambda _o, _v: lower_conditions,
    "lower-xla-call-module": lambda _o, _v: lower_xla_call_module,
    "mark-branches": lambda _o, _v: mark_branches,
    "map-weights": lambda _, given: MapWeights(given.weights),
    "lower-tensor-lists": lambda _o, _v: lower_tensor_lists,
    "name-tensors": lambda options, _: NameTensors(
        {options["entry"]: (tuple(options["inputs"].split("+")), tuple(options["outputs"].split("+")))}
    ),
    "outline-loops": lambda _o, _v: outline_loops,
    "pair-fake-quantization": lambda _o, _v: PairFakeQuantization(NodesFound()),
    "place-weights": lambda _, given: PlaceWeights(given.weights),
    "prepare-shapes": lambda _o, _v: prepare_shapes,
    "read-reversed": lambda _o, _v: read_reversed,
    "name-layers": lambda options, _: NameLayers([], [], {options.get("wanted")}.__contains__),
    "recognize-composites": lambda options, _: RecognizeComposites([], cast("RnnForm", options.get("rnn", "auto"))),
    "refine-call-types": lambda _o, _v: refine_call_types,
    "rewrite-before-lowering": lambda _o, _v: RewriteBeforeLowering([]),
    "sink-handles": lambda _o, _v: sink_handles,
    "unroll-loops": lambda _o, _v: UnrollLoops([]),
    "align-constants": lambda _o, _v: align_constants,
    "add-masks": lambda _o, _v: add_masks,
    "center-first": lambda _o, _v: center_first,
    "drop-negations": lambda _o, _v: drop_negations,
    "negate-factors": lambda _o, _v: negate_factors,
    "scale-weights": lambda _o, _v: scale_weights,
    "separate-activations": lambda _o, _v: separate_activations,
    "select-masks": lambda _o, _v: select_masks,
    "emit-equal-ops": lambda options, _: EmitEqualOps(options["avoided"].split("+")),
    "unpack-reversals": lambda _o, _v: unpack_reversals,
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
