"""Training for integers in Keras 3: fake quantization between the operations of a model."""

#: The functions of JAX's programs that compute it, of a tensor and the ends of its range: whether that is narrow.
FAKE_QUANTIZATIONS = {"litefuse.fake_quantization": False, "litefuse.fake_quantization.narrow": True}
