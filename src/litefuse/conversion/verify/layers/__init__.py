"""Layer by layer: where a converted model begins to differ from the original.

``look``         the comparison, and the processes that it runs in
``graph``        the ops of a signature, and the tensors that they compute
``observed``     a copy of the model whose intermediate tensors are outputs
``model_side``   their values, in the process of the model
``flat_graph``   the original's graph with function calls inlined
``original_side``  the values of its nodes, in the process with TensorFlow
``names``        the node that a tensor is named after
``comparison``   compares the values
``layers``       the result
``sections``     the result as a report
"""
