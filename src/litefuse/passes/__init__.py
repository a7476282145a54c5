"""The passes over the IR, from TensorFlow's ops as they were imported to LiteRT's as they are written."""
