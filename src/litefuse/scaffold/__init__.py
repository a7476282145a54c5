"""Writing the beginnings of a kernel: what ``litefuse kernels new`` and ``litefuse kernels export`` do.

``call``           one op as it stands in a model: its inputs, outputs and options
``litert_model``   reads the calls of an op from a ``.tflite`` file, and writes models of one call
``saved_model``    the same from a SavedModel, by converting it
``shapes``         how an output's shape follows from those of the inputs
``python_kernel``  the kernel in Python
``cpp_kernel``     the kernel in C++
``project``        the folder with both, a build file, a test and what they need
``sources``        where the C++ sources of the kernel pack are, and their export for an app
"""
