"""Training for integers in Keras 3: traces a model's operations, and puts fake quantization between them."""
