"""litefuse: operation fusion from TensorFlow to LiteRT."""

__version__ = "0.1.0"
