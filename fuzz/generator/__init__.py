"""The target ``generator``."""
