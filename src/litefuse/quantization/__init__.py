"""Quantization of a model that was written: litert-quantizer does it, and LiteRT shows what it costs.

``dataset`` is what the caller's process needs, and loads no LiteRT; the rest runs in the process that converts.
"""
