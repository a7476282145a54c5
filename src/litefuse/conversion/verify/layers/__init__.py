"""Layer by layer: where a converted model begins to differ from the original.

``comparison``       compares the values that the processes read
``observed_copy``    the ops of a signature, and a copy of the model whose intermediate tensors are outputs
``model_values``     their values, in the process of the model
``flat_graph``       the original's graph with function calls inlined
``original_values``  the values of its nodes, in the process with TensorFlow
``layers``           the result
"""
