"""The IR, which is MLIR from the importer to the exporter: its bindings, and reading and building it.

``mlir``           the bindings; the only module of litefuse that imports ``litert_converter``
``types``          dtypes and shapes as MLIR types
``attributes``     Python values as MLIR attributes; ``custom_options`` writes them as a flexbuffer
``constants``      values of constants, and ops that make them
``defining_ops``   the op that defines a value, behind ops that forward it
``handles``        handles of resources and variants
``locations``      the node that an op comes from
``call_graph``     functions, calls between them, and their ops
``annotations``    the attribute that makes a function a composite
``marks``          names and attributes by which passes know each other's ops
``passes``         the interface of passes, and running them
``tensorflow_op``  one TensorFlow op, as a rewriting sees it
``builder``        builds TensorFlow ops with inferred types; ``litert_ops`` a few of LiteRT's
"""
