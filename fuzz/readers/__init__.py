"""The C++ readers of hostile bytes: flexbuffers, tensors of strings, regular expressions."""
