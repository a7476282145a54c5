"""Checks that conversions compute the same: both sides run on the same inputs and must agree.

A fused op against its composite, in each conversion:

``self_check``   the comparison, for one composite
``standalone``   one function as a model of its own
``check_draws``  arguments for it, drawn from its model, and the constants that its calls give it
``check_calls``  calls of both with the same arguments
``steps``        arguments on both sides of a step of its results
``rounding``     how far rounding moves them: a copy of the model runs with the ``moves`` of its ops

The written file, in each conversion:

``file_check``    calls it in another process
``written_file``  the call itself
``failing_op``    the op at which it fails

A converted model against the original, for ``litefuse verify``:

``against_original``  the comparison
``converted``         the converted model
``drawn_rounds``      calls with drawn inputs, until each output moves and each branch is taken
``model_process``     a LiteRT model, in the process that runs it
``original``          the original, in a process with TensorFlow
``side_effects``      what the original would do besides computing
``reference``         what the model is compared with
``layers``            the comparison of tensors inside the two
``verdicts``          the verdict on each output
``verification``      the result
"""
