"""Public architectures, converted: ``python -m benchmarks.architectures`` writes docs/reference/models.md."""
