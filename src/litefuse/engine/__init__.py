"""The lowering engine: the only room that imports litert_converter."""
