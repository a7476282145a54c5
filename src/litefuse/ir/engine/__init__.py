"""The lowering engine: the C++ pipeline from TensorFlow ops to LiteRT ops, and the flatbuffer exporter."""
