"""The file systems of URLs, which are fsspec's; and their errors, as litefuse's."""

from __future__ import annotations

import errno
import importlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from litefuse.cloud.names import shown
from litefuse.errors import LitefuseError

__all__ = ["errors_of", "file_system", "is_local"]


def file_system(url: str) -> tuple[Any, str]:
    """Returns the file system of a URL, and the path in it.

    Raises:
        LitefuseError: A package is missing, there is no such file system, or it cannot be opened.
    """
    try:
        core = importlib.import_module("fsspec.core")
    except ImportError:
        raise LitefuseError(
            "this is a URL, which takes the package fsspec",
            where=shown(url),
            hint='Install litefuse with the extra cloud: pip install "litefuse[cloud]".',
        ) from None
    scheme = url.partition("://")[0]
    with errors_of(url, "opened"):
        try:
            # The file system of an archive is kept with what the archive was.
            return core.url_to_fs(url, **({"skip_instance_cache": True} if "::" in url else {}))
        except ImportError as error:
            package = (getattr(error.__cause__, "name", None) or error.name or "").partition(".")[0]
            raise LitefuseError(
                f"{scheme}:// takes the package {package}, which is not installed" if package else str(error),
                where=shown(url),
                hint=f"Install it: pip install {package}" if package else "",
            ) from error
        except ValueError as error:
            if "rotocol" not in str(error):
                raise
            raise LitefuseError(
                f"there is no file system {scheme}://, and no file of this name",
                where=shown(url),
                hint="Those of fsspec are known, such as s3://, gs://, hf://, https:// and memory://.",
            ) from error


def is_local(system: Any) -> bool:
    """Whether a file system is that of this machine."""
    return "file" in (system.protocol if isinstance(system.protocol, tuple) else (system.protocol,))


@contextmanager
def errors_of(url: str, what: str) -> Generator[None]:
    """Makes errors of a file system litefuse's: libraries of stores raise any.

    Args:
        url: The URL, for the message.
        what: What cannot be done, such as ``read``.
    """
    try:
        yield
    except LitefuseError:
        raise
    except FileNotFoundError as error:
        raise LitefuseError("there is no such file or folder", where=shown(url)) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise LitefuseError(
                "there is no room for it in the cache",
                where=shown(url),
                hint="Set LITEFUSE_CACHE to a folder with room, or run litefuse cache --clear.",
            ) from error
        reason = error.strerror or str(error) or type(error).__name__
        raise LitefuseError(f"it cannot be {what}: {reason}", where=shown(url)) from error
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise LitefuseError(f"it cannot be {what}: {reason}", where=shown(url)) from error
