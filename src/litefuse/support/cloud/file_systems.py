"""The file systems of URLs, which are fsspec's; and their errors, as litefuse's."""

from __future__ import annotations

import asyncio
import errno
import http
import importlib
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.support.cloud.names import shown

# Seconds in which nothing may come before a fetch is given up. How long all of it takes is not limited: aiohttp's own
# limit of 300 s in all ends a large file on a slow line.
STANDSTILL = 60.0
# The argument of a file system of aiohttp that has the arguments of its sessions, by the scheme.
_SESSIONS = {"http": "client_kwargs", "https": "client_kwargs", "gs": "session_kwargs", "gcs": "session_kwargs"}
_RETRY = "Try again later."
_STATUSES = {
    401: "It takes a user and a password, or a token: https://USER:PASSWORD@HOST/...",
    403: "Has the one who asks the right to read it, and is a signed URL still valid?",
    407: "A proxy in between asks for a user and a password.",
}


def file_system(url: str) -> tuple[Any, str]:
    """Returns the file system of a URL, and the path in it.

    Raises:
        LitefuseError: A package is missing, or the file system is unknown or cannot be opened.
    """
    try:
        core = importlib.import_module("fsspec.core")
    except ImportError:
        raise LitefuseError(
            "this is a URL, which requires the package fsspec",
            where=shown(url),
            hint='Install litefuse with the extra cloud: pip install "litefuse[cloud]".',
        ) from None
    scheme = url.partition("://")[0]
    with errors_of(url, "opened"):
        try:
            # The file system of an archive is kept with what the archive was.
            return core.url_to_fs(url, **({"skip_instance_cache": True} if "::" in url else {}), **_sessions(url))
        except ImportError as error:
            package = (getattr(error.__cause__, "name", None) or error.name or "").partition(".")[0]
            raise LitefuseError(
                f"{scheme}:// requires the package {package}, which is not installed" if package else str(error),
                where=shown(url),
                hint=f"Install it: pip install {package}" if package else "",
            ) from error
        except ValueError as error:
            if "rotocol" not in str(error):
                raise
            raise LitefuseError(
                f"unknown file system {scheme}://, and no file of this name",
                where=shown(url),
                hint="Those of fsspec are known, such as s3://, gs://, hf://, https:// and memory://.",
            ) from error


def _sessions(url: str) -> dict[str, dict[str, Any]]:
    """Returns the arguments of the file systems in a URL that open sessions of aiohttp: the user's, with our limit."""
    sessions: dict[str, dict[str, Any]] = {}
    for scheme in re.findall(r"(?:^|::)([a-z]+)://", url):
        if scheme in _SESSIONS:
            aiohttp = importlib.import_module("aiohttp")
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=STANDSTILL, sock_read=STANDSTILL)
            configured = importlib.import_module("fsspec.config").conf.get(scheme, {}).get(_SESSIONS[scheme], {})
            sessions[scheme] = {_SESSIONS[scheme]: {"timeout": timeout, **configured}}
    return sessions


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
    before = _tasks()
    try:
        yield
    except LitefuseError:
        raise
    except Exception as error:
        raise _told(error, url, what) from error
    except BaseException:  # an interrupt
        _cancel(_tasks() - before)
        raise


def _tasks() -> set[asyncio.Task[Any]]:
    """Returns what the thread of fsspec does for the file systems that it calls."""
    loop = _loop()
    return set() if loop is None else asyncio.all_tasks(loop)


def _cancel(tasks: set[asyncio.Task[Any]]) -> None:
    """Ends tasks that nobody waits for any more: at the end of the process, asyncio would complain about each."""
    loop = _loop()
    if loop is None or not tasks:
        return

    async def ended() -> None:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=1.0)

    with suppress(Exception):
        asyncio.run_coroutine_threadsafe(ended(), loop).result(timeout=2.0)


def _loop() -> asyncio.AbstractEventLoop | None:
    loop = getattr(sys.modules.get("fsspec.asyn"), "loop", [None])[0]
    return loop if loop is not None and loop.is_running() else None


def _told(error: BaseException, url: str, what: str) -> LitefuseError:
    """Returns what an error of a file system says."""
    where, status, hint = shown(url), getattr(error, "status", None), ""
    if isinstance(error, FileNotFoundError):
        # fsspec's file system of web servers makes one of any error, which is its cause.
        if error.__cause__ is not None and getattr(error.__cause__, "status", None) not in {404, 410}:
            return _told(error.__cause__, url, what)
        return LitefuseError("no such file or folder", where=where)
    if isinstance(error, (TimeoutError, asyncio.TimeoutError)):  # two classes before Python 3.11
        reason, hint = f"nothing came from the server for {STANDSTILL:g} seconds", _RETRY
    elif isinstance(status, int) and status >= 300:  # the text of the error has the URL, with its signature
        phrase = http.HTTPStatus(status).phrase if status in {*http.HTTPStatus} else ""
        reason = f"the server answers {status} {phrase}".rstrip()
        hint = _STATUSES.get(status, _RETRY if status == 429 or status >= 500 else "")
    elif type(error).__name__ in _ENDINGS:
        reason, hint = _ENDINGS[type(error).__name__], _RETRY
    elif isinstance(error, OSError) and error.errno == errno.ENOSPC:
        reason, hint = "the cache has no room for it", _ROOM
    else:
        text = getattr(error, "strerror", None) or str(error)
        named = text if isinstance(error, OSError) and text else f"{type(error).__name__}: {text}".rstrip(": ")
        reason = named.replace(url, where).replace(url.partition("?")[2] or url, "...")
    return LitefuseError(f"it cannot be {what}: {reason}", where=where, hint=hint)


# What aiohttp's errors are called, which is not imported here.
_ENDINGS = {
    "ClientPayloadError": "the connection ended before the file did",
    "TooManyRedirects": "the server redirects without end",
}
_ROOM = "Set LITEFUSE_CACHE to a folder with room, or run litefuse doctor cache --clear."
