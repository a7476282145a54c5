"""Runs the model in LiteRT, with the generated kernel and without."""

import numpy as np
from ai_edge_litert.interpreter import Interpreter, load_delegate

images = np.random.default_rng(0).standard_normal((2, 32, 32, 64)).astype(np.float32)
kernels = load_delegate("model.kernels/libgenerated_kernels.so")
with_kernel = Interpreter("model.tflite", experimental_delegates=[kernels]).get_signature_runner()
without = Interpreter("model.tflite").get_signature_runner()
difference = np.abs(with_kernel(images=images)["features"] - without(images=images)["features"]).max()
print(f"with and without the kernel, results differ by {difference:.1g}")
assert difference < 1e-4
