"""Public architectures, converted: ``python -m benchmarks.architectures`` measures them for docs/reference/models.md."""
