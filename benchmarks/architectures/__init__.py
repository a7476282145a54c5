"""Public architectures, converted: ``python -m benchmarks.architectures`` measures them for models.md."""
