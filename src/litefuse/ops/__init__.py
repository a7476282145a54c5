"""What TensorFlow's and LiteRT's ops do to shapes and small values: one rule for each op."""
