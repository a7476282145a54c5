"""The IR, MLIR: its bindings, and reading and building it."""
