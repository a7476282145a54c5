"""The last step of a conversion, in the process that starts it: has the written file called in the worker process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from litefuse.errors import EngineCrashError, FileCheckError, LimitError, LitefuseError
from litefuse.support.plug_ins.entry_points import PlugIn
from litefuse.support.processes.limits import ProcessLimits, process_limits, processes_limited, tells_of_no_memory
from litefuse.support.processes.process import run_alone, run_in_worker

if TYPE_CHECKING:
    from litefuse.litert.runtime.failed_op import OpPlace

#: The name of the step.
CHECK_FILE = "check-file"
#: The hint for users who want the file nevertheless.
KEEP = "Convert with checks=Checks(file=False) (on the command line, --no-check-file) to have the file as it is."

_TARGET = "litefuse.conversion.verify.written_file:check_job"
# A model may loop forever.
_SECONDS = 30.0


class FileCheckJob(NamedTuple):
    """The file to call, and its kernels.

    Attributes:
        path: The ``.tflite`` file.
        kernels: The kernels that the user registered, each pickled, by their ops.
        plug_ins: What installed packages offer; None: the process looks for itself when it needs them.
        xnnpack: Whether it may be called with XNNPACK, which packs weights into memory of its own.
    """

    path: Path
    kernels: Mapping[str, bytes]
    plug_ins: tuple[PlugIn, ...] | None
    xnnpack: bool = True


class FileCall(NamedTuple):
    """The outcome of calling a file.

    Attributes:
        problem: Why it could not be called; None if all of it ran.
        seconds: The keys of signatures that were called again, and how long a call took. There are none where XNNPACK
            was not used, which runs a file elsewhere.
    """

    problem: str | None = None
    seconds: tuple[tuple[str, float], ...] = ()


def check_in_worker(job: FileCheckJob, where: str, announce: Callable[[str], None]) -> FileCall:
    """Calls a file in a worker process, for half a minute at most; see :func:`~.written_file.check_written_file`.

    Returns:
        How long it took, or why it could not be called.

    Raises:
        FileCheckError: LiteRT refuses it, or crashes on it.
        LimitError: The time is up.
    """
    limits = process_limits()
    is_ours = limits.remaining is None or limits.remaining > _SECONDS
    try:
        with processes_limited(ProcessLimits(_SECONDS, limits.memory) if is_ours else limits):
            return cast("FileCall", run_in_worker(_TARGET, job._replace(xnnpack=limits.memory is None), announce))
    except FileCheckError:
        if limits.memory is None:
            raise
        return FileCall("LiteRT refuses it within the limit memory; try it with litefuse run")
    except LimitError as error:
        if error.limit == "timeout" and not is_ours:
            raise
        took = f"it ran for more than {_SECONDS:g} seconds" if error.limit == "timeout" else error.message
        return FileCall(f"{took}; try it with litefuse run")
    except EngineCrashError as error:
        if tells_of_no_memory(error.message):
            return FileCall("it takes more than 1.5 GiB besides its weights; try it with litefuse run")
        site = deadly_op(job)
        raise FileCheckError(
            f"the file was written, but LiteRT crashes on it ({error.death}){f', at the op {site}' if site else ''}",
            where=where,
            hint=f"Please report it. {KEEP}",
        ) from None


def deadly_op(job: FileCheckJob) -> OpPlace | None:
    """Finds the first op at which LiteRT crashes when a file is called; see :func:`~.failing_op.failing_op`."""
    from litefuse.conversion.verify.failing_op import failing_op  # few files crash

    def is_deadly(beginning: Path) -> bool:
        try:
            run_alone(_TARGET, job._replace(path=beginning), environment={})
        except EngineCrashError:
            return True
        except LitefuseError:
            return False
        return False

    return failing_op(job.path, is_deadly)
