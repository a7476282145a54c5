"""Addresses of layers and nodes in a page."""

from __future__ import annotations

from urllib.parse import quote

__all__ = ["anchor"]


def anchor(name: str) -> str:
    """Returns the address, within the page, of a layer or node of the file: the script reads it when the page opens.

    Args:
        name: Its name, which may hold anything.
    """
    return f"#after={quote(name, safe='/:;,', errors='replace')}"
