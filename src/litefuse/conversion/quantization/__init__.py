"""Quantization of a written model with litert-quantizer; LiteRT measures the error.

``dataset`` is for the calling process, and does not load LiteRT; the rest runs in the conversion process.
"""
