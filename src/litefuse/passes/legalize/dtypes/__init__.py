"""Dtypes that LiteRT's ops do not support: casts, wider and narrower dtypes, quantized values."""
