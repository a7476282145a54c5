"""SavedModels with hostile graphs, object graphs, checkpoints and assets."""
