"""Compares the kernels of a library with the bodies of composites, and with TensorFlow's ops."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litefuse.conversion.verify.against_original import verify_model
from litefuse.conversion.verify.model_process import ModelJob, run_with_kernels
from litefuse.conversion.verify.verification import Verdict, Verification, worst_verdict
from litefuse.errors import KernelError, LimitError, LitefuseError, ModelCrashError
from litefuse.kernels.generator.op_calls import Call, bind_constants, one_op_model, with_signature
from litefuse.litert.cpp.compiler import is_sanitized, sanitizer_environment
from litefuse.litert.inputs.model_inputs import LEVELS
from litefuse.litert.runtime.native import NativeKernels
from litefuse.support.files.readable import check_file
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.processes.limits import process_limits, processes_limited
from litefuse.support.processes.process import run_alone
from litefuse.support.report.json_form import json_form
from litefuse.support.report.shown import ShownInNotebooks
from litefuse.tools.kernel_check.kernel_memory import WATCH
from litefuse.tools.kernel_check.original_op import SAVE, OriginalOp
from litefuse.tools.scaffold.project import read_ops

# How long the comparison of a call may take.
_SECONDS = 600.0


@dataclass(frozen=True)
class CheckedCall(ShownInNotebooks):
    """A call of an op, computed by its kernel and by what it stands for.

    Attributes:
        op: The op.
        call: The call.
        original: What the kernel was compared with; empty if there is nothing.
        verification: The comparison; None if there was none.
        problem: Why there was none: a crash of the kernel, or what is missing; else how the kernel misuses memory.
        crashed: Whether the kernel crashed the process, or a sanitizer stopped it.
        model: The LiteRT model of this call alone.
    """

    op: str
    call: Call
    original: str
    verification: Verification | None = None
    problem: str = ""
    crashed: bool = False
    model: bytes = field(default=b"", repr=False)

    _sections_by = "litefuse.tools.kernel_check.kernel_check_sections:call_section"

    @property
    def verdict(self) -> Verdict:
        """The verdict; a crash differs, and what was not compared is inconclusive."""
        if self.verification is not None:
            return "differs" if self.problem else self.verification.verdict
        return "differs" if self.crashed else "inconclusive"

    @property
    def difference(self) -> str:
        """Which call differs most: its number, the element with both values, and the inputs; empty if none does."""
        differing = None if self.verification is None else self.verification.differing
        return "" if differing is None else str(differing)

    def to_json(self) -> dict[str, Any]:
        """Returns dictionaries and lists for ``json.dumps``."""
        compared = None if self.verification is None else self.verification.to_json()
        return {
            "op": self.op,
            "inputs": [None if input_ is None else str(input_) for input_ in self.call.inputs],
            "outputs": [str(output) for output in self.call.outputs],
            "options": json_form(self.call.options),
            "original": self.original,
            "verdict": self.verdict,
            "problem": self.problem,
            "difference": self.difference,
            "verification": compared,
        }


def check_kernels(
    library: str | os.PathLike[str],
    model: str | os.PathLike[str],
    *,
    ops: Collection[str] = (),
    tolerance: float = 1e-5,
    seed: int = 0,
    on_step: Callable[[str], None] = lambda _: None,
) -> list[CheckedCall]:
    """Compares the kernels of a library with what they stand for.

    Each call of an op in the model that differs from the others by types or options is made a model of its own, which
    runs in LiteRT with the library, in a process of its own: several times, on inputs that are drawn, with several
    sizes of dynamic dimensions. It is compared with the body of the composite, or with TensorFlow's op of this name. A
    library that was built with the address sanitizer is run with it.

    Args:
        library: A shared library with kernels, such as ``litefuse kernels build`` makes.
        model: A ``.tflite`` file, or a model to convert, in which composites have bodies.
        ops: The ops to compare; empty for all that the library has kernels for and that the model has.
        tolerance: The allowed error, relative to the largest value of an output.
        seed: The seed of the inputs.
        on_step: Called with each step's name.

    Raises:
        KernelError: It is not a library of kernels, or does not list its ops, and none is named.
        LitefuseError: The model cannot be read, or has none of the ops.
    """
    if Path(library).suffix == ".py" and Path(library).is_file():
        raise KernelError(
            "it is Python code, not a library; kernels in Python are compared in the model that they run",
            where=str(library),
            hint=f"Write: litefuse verify MODEL.tflite {os.fspath(model)} --kernels {os.fspath(library)}",
        )
    names = names_in_library(os.fspath(library))
    if not ops and not names:
        raise KernelError("the library does not list its ops", where=str(library), hint="Name them with --op.")
    if unknown := sorted(set(ops) - names) if names else []:
        there = ", ".join(sorted(names))
        raise KernelError(f"it has no kernel for {unknown[0]!r}", where=str(library), hint=f"It has: {there}.")
    kernels: list[CheckedCall] = []
    on_step("read")
    with make_temporary_folder() as folder:
        for op, calls in sorted(read_ops(Path(model), [*(ops or names)], on_step).items()):
            for call in calls:
                on_step(f"compare: {op}")
                work = Path(folder, str(len(kernels)))
                kernels.append(_checked(op, call, os.fspath(library), work, tolerance, seed))
    return kernels


def _checked(op: str, call: Call, library: str, work: Path, tolerance: float, seed: int) -> CheckedCall:
    names = [[input_.name for input_ in call.inputs if input_ is not None and input_.data is None]]
    names.append([output.name for output in call.outputs])
    original: object
    try:
        if call.reference is not None:
            what, original = "its body", work.with_suffix(".tflite")
            original.write_bytes(with_signature(bind_constants(call.reference, call), *names))
        else:
            what, original = f"TensorFlow's {op}", work
            job = OriginalOp(op, call, str(work))
            run_alone(SAVE, job, environment={"TF_CPP_MIN_LOG_LEVEL": "3"}, imported="tensorflow")
    except LitefuseError as error:
        return CheckedCall(op, call, "", problem=f"there is nothing to compare it with: {error}")
    content = with_signature(one_op_model(op, call), *names)
    limits = process_limits()
    try:
        with processes_limited(limits.at_most(_SECONDS)):
            verification = verify_model(content, original, max_error=tolerance, seed=seed, custom_ops=[library])
            level = LEVELS.index(verification.limit)
            job = ModelJob(content, custom_ops=(library,), seed=seed, tolerance=tolerance, level=level)
            problems = run_with_kernels(WATCH, job, op, [library])
    except ModelCrashError as error:
        return CheckedCall(op, call, what, problem=f"the kernel crashes: {error.message}", crashed=True, model=content)
    except LimitError as error:
        limits.check_time("test")
        return CheckedCall(op, call, what, problem=f"the kernel may never return: {error.message}", model=content)
    except LitefuseError as error:
        return CheckedCall(op, call, what, problem=str(error))
    return CheckedCall(op, call, what, verification, "; ".join(problems), model=content)


def worst(checked: Sequence[CheckedCall]) -> Verdict:
    """Returns the verdict on all calls."""
    return worst_verdict(call.verdict for call in checked)


def names_in_library(library: str) -> frozenset[str]:
    """Returns the ops that a library has kernels for; empty if it does not tell them.

    Raises:
        KernelError: It is not a library of kernels.
        EngineCrashError: Loading it ends the process.
    """
    check_file(library, KernelError)
    environment = sanitizer_environment() if is_sanitized(library) else dict[str, str]()
    return run_alone("litefuse.tools.kernel_check.check:load_names", library, environment=environment)


def load_names(library: str, announce: Callable[[str], None]) -> frozenset[str]:
    """Loads the library."""
    announce("load the library")
    return NativeKernels(library).names
