"""C++: the sources of litefuse's kit and kernels, and the compiler that makes shared libraries of kernels."""
