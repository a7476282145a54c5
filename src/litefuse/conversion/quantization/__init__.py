"""Quantization of a written model; LiteRT measures the error.

``option_checks``     checks of what was asked for, before it begins
``dataset``           representative datasets, in the calling process, which does not load LiteRT
``samples``           their samples as calls of the model

All else runs in the conversion process:

``post_training``     quantization with ``litert_quantizer``; ``recipe`` says what each op gets
``training_aware``    integer ops with the ranges of fake-quantization nodes
``mixed_precision``   for the weights of each layer the smallest form that the outputs can bear
``calibration``       the ranges of tensors; ``adjusted_ranges`` those that LiteRT's kernels want
``ops_left_in_float`` ops that have to stay in floating point; ``float_ops`` finds those that did, and why

Changes of the quantized file: ``quantizer_mends``, ``runtime_forms``, ``moved_constants``, ``integer_custom_ops``,
``integer_composites``, ``integer_loops``, and ``recurrent`` for recurrent ops.

``difference``        the quantization error
``effect``            the error, the ops left in floating point, and whether the samples sufficed
"""
