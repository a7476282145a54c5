"""Models, samples and outputs at URLs: any file system of fsspec, through a local cache.

``paths`` has what the rest of litefuse calls. It imports the other modules, and fsspec, when there is a URL.
"""
