"""Variables, their handles and hash tables: frozen where they are only read, else with initial values."""
