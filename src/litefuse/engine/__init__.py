"""The lowering engine: the C++ pipeline from TensorFlow's ops to LiteRT's, and the flatbuffer exporter."""
