"""Many models at once: converts, verifies, checks and quantizes them in processes here or on a Dask cluster."""
