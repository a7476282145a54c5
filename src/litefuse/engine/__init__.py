"""The lowering engine: the only package that imports litert_converter."""
