"""The LSTM cells as litefuse and as the reference fuse them: its pass runs in the engine, on what is annotated still.

The reference fuses here only what is annotated and exported itself, so weights are inputs of these models.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter

from litefuse.errors import LoweringError
from litefuse.fusions.composites.fuse_composites import FuseComposites
from litefuse.ir.call_graph import functions, operations
from litefuse.ir.engine.lowering import lower, set_signature, write_flatbuffer
from litefuse.ir.mlir import func, ir, mlir_context
from litefuse.passes.finishing.initialize_states import initialize_states

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

PLAIN = "LSTMCellSimple"
NORMALIZED = "LayerNormalizedLstmCellSimple"


def model(path: Path, name: str, shapes: list[tuple[int, ...]], *, reference: bool) -> bytes:
    """A model that is one composite, fused by litefuse or by the reference."""
    arguments = ", ".join(f"%a{index}: tensor<{'x'.join(map(str, shape))}xf32>" for index, shape in enumerate(shapes))
    text = f"""
        func.func @main({arguments}) -> tensor<{shapes[0][0]}x?xf32> attributes {{tf._implements = "{name}"}} {{
          %0 = "tf.Undefined"() : () -> tensor<{shapes[0][0]}x?xf32>
          return %0 : tensor<{shapes[0][0]}x?xf32>
        }}"""
    with mlir_context():
        module = ir.Module.parse(text)
        (main,) = functions(module).values()
        if not reference:
            FuseComposites([]).run(module)
        set_signature(main, "main", [f"a{index}" for index in range(len(shapes))], ["y"])
        lower(module)
        initialize_states.run(module)
        _drop_casts(main)
        write_flatbuffer(module, path)
    return path.read_bytes()


def _drop_casts(function: func.FuncOp) -> None:
    """Takes away the casts that the reference leaves, of its result to one of unknown size; no model can have them."""
    for op in operations(function):
        if op.name == "tensor.cast":
            op.results[0].replace_all_uses_with(op.operands[0])
            op.operation.erase()
    results = [value.type for value in function.entry_block.operations[-1].operands]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(function.type.inputs, results))


def inputs(name: str, batch: int) -> list[npt.NDArray[Any]]:
    """Input, weight, bias, projection, and scale, of 3 features, 5 cells, 4 outputs."""
    random = np.random.default_rng(3)
    gates = 3 if "Couple" in name else 4
    shapes = [(batch, 3), (7, 5 * gates), (5 * gates,), (5, 4), (5 * gates,)]
    count = 5 if name.startswith(NORMALIZED) else 4
    return [random.normal(0, 1, shape).astype(np.float32) for shape in shapes[:count]]


def options(content: bytes) -> list[dict[str, Any]]:
    """The options of each LSTM op."""
    schema: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
    root = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    return [
        vars(op.builtinOptions)
        for op in root.subgraphs[0].operators
        if root.operatorCodes[op.opcodeIndex].builtinCode == schema.BuiltinOperator.LSTM
    ]


@pytest.mark.parametrize("name", [PLAIN, NORMALIZED])
def test_the_ops_are_equal_and_only_one_forgets(tmp_path: Path, name: str) -> None:
    values = inputs(name, 1)
    shapes = [value.shape for value in values]
    ours, reference = (model(tmp_path / f"{each}.tflite", name, shapes, reference=each) for each in (False, True))
    assert options(ours) == options(reference)
    assert options(ours)[0]["cellClip"] == 10.0
    calls: list[list[npt.NDArray[Any]]] = []
    for content in (ours, reference):
        run: Any = Interpreter(model_content=content).get_signature_runner("main")
        named = {f"a{index}": value for index, value in enumerate(values)}
        calls.append([np.array(run(**named)["y"]) for _ in range(2)])
    (first, second), (reference_first, reference_second) = calls
    np.testing.assert_allclose(first, reference_first, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(second, first)
    # The reference's model goes on from the states that the call before has left.
    assert np.abs(reference_second - reference_first).max() > 1e-3


def test_only_litefuse_fuses_coupled_gates(tmp_path: Path) -> None:
    name = f"{PLAIN},CoupleInputForgetGates"
    shapes = [value.shape for value in inputs(name, 1)]
    assert len(options(model(tmp_path / "ours.tflite", name, shapes, reference=False))) == 1
    with pytest.raises(LoweringError):  # the body stays, which is not for LiteRT
        model(tmp_path / "reference.tflite", name, shapes, reference=True)


def test_only_litefuse_fuses_a_batch(tmp_path: Path) -> None:
    shapes = [value.shape for value in inputs(PLAIN, 3)]
    assert len(options(model(tmp_path / "ours.tflite", PLAIN, shapes, reference=False))) == 1
    with pytest.raises(LoweringError):
        model(tmp_path / "reference.tflite", PLAIN, shapes, reference=True)


def test_only_the_reference_makes_up_a_bias(tmp_path: Path) -> None:
    shapes = [value.shape for value in inputs(PLAIN, 1)]
    shapes[2] = (10,)  # of two gates; those of the others are zeros
    assert len(options(model(tmp_path / "reference.tflite", PLAIN, shapes, reference=True))) == 1
    with pytest.raises(LoweringError):  # the body stays, which is not for LiteRT
        model(tmp_path / "ours.tflite", PLAIN, shapes, reference=False)
