"""Base class of targets."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, NamedTuple

from litefuse.errors import LitefuseError
from litefuse.litert.targets.op_table import OpTable
from litefuse.litert.targets.question import Answer, Question, Refusal
from litefuse.support.target_traits import TargetTraits


def installed(software: str, package: str) -> str:
    """Returns the name of software with the version of the package that has it."""
    import importlib.metadata

    return f"{software} {importlib.metadata.version(package)}"


def not_installed(software: str, module: str, extra: str) -> str:
    """Returns that software is not installed, and which extra has it; empty if its module is found."""
    import importlib.util

    is_installed = importlib.util.find_spec(module) is not None
    return "" if is_installed else f"{software} is not installed: pip install 'litefuse[{extra}]'"


class Hint(NamedTuple):
    """Advice on how to avoid a refusal.

    Attributes:
        op: A regular expression of the op's name.
        reason: One that is found in the reason.
        text: What to do, to follow ``convert with``, or a sentence.
        rewritten: Whether it helps only against ops that a conversion can rewrite.
    """

    op: str
    reason: str
    text: str
    rewritten: bool = False


class Target:
    """Something that runs or compiles LiteRT files. ``litefuse.targets.target("name")`` registers subclasses.

    An instance is made anew, of its name, in the process that asks the software.

    Attributes:
        name: Its name, as in ``--target``; of a variant, with a colon and what was asked for behind it.
        traits: What follows from it for the form of a model.
        table: The ops that it takes, for where its software is not installed.
        hints: What helps against refusals, by op and reason; the first that fits counts.
        partial: Whether a CPU runs the ops that it refuses.
        only_named: Whether it is asked only where it is named: what it needs is on few machines.
        seconds: How long its software may take for one model by default.
    """

    name: str
    traits: ClassVar[TargetTraits]
    table: ClassVar[OpTable]
    hints: ClassVar[tuple[Hint, ...]] = ()
    partial: ClassVar[bool] = False
    only_named: ClassVar[bool] = False
    seconds: ClassVar[float] = 300.0

    def choose(self, variant: str) -> None:
        """Makes this one of its variants, which users name behind a colon: ``NAME:VARIANT``.

        Raises:
            LitefuseError: It has no such variant.
        """
        raise LitefuseError(
            f"the target {self.name!r} has no variants, such as {variant!r}", hint=f"Write just {self.name}."
        )

    def missing(self) -> str:
        """Returns why its software cannot be asked here, and how to install it; empty if nothing is known to lack."""
        return ""

    def ask(self, question: Question, announce: Callable[[str], None]) -> Answer:
        """Has its software compile the model, and run it if it can, in the process that this is called in.

        Args:
            question: What is asked.
            announce: Called with each step.

        Raises:
            LitefuseError: The software does not answer.
        """
        raise NotImplementedError

    def refusals(self, log: str) -> tuple[Refusal, ...]:
        """Returns the refused ops that the output of its software names."""
        del log
        return ()


@contextmanager
def logged(path: str) -> Generator[Path]:
    """Sends the standard streams of this process to a file, which is empty at first, during the context.

    Native libraries write to the streams' numbers, so these are what is redirected.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    kept = [os.dup(number) for number in (1, 2)]
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    try:
        for number in (1, 2):
            os.dup2(file, number)
        yield Path(path)
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, old in zip((1, 2), kept, strict=True):
            os.dup2(old, number)
            os.close(old)
        os.close(file)
