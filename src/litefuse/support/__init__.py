"""What every room uses and none of them is about: files, options, reports, logs, processes, plug-ins."""
