"""Shape inference and constant evaluation of TensorFlow's and LiteRT's ops: one rule for each op."""
