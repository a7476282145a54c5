"""The TensorFlow classes of Hugging Face's transformers, from small random configurations."""
