"""Events of the work as records of Python's ``logging``, from child processes too, as text or JSON lines."""
