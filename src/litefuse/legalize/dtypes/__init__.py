"""Dtypes that LiteRT's ops lack: casts, wider and narrower dtypes, quantized values."""
