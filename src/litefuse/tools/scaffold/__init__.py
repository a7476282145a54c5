"""Scaffolding of kernels, for ``litefuse kernels new`` and ``litefuse kernels export``.

``saved_model``     reads the calls from a SavedModel, by converting it
``shapes``          infers how an output's shape depends on those of the inputs
``python_kernel``   the kernel in Python
``cpp_kernel``      the kernel in C++
``project``         the folder with both, a build file, a test and their data; or of a package with a kernel in C++
``kernel_folders``  folders of generated kernels, and of the C++ sources of the kernel pack
"""
