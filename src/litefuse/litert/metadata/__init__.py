"""TensorFlow Lite Metadata: what a model and its inputs and outputs are, for apps and people, in the model's file.

``schema``            the tables of the format, as data
``json_form``         metadata as JSON, which is checked against the schema
``flatbuffer_form``   metadata as the flatbuffer in the file
``associated_files``  labels and vocabularies, packed behind the model
``description``       metadata to write, with the contents of its files
``names``             other names of inputs and outputs, and those before
``new_root``          writes a file with another root table, which shares everything else with the file before
``finish``            puts all of it into a file
"""
