"""Quantization-aware training: fake-quantization nodes as QUANTIZE and DEQUANTIZE, and integer ops in their place."""
