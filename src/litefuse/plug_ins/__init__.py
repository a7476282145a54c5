"""What installed packages, files and scripts bring."""
