"""Whether a quantized model differs from the original by more than its quantization explains.

``constants``    what the file's constants are in an original that is a LiteRT model, too
``float_copy``   a copy of the file that computes with real numbers, rounded as in the file or not, whole or op by op
``judge``        runs such copies, in the process of the model
"""
