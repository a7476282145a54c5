"""Running LiteRT models whose custom ops have kernels written in Python.

``custom_op``    what a kernel is, and how it is found by its op's name
``delegate``     gives kernels to any interpreter, as a TfLiteDelegate
``interpreter``  the stock interpreter with such a delegate; the only module that imports ai-edge-litert when imported
"""
