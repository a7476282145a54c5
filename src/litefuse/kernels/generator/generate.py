"""Generates the kernels for a file's composites, checks them and measures them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from litefuse.errors import EngineCrashError, LimitError, LitefuseError
from litefuse.kernels.generator.body import Body, body_model, composite_model, read_bodies
from litefuse.kernels.generator.called_shapes import CalledShapes
from litefuse.kernels.generator.graph import Graph, NotGenerated
from litefuse.kernels.generator.kernel import kernel_source
from litefuse.kernels.generator.project import build_kernels, identifiers, write_project
from litefuse.kernels.generator.sizes import Size, Sizes
from litefuse.kernels.generator.trial import Trial, TrialJob
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.options.names import fits
from litefuse.support.processes.limits import process_limits, processes_limited
from litefuse.support.processes.process import run_in_worker
from litefuse.support.progress.stages import Step
from litefuse.support.report.entries import KernelReport

_TARGET = "litefuse.kernels.generator.trial:run_trial"
# A trial takes a second or two. A kernel that takes longer is not worth the wait.
_SECONDS = 120.0


@dataclass(frozen=True)
class Generated:
    """Outcome of generating kernels for the composites of a file.

    Attributes:
        kernels: The composites that got a kernel, by name.
        declined: Those that did not, with the reasons.
        library: The library with the kernels; None if there are none.
    """

    kernels: dict[str, KernelReport]
    declined: dict[str, str]
    library: Path | None


def generate_kernels(
    content: bytes,
    names: Collection[str] | None,
    folder: Path,
    *,
    model: str,
    always: bool = False,
    called: CalledShapes | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Generated:
    """Generates kernels for composites of a file, and writes them into a folder that exists and is empty.

    Each is run on inputs that are drawn from the body, and compared with it; and it is measured against the body in
    LiteRT with XNNPACK, both on one thread. It is declined if it differs, or is not faster.

    Args:
        content: The ``.tflite`` file.
        names: The names of composites, or patterns of names; None: all of them.
        folder: The folder; it stays empty if no kernel is made.
        model: The file's name.
        always: Keep kernels that are not faster.
        called: The shapes to measure composites with; others are measured with usual ones.
        on_step: Called with each step's name.

    Raises:
        InterpreterError: The file is not a LiteRT model, or it is damaged.
        KernelError: The compiler refuses a kernel.
        LimitError: The time is over.
        LitefuseError: No C++ compiler found.
    """
    on_step("generate")
    bodies = read_bodies(content, model)
    chosen = [name for name in bodies if names is None or fits(name, *names)]
    declined: dict[str, str] = {}
    sources: dict[str, str] = {}
    classes = identifiers(chosen)
    for name in chosen:
        process_limits().check_time("generate")
        try:
            sources[name] = kernel_source(name, bodies[name], classes[name], model)
        except NotGenerated as error:
            declined[name] = str(error)
    kernels: dict[str, KernelReport] = {}
    if not sources:
        return Generated(kernels, declined, None)
    with make_temporary_folder() as work:
        on_step("compile")
        library = build_kernels(Path(work), sources)
        for number, name in enumerate(sources):
            counted = _counted(on_step, name, number, len(sources))
            trials = _Trials(content, library, called or {}, counted)
            verdict = _judged(trials, bodies[name], always=always)
            if isinstance(verdict, str):
                declined[name] = verdict
            else:
                kernels[name] = verdict
        if not kernels:
            return Generated(kernels, declined, None)
        if len(kernels) < len(sources):
            on_step("compile")
            library = None
        kept = {name: kernel_source(name, bodies[name], own, model) for name, own in identifiers([*kernels]).items()}
        try:
            written = write_project(folder, kept, model, library)
        except BaseException:
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            raise
    return Generated(kernels, declined, written)


def _counted(on_step: Callable[[str], None], name: str, number: int, total: int) -> Callable[[str], None]:
    """Adds to steps which kernel they are for, and how many are done."""
    return lambda step: on_step(Step(f"{step}: {name}, {number + 1} of {total}", number, total))


@dataclass(frozen=True)
class _Trials:
    """Inputs of the trials of a file's kernels, and the shapes to measure them with."""

    content: bytes
    library: Path
    called: CalledShapes
    on_step: Callable[[str], None]

    def run(self, body: Body) -> Trial:
        """Tries a body's kernel.

        Raises:
            LimitError: The time is over.
        """
        job = TrialJob(
            composite_model(self.content, body),
            body_model(self.content, body),
            self.library,
            is_timed=True,
            shapes=probing_shapes(body),
            measured=self.called.get((body.name, body.graph)),
        )
        limits = process_limits()
        limits.check_time("check-kernel")
        try:
            with processes_limited(limits.at_most(_SECONDS)):
                return cast("Trial", run_in_worker(_TARGET, job, self.on_step))
        except EngineCrashError as crash:
            return Trial(problem=f"the process that ran the kernel died: {crash.death}")
        except LitefuseError as failure:
            limits.check_time("check-kernel")
            if isinstance(failure, LimitError) and failure.limit == "timeout":
                return Trial(problem=f"the kernel and its body take longer than {_SECONDS:g} s")
            return Trial(problem=f"the kernel could not be run: {failure.message}")


