"""LiteRT's interpreter on the CPU, with XNNPACK."""

from __future__ import annotations

from collections.abc import Callable

from litefuse.litert.targets.question import Answer, Question
from litefuse.litert.targets.table import OpTable
from litefuse.litert.targets.target import Target, installed
from litefuse.support.target_traits import TargetTraits

__all__ = ["Cpu"]


class Cpu(Target):
    """The stock interpreter, whose numbers those of all other targets are compared with."""

    name = "cpu"
    traits = TargetTraits("LiteRT")
    table = OpTable("LiteRT's schema", runs_own=True)

    def ask(self, question: Question, announce: Callable[[str], None]) -> Answer:
        del question, announce
        return Answer(installed("LiteRT", "ai-edge-litert"), not_run="the others are compared with it")
