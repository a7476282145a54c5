"""Does it compute the same? Both are run, and must agree.

A fused op against its composite, in each conversion:

``self_check``  the comparison, for one composite
``standalone``  one function as a model of its own
``fixed_size``  a function with known sizes
``inputs``      arguments for it, drawn from its model
``result``      what came of it

The file that was written, in each conversion:

``file_check``    the call of it in another process
``written_file``  the call itself
``failing_op``    the op that it fails at

A converted model against the original, for ``litefuse verify``:

``against_original``  the comparison
``converted``         the converted model
``drawn_rounds``      calls of it with drawn inputs; ``coverage`` says how many rows they reached
``model_process``     a LiteRT model, in the process that it runs in
``original``          the original, in a process with TensorFlow
``side_effects``      what it would do besides computing; ``effects`` are the ops that do
``reference``         what it is compared with; ``original_tables`` what its tables hold
``layers``            what is inside the two
``branches``          which of them calls take; ``coverage`` is what they reach
``difference``        of two outputs; ``movement`` of one from call to call
``verification``      what came of it
``sections``          as a report
"""
