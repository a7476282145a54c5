"""Writes and edits ``.tflite`` files.

``edited_file``       changes files that are there, and completes those of other tools, with signatures and names
``editor``            changes a graph of a model: ops, tensors, constants
``buffers``           appends the data of weights, inside the flatbuffer or behind it
``op_codes``          corrects the op codes of a file
``op_versions``       the least version of each op in the form that it has
``runtime_versions``  the first runtime with each version of each op
"""
