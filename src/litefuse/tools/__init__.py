"""Tools built on conversions: the command line, comparison, measurement, pages, batches, projects."""
