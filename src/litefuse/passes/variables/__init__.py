"""Variables, their handles and hash tables: read-only ones are frozen, others get initial values."""
