"""The IR, which is MLIR from the importer to the exporter: its bindings, and how to read and build it.

``mlir``           the bindings; the only module of litefuse that imports ``litert_converter``
``installation``   whether ``litert_converter`` is installed
``types``          dtypes and shapes as MLIR types
``attributes``     Python values as MLIR attributes; ``custom_options`` writes them as a flexbuffer
``constants``      values of constants, and ops that make them
``defining_ops``   the op that defines a value, behind ops that forward it
``handles``        handles of resources and variants
``locations``      the node that an op comes from
``call_graph``     functions, their calls and their ops
``annotations``    the attribute that makes a function a composite
``marks``          names and attributes that mark ops for later passes
``passes``         the interface of passes, and their runner
``tensorflow_op``  a TensorFlow op, as its decomposition sees it
``builder``        emits TensorFlow ops with inferred types; ``litert_ops`` a few LiteRT ops
"""
