"""TensorFlow ops that LiteRT lacks, or the engine gets wrong: rewritten exactly into ops that it has, or custom ops."""
