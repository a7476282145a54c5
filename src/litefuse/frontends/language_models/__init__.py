"""Language models as sources: decoders over caches, Keras Hub's and others, and their tokenizers.

``decoder``     the contract of a decoder, and its signatures as a SavedModel
``keras_hub``   a ``CausalLM`` of Keras Hub as a decoder, with its special tokens
``tokenizers``  a tokenizer of Keras Hub as a file that LiteRT-LM reads
``files``       models in files and folders, which are read in a process of their own
"""
