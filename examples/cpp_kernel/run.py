"""Runs the model in the stock LiteRT interpreter."""

import numpy as np
from ai_edge_litert.interpreter import Interpreter, load_delegate

x = np.random.default_rng(0).standard_normal((3, 16)).astype(np.float32)
interpreter = Interpreter("model.tflite", experimental_delegates=[load_delegate("./libkernels.so")])
y = interpreter.get_signature_runner()(x=x)["y"]
print("means", y.mean(-1), "deviations", y.std(-1))
np.testing.assert_allclose(y.mean(-1), 0, atol=1e-6)
