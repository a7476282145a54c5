"""Plug-ins: extensions from installed packages, files and scripts."""
