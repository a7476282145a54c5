"""Forms that the engine rewrites, in every dtype: what it computes of them must be what TensorFlow does."""
