"""Targets with a fault each, which the fuzzer has to find: those of kernels, and one of a process."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
from fuzz.child import Ending
from fuzz.containment import is_in_litert, judge_run
from fuzz.outcome import Kind, Outcome
from fuzz.running import judged_run
from fuzz.target import Target

from litefuse.errors import LitefuseError
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.interpreter import Interpreter
from tests.litert.runtime.models import unary


class _Kernel(CustomOp):
    op_name = "Planted"

    def prepare(self, x: TensorSpec) -> TensorSpec:
        return TensorSpec(x.shape, x.dtype)


class _Raising(_Kernel):
    def invoke(self, inputs: Any, outputs: Any) -> None:
        raise KeyError("planted")


class _Dying(_Kernel):
    def invoke(self, inputs: Any, outputs: Any) -> None:
        os.abort()


class _Sleeping(_Kernel):
    def invoke(self, inputs: Any, outputs: Any) -> None:
        time.sleep(600)


class _Growing(_Kernel):
    def invoke(self, inputs: Any, outputs: Any) -> None:
        self.kept = [np.ones(1 << 20) for _ in range(100)]
        time.sleep(600)


class _OfKernel(Target):
    """A model with the kernel, every third mutant; the others run well or are refused."""

    suffix = ".txt"
    slow = 1.0
    timeout = 2.0
    memory = 600 << 20
    kernel: type[CustomOp] = _Kernel

    def mutant(self, number: int) -> bytes:
        return b"frs"[number % 3 : number % 3 + 1]

    def try_out(self, content: bytes) -> Outcome:
        if content == b"r":
            raise LitefuseError("refused")
        if content == b"s":
            return Outcome(Kind.SUCCESS)
        interpreter = Interpreter(unary("Planted"), custom_ops=[self.kernel])
        interpreter.allocate_tensors()
        return judged_run(interpreter.invoke)

    def judge(self, content: bytes, ending: Ending) -> Outcome:
        return judge_run(ending, lambda: None)

    def is_contained(self, ending: Ending) -> bool:
        return is_in_litert(ending)


class Raising(_OfKernel):
    name = "raising"
    kernel = _Raising


class Dying(_OfKernel):
    name = "dying"
    kernel = _Dying


class Sleeping(_OfKernel):
    name = "sleeping"
    kernel = _Sleeping


class Growing(_OfKernel):
    name = "growing"
    memory = 400 << 20
    timeout = 60.0
    kernel = _Growing


class Bug(_OfKernel):
    name = "bug"

    def try_out(self, content: bytes) -> Outcome:
        if content == b"f":
            raise LitefuseError("KeyError: 'x'", hint="This is a bug in litefuse; please report it:\nTraceback")
        return Outcome(Kind.SUCCESS)


class Sound(_OfKernel):
    name = "sound"

    def try_out(self, content: bytes) -> Outcome:
        if content == b"f":
            raise LitefuseError("refused")
        return Outcome(Kind.SUCCESS)