def _judged(trials: _Trials, bodies: list[Body], *, always: bool) -> KernelReport | str:
    """Returns how a kernel compares with its bodies, or why it is declined."""
    error = kernel_seconds = body_seconds = 0.0
    for body in bodies:
        trial = trials.run(body)
        if trial.problem is not None:
            return trial.problem
        error = max(error, trial.error)
        kernel_seconds += trial.kernel_seconds
        body_seconds += trial.body_seconds
    if kernel_seconds >= body_seconds and not always:
        return (
            f"the kernel is not faster: {microseconds(kernel_seconds)}, and the body takes {microseconds(body_seconds)}"
        )
    return KernelReport(error, kernel_seconds, body_seconds)


def microseconds(seconds: float) -> str:
    """Returns a time for messages."""
    return f"{seconds * 1e6:,.3g} µs" if seconds < 1e-3 else f"{seconds * 1e6:,.0f} µs"


# So many calls are drawn for them. Models are not called with empty dimensions.
_MOST_PROBES = 16
_USUAL_SIZES = range(1, 70)
# A call of larger inputs takes too long.
_LARGEST_SIZE = 4096
_MOST_TRIED = 4000


def probing_shapes(body: Body) -> list[dict[str, tuple[int, ...]]]:
    """Returns shapes of a body's inputs, of which the sizes compare differently with one another and with numbers.

    Args:
        body: A body that a kernel is generated for.

    Returns:
        The shapes by ``x`` and the input's place; none for a body without open sizes.
    """
    sizes = Graph.of(body).sizes
    seen: set[tuple[Size, Size, int]] = set()
    shapes: list[dict[str, tuple[int, ...]]] = []
    for number, named in enumerate(_assignments(sizes)):
        if len(shapes) == _MOST_PROBES or number == _MOST_TRIED:
            break
        values = sizes.values(named)
        if values is None:
            continue
        new = {(left, right, _sign(left.value(values), right.value(values))) for left, right in sizes.compared}
        if not new <= seen:
            seen |= new
            shapes.append(_probing_shapes(body, named))
    return shapes


def _sign(left: int, right: int) -> int:
    return (left > right) - (left < right)


def _assignments(sizes: Sizes) -> Iterator[dict[str, int]]:
    """Yields sizes of the inputs: all the same, or all but one; the usual ones, and those near the body's numbers."""
    names = sizes.open
    if not names or not sizes.compared:
        return
    numbers = {abs(size.factor) for definition in sizes.definitions.values() for size in definition.operands}
    numbers |= {abs(size.factor) for pair in sizes.compared for size in pair}
    near = {number + more for number in numbers for more in (-1, 0, 1)} | {2 * number + 1 for number in numbers}
    tried = [*_USUAL_SIZES, *sorted({size for size in near if _USUAL_SIZES.stop <= size <= _LARGEST_SIZE})]
    for size in tried:
        yield dict.fromkeys(names, size)
    for name in names if len(names) > 1 else ():
        for size in tried:
            yield {**dict.fromkeys(names, 3), name: size}


def _probing_shapes(body: Body, named: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    return {
        f"x{place}": tuple(
            size if size is not None else named[f"x{place}_dim{axis}"]
            for axis, size in enumerate(body.tensors[index].shape)
        )
        for place, index in enumerate(body.inputs)
    }
