"""Runs the model in litefuse's interpreter, in the stock one, and in CompiledModel."""

import numpy as np
from ai_edge_litert.interpreter import Interpreter
from sorted_gaps import SortedGaps

import litefuse

scores = np.random.default_rng(0).standard_normal((3, 10)).astype(np.float32)
gaps = litefuse.Interpreter("model.tflite", custom_ops=[SortedGaps]).get_signature_runner()(scores=scores)["gaps"]
stock = Interpreter("model.tflite", experimental_delegates=[litefuse.delegate(SortedGaps)])
np.testing.assert_array_equal(stock.get_signature_runner()(scores=scores)["gaps"], gaps)
with litefuse.CompiledModel("model.tflite", custom_ops=[SortedGaps]) as model:
    np.testing.assert_array_equal(model.run({"scores": scores})["gaps"], gaps)
print(gaps)
