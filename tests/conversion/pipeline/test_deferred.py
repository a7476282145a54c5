from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable

import pytest

from litefuse.conversion.pipeline import deferred
from litefuse.fusions.recognizers.recurrent import block_cells
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.passes import Deferred, run_passes
from litefuse.passes.finishing import kept_copies, sequence_layouts
from litefuse.passes.legalize import inplace_ops, zero_operands
from litefuse.passes.tensor_lists import list_ops
from litefuse.passes.variables import random_generators, resource_ops
from litefuse.passes.weights import cut_constants

PASSES: dict[str, type[Deferred]] = {
    name: one for name, one in vars(deferred).items() if isinstance(one, type) and issubclass(one, Deferred)
}
UNKNOWN_SHAPES = [
    op for name in ("_UNKNOWN_SHAPES", "_UNKNOWN_UNLESS_CONSTANT", "_STATED") for op in vars(kept_copies)[name]
]
CUTTING = [op for op, name in vars(cut_constants)["_NAMES"].items() if name in vars(cut_constants)["_CUTTING"]]


@pytest.mark.parametrize("name", PASSES)
def test_the_pass_has_the_name_that_it_is_announced_by(name: str) -> None:
    assert PASSES[name].load().name == PASSES[name].name


@pytest.mark.parametrize(
    ("name", "ops"),
    [
        ("CancelLayoutChanges", vars(sequence_layouts)["_RULES"]),
        ("CutConstants", CUTTING),
        ("DecomposeResourceOps", vars(resource_ops)["_DECOMPOSITIONS"]),
        ("ExpandBlockCells", vars(block_cells)["_EXPANDED"]),
        ("KeepCopies", UNKNOWN_SHAPES),
        ("KeepGenerators", vars(random_generators)["_STATELESS"]),
        ("KeepZeroOperands", vars(zero_operands)["_FACTORS"] | vars(zero_operands)["_TERMS"]),
        ("LowerInplaceOps", vars(inplace_ops)["_LOWERED"]),
        ("LowerTensorLists", list_ops.CREATORS | list_ops.OPTIONALS | list_ops.READERS),
    ],
)
def test_a_pass_is_loaded_for_each_op_that_it_has_a_rule_for(name: str, ops: Iterable[str]) -> None:
    assert [op for op in ops if not op.startswith(PASSES[name].ops)] == []


@pytest.mark.parametrize(
    ("op", "loaded"),
    [
        ('"tf.Relu"(%x) : (tensor<f32>)', False),
        ('"tf.Case"(%i, %x) {branches = [@b, @b], is_stateless = true} : (tensor<i32>, tensor<f32>)', True),
    ],
)
def test_a_pass_is_imported_for_its_ops_only(op: str, loaded: bool) -> None:
    program = f"""
import sys
from litefuse.conversion.pipeline.deferred import LowerCase
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.passes import run_passes
with mlir_context():
    module = ir.Module.parse('''
      func.func @main(%i: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {{
        %y = {op} -> tensor<f32>
        return %y : tensor<f32>
      }}
      func.func private @b(%x: tensor<f32>) -> tensor<f32> {{
        return %x : tensor<f32>
      }}''')
    announced = []
    run_passes(module, [LowerCase()], announced.append)
print(announced, "litefuse.passes.control_flow.branches" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == f"['lower-case'] {loaded}"


class Replaced:
    name = "replaced"

    def run(self, module: ir.Module) -> bool:
        (function,) = module.body.operations
        relu = next(op for op in function.regions[0].blocks[0].operations if op.name == "tf.Abs")
        with ir.InsertionPoint(relu), relu.location:
            made = ir.Operation.create("tf.ReverseV2", [relu.results[0].type], [*relu.operands, *relu.operands])
        relu.results[0].replace_all_uses_with(made.result)
        relu.operation.erase()
        return True


def test_a_pass_sees_the_ops_that_the_one_before_it_made(monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[str] = []

    class Seen:
        def run(self, module: ir.Module) -> bool:
            run.append(str(module.operation.name))
            return False

    monkeypatch.setattr(deferred.ReadReversed, "load", staticmethod(lambda: Seen))
    with mlir_context():
        module = ir.Module.parse(
            "func.func @main(%x: tensor<1xi32>) -> tensor<1xi32> {\n"
            '%y = "tf.Abs"(%x) : (tensor<1xi32>) -> tensor<1xi32>\nreturn %y : tensor<1xi32>\n}'
        )
        run_passes(module, [deferred.ReadReversed(), Replaced(), deferred.ReadReversed()])
    assert len(run) == 1
