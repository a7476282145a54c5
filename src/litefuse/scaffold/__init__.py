"""Scaffolding of kernels, for ``litefuse kernels new`` and ``litefuse kernels export``.

``call``           a call of an op in a model: its inputs, outputs and options
``litert_model``   reads the calls of an op from a ``.tflite`` file, and writes models of one call
``saved_model``    reads the calls from a SavedModel, by converting it
``shapes``         infers how an output's shape depends on those of the inputs
``python_kernel``  the kernel in Python
``cpp_kernel``     the kernel in C++
``project``        the folder with both, a build file, a test and their data
``sources``        the C++ sources of the kernel pack, and their export for an app
"""
