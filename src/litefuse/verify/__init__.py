"""Does it compute the same? Both are run, and must agree.

A fused op against its composite, in each conversion:

``self_check``  the comparison, for one composite
``standalone``  one function as a model of its own
``fixed_size``  a function with known sizes
``inputs``      random inputs for it
``result``      what came of it

A converted model against the original, for ``litefuse verify``:

``against_original``  the comparison
``converted``         the converted model, and random calls of it
``model_process``     a LiteRT model, in the process that it runs in
``original``          the original, in a process with TensorFlow
``side_effects``      what it would do besides computing; ``effects`` are the ops that do
``difference``        of two outputs
``verification``      what came of it
``sections``          as a report
"""
