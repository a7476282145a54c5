"""Layer by layer: where a converted model begins to differ from the original.

``look``         what is done, in which process
``graph``        the ops of a signature, and the tensors that they compute
``observed``     a copy of the model whose inside tensors are outputs
``model_side``   their values, in the process of the model
``flat_graph``   the original's graph without calls of functions
``original_side``  the values of its nodes, in the process with TensorFlow
``names``        which node a tensor is named after
``comparison``   of the values
``layers``       what came of it
``sections``     as a report
"""
