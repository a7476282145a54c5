"""The tests of other converters and of Keras, with their comparison replaced by an export.

``tf2onnx``, ``coremltools`` and ``keras`` run the peer's own test modules, from a checkout of its repository, in a
process with TensorFlow; where a test would convert its model and compare, a case of the suite is written instead: the
model as a SavedModel, the inputs of the test and what TensorFlow makes of them.
"""
