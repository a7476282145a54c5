"""Shared infrastructure: files, options, reports, logs, processes, plug-ins."""
