"""Runs LiteRT models whose custom ops have kernels written in Python.

``custom_op``    kernels, and how they are found by their op's name
``delegate``     passes kernels to any interpreter, as a TfLiteDelegate
``interpreter``  the stock interpreter with such a delegate; the only module that imports ai-edge-litert when imported
"""
