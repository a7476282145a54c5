"""C++ kernels from the bodies of composites: loops, sources, the check and the measurement."""
