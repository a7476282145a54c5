"""Text in, text out: every ``.mlir`` file here is run through the passes that it names.

The first lines say what to do, the rest is the module::

    // RUN: lift-reads, sink-handles     the passes, in order; options in braces: emit-custom-ops{allow=Roll}
    // VALUE: v = dense<1.0> : tensor<f32>    a variable's value in the checkpoint
    // ERROR: some text                  instead of checks: a pass raises a litefuse error that contains this
    // REASON: some text                 fuse-composites keeps a body for a reason that contains this; one for each body

``wrap-program`` makes an op of a module of StableHLO ops, as a SavedModel has it: ``main`` calls it.

Checks are FileCheck's. Modules in a file are separated by ``// -----``, and each names its own passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from litert_converter.model_utils_ext import filecheck_check_input

from litefuse.composites.fuse_composites import FuseComposites
from litefuse.control_flow.branch_results import CopyBranchResults
from litefuse.control_flow.conditions import LowerConditions
from litefuse.control_flow.fold_branches import FoldBranches
from litefuse.control_flow.hoist_projections import HoistProjections
from litefuse.control_flow.lower_case import LowerCase
from litefuse.control_flow.lower_for import LowerFor
from litefuse.control_flow.outline_loops import OutlineLoops
from litefuse.engine.lowering import run_mlir_passes
from litefuse.errors import LitefuseError
from litefuse.finishing.embedding_lookups import EmbeddingLookups
from litefuse.finishing.initialize_states import InitializeStates
from litefuse.finishing.kept_copies import KeepCopies
from litefuse.finishing.prepared_shapes import PrepareShapes
from litefuse.finishing.tensor_names import NameTensors
from litefuse.ir.call_graph import function_symbol
from litefuse.ir.mlir import func, ir, mlir_context, stablehlo
from litefuse.ir.passes import Pass, run_passes
from litefuse.legalize.after_engine import DecomposeOps
from litefuse.legalize.before_engine import RewriteBeforeLowering
from litefuse.legalize.custom_ops import EmitCustomOps
from litefuse.legalize.expand_powers import ExpandPowers
from litefuse.legalize.inplace_ops import LowerInplaceOps
from litefuse.legalize.zero_operands import KeepZeroOperands
from litefuse.options.forms import RnnForm
from litefuse.pipeline.one_op import lower_one_op
from litefuse.recognizers.recognize import RecognizeComposites
from litefuse.shapes.call_types import RefineCallTypes
from litefuse.shapes.forward_values import ForwardValues
from litefuse.shapes.result_types import TypeResults
from litefuse.simplify.simplify import Simplify
from litefuse.stablehlo.xla_call_module import LowerXlaCallModule
from litefuse.tensor_lists import LowerTensorLists
from litefuse.variables.call_once import CallOnce
from litefuse.variables.freeze_variables import FreezeVariables, InitializeVariables
from litefuse.variables.merge_handles import MergeHandles
from litefuse.variables.resource_handles import LiftReads, SinkHandles
from litefuse.variables.resource_ops import DecomposeResourceOps
from litefuse.variables.separate_reads import SeparateReads
from litefuse.weights import Weights
from litefuse.weights.cut_constants import CutConstants
from litefuse.weights.drop_constants import DropConstants
from litefuse.weights.fill_buffers import FillBuffers
from litefuse.weights.fold_constants import FoldConstants

Values = dict[str, str]


def _values(values: Values) -> Callable[[str], ir.Attribute]:
    return lambda name: ir.Attribute.parse(values[name])


class WrapProgram:
    """Puts a program into an ``XlaCallModule``."""

    name: ClassVar[str] = "wrap-program"

    def run(self, module: ir.Module) -> bool:
        (main,) = [op for op in module.body.operations if isinstance(op, func.FuncOp) and function_symbol(op) == "main"]
        kind: ir.FunctionType = main.type
        dialect = stablehlo()
        program: bytes = dialect.serialize_portable_artifact_str(str(module), dialect.get_current_version())
        for op in list(module.body.operations):
            op.operation.erase()
        with ir.InsertionPoint(module.body), ir.Location.unknown():
            wrapped = func.FuncOp("main", kind)
        block = wrapped.add_entry_block()
        with ir.InsertionPoint(block), ir.Location.name("program"):
            call = ir.Operation.create(
                "tf.XlaCallModule",
                results=list(kind.results),
                operands=list(block.arguments),
                attributes={
                    "Sout": ir.ArrayAttr.get([ir.Attribute.parse("#tf_type.shape<*>")] * len(kind.results)),
                    "module": ir.StringAttr.get(program),
                    "version": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 10),
                },
            )
            func.ReturnOp(list(call.results))
        return True


PASSES: dict[str, Callable[[dict[str, str], Values], Pass]] = {
    "call-once": lambda options, _: CallOnce(["initialize_variables"], tuple(options["entry"].split("+"))),
    "copy-branch-results": lambda _o, _v: CopyBranchResults(),
    "cut-constants": lambda _o, _v: CutConstants(Weights(1 << 40)),
    "decompose-ops": lambda _o, _v: DecomposeOps([], lower_one_op),
    "drop-constants": lambda _o, _v: DropConstants(),
    "decompose-resource-ops": lambda _o, _v: DecomposeResourceOps(),
    "emit-custom-ops": lambda options, _: EmitCustomOps(frozenset(options["allow"].split("+")) if options else False),
    "embedding-lookups": lambda _o, _v: EmbeddingLookups(),
    "expand-powers": lambda _o, _v: ExpandPowers(),
    "fill-buffers": lambda _o, _v: FillBuffers(),
    "fold-branches": lambda _o, _v: FoldBranches(),
    "forward-values": lambda options, _: ForwardValues(lowered="lowered" in options),
    "simplify": lambda _o, _v: Simplify(),
    "freeze-variables": lambda _, values: FreezeVariables(_values(values), []),
    "fuse-composites": lambda _o, _v: FuseComposites([]),
    "hoist-projections": lambda _o, _v: HoistProjections(),
    "initialize-states": lambda _o, _v: InitializeStates(),
    "initialize-variables": lambda _, values: InitializeVariables(_values(values), []),
    "keep-copies": lambda _o, _v: KeepCopies(),
    "fold-constants": lambda _o, _v: FoldConstants(),
    "merge-handles": lambda _o, _v: MergeHandles(),
    "separate-reads": lambda _o, _v: SeparateReads(),
    "type-results": lambda _o, _v: TypeResults(),
    "keep-zero-operands": lambda _o, _v: KeepZeroOperands(),
    "lift-reads": lambda _o, _v: LiftReads(),
    "lower-case": lambda _o, _v: LowerCase(),
    "lower-for": lambda _o, _v: LowerFor(),
    "lower-inplace-ops": lambda _o, _v: LowerInplaceOps(),
    "lower-conditions": lambda _o, _v: LowerConditions(),
    "lower-xla-call-module": lambda _o, _v: LowerXlaCallModule(),
    "lower-tensor-lists": lambda _o, _v: LowerTensorLists(),
    "name-tensors": lambda options, _: NameTensors(
        {options["entry"]: (tuple(options["inputs"].split("+")), tuple(options["outputs"].split("+")))}
    ),
    "outline-loops": lambda _o, _v: OutlineLoops(),
    "prepare-shapes": lambda _o, _v: PrepareShapes(),
    "recognize-composites": lambda options, _: RecognizeComposites([], cast("RnnForm", options.get("rnn", "auto"))),
    "refine-call-types": lambda _o, _v: RefineCallTypes(),
    "rewrite-before-lowering": lambda _o, _v: RewriteBeforeLowering([]),
    "sink-handles": lambda _o, _v: SinkHandles(),
    "wrap-program": lambda _o, _v: WrapProgram(),
}


def _cases() -> list[Any]:
    cases: list[Any] = []
    for path in sorted(Path(__file__).parent.glob("*.mlir")):
        for number, text in enumerate(re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE)):
            cases.append(pytest.param(text, id=f"{path.stem}-{number}"))
    return cases


def _directives(text: str, name: str) -> list[str]:
    return re.findall(rf"^// {name}: (.*)$", text, flags=re.MULTILINE)


def _passes(text: str) -> list[Pass | str]:
    values = dict(line.split(" = ", 1) for line in _directives(text, "VALUE"))
    (line,) = _directives(text, "RUN")
    found: list[Pass | str] = []
    for name, options in re.findall(r"([a-z-]+)(?:\{(.*?)\})?", line):
        if not name:
            continue
        pairs = dict(option.split("=", 1) for option in options.split()) if options else {}
        found.append(PASSES[name](pairs, values) if name in PASSES else f"{name}{{{options}}}")
    return found


def _check_reasons(expected: list[str], passes: list[Pass | str]) -> None:
    outcomes = [outcome for one in passes if isinstance(one, FuseComposites) for outcome in one.outcomes]
    reasons = [outcome.reason or "" for outcome in outcomes if outcome.kind != "fused"]
    assert len(reasons) == len(expected), reasons
    for reason, part in zip(reasons, expected, strict=True):
        assert part in reason


@pytest.mark.parametrize("text", _cases())
def test_pass(text: str) -> None:
    errors = _directives(text, "ERROR")
    assert errors or "// CHECK" in text, "the module checks nothing"
    with mlir_context():
        module = ir.Module.parse(text)
        passes = _passes(text)

        def run() -> None:
            for one in passes:
                if isinstance(one, str):
                    run_mlir_passes(module, one)
                else:
                    run_passes(module, [one])

        if errors:
            with pytest.raises(LitefuseError) as caught:
                run()
            for expected in errors:
                assert expected in str(caught.value)
            return
        run()
        _check_reasons(_directives(text, "REASON"), passes)
        module.operation.verify()
        result = str(module)
        assert filecheck_check_input(result, text), result
