"""TensorFlow ops that LiteRT lacks, rewritten exactly into ops that it has."""
