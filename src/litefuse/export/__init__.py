"""The model's file.

``model_file``        writes a lowered module as one
``summary``           counts a module's operators
``edited_file``       changes files that are there, and completes those of other tools
``buffers``           appends the data of weights, inside the flatbuffer or behind it
``op_codes``          corrects the op codes of a file
``op_versions``       the least version of each op in the form that it has
``runtime_versions``  the first runtime with each version of each op
"""
