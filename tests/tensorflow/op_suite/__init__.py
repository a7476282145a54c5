"""Every TensorFlow op that LiteRT can express, and those that it lacks, with a grid of dtypes, ranks and attributes."""
