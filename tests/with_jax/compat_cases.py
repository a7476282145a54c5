"""Run as a program: converts a function of JAX by litefuse.compat, and prints what came of it."""

# JAX is not typed here: it is no dependency of the type check.
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from litefuse.errors import SettingError
from litefuse.tools.compat import Optimize, TFLiteConverter

jnp: Any = importlib.import_module("jax.numpy")
interpreter: Any = importlib.import_module("ai_edge_litert.interpreter")

WEIGHTS = np.random.default_rng(0).normal(size=[32, 64]).astype(np.float32)
ROW = np.random.default_rng(1).normal(size=[1, 32]).astype(np.float32)


def scaled(row: Any, scale: Any) -> Any:
    return jnp.tanh(row @ WEIGHTS) * scale


def main() -> None:
    converter = TFLiteConverter.experimental_from_jax(
        [scaled], [[("row", jnp.zeros([1, 32])), ("factor", np.float32(0.0))]]
    )
    for name, optimizations, largest in (("floats", [], 1e-5), ("dynamic", [Optimize.DEFAULT], 0.2)):
        converter.optimizations = optimizations
        runner = interpreter.Interpreter(model_content=converter.convert()).get_signature_runner()
        details = {key: each["dtype"].__name__ for key, each in runner.get_input_details().items()}
        outputs = [runner(row=ROW, factor=np.float32(3.0)) for _ in range(2)]
        errors = [float(np.max(np.abs(each["output_0"] - np.tanh(ROW @ WEIGHTS) * 3.0))) for each in outputs]
        print(f"{name}:", details, "near" if max(errors) < largest else errors)
    print("report:", converter.report.quantization is not None)
    wrong: list[tuple[Any, Any]] = [([], []), ([scaled, scaled], [[], []]), ([scaled], [[np.zeros(3)]])]
    for functions, inputs in wrong:
        try:
            TFLiteConverter.experimental_from_jax(functions, inputs)
        except SettingError as error:
            print("refused:", error.hint)


if __name__ == "__main__":
    main()
