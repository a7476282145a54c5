"""What litefuse runs in: the machine, the packages with their versions, and whether all of it works."""
