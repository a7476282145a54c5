"""Programs of StableHLO ops, translated, lowered and run in LiteRT."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.standalone import standalone_model
from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.passes import run_passes
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.passes.stablehlo.xla_call_module import lower_xla_call_module
from tests.mlir.setup_passes import WrapProgram

_Array = npt.NDArray[Any]
_TYPES = {"bool": "i1"}


def _text(array: _Array) -> str:
    name = str(array.dtype)
    element = _TYPES.get(name) or name.replace("float", "f").replace("int", "i")
    return f"tensor<{''.join(f'{size}x' for size in array.shape)}{element}>"


def run(body: str, result: str, *inputs: _Array) -> _Array:
    """The result of a program of the inputs ``%x0``, ``%x1``...

    Args:
        body: Its ops; the last one's result is ``%y``.
        result: The type of ``%y``, without ``tensor<>``.
        inputs: The inputs.
    """
    arguments = ", ".join(f"%x{number}: {_text(array)}" for number, array in enumerate(inputs))
    ops = textwrap.indent(textwrap.dedent(body).strip(), "  ")
    kind = f"tensor<{result}>"
    (found,) = run_program(
        f"func.func public @main({arguments}) -> {kind} {{\n{ops}\n  return %y : {kind}\n}}", *inputs
    )
    return found


def run_program(text: str, *inputs: _Array) -> list[_Array]:
    """The results of a program, whose function is ``@main``."""
    with mlir_context():
        module = ir.Module.parse(text)
        run_passes(module, [WrapProgram(), lower_xla_call_module])
        model = standalone_model(module, functions(module)["main"]).content
    runner = Interpreter(model).get_signature_runner()
    outputs = runner(**{f"x{number}": array for number, array in enumerate(inputs)})
    return [np.array(outputs[f"y{number}"]) for number in range(len(outputs))]
