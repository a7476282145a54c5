"""Child processes for work that conflicts with modules loaded in this process, or that may crash."""
