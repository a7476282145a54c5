"""Reads LiteRT models, and runs those whose custom ops have kernels written in Python.

``custom_op``    kernels, and how they are found by their op's name
``delegate``     passes kernels to any interpreter, as a TfLiteDelegate
``interpreter``  the stock interpreter with such a delegate
``model_reader``  reads a file by its fields
``compiled_model``  LiteRT's newer interface with the same delegates, through the functions of its shared library
"""
