"""Export of the lowered module: the model's file and a summary of its contents.

``model_file``      writes the file
``summary``         counts its operators
``inside_buffers``  brings weights behind the flatbuffer inside it, for runtimes that read no others
"""
