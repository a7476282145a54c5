"""The environment of litefuse: the machine, the packages with their versions, and whether all of it works."""
