"""The target ``generator``: bodies of composites, of which kernels in C++ are generated."""

from __future__ import annotations

import functools
import os
import zlib
from collections.abc import Mapping
from pathlib import Path

from tests.kernels.generator.bodies import BodyWriter, file_of
from tests.kernels.generator.cases import CASES
from tests.kernels.generator.test_loops_in_bodies import square_roots

from fuzz.build import preloaded
from fuzz.child import Ending
from fuzz.containment import is_in_litert, judge_run
from fuzz.generator.mutations import CHANGES
from fuzz.generator.sanitized import problem_of, sanitized_kit
from fuzz.outcome import Kind, Outcome, shape_of_text
from fuzz.target import Target
from fuzz.tflite import CHANGES as OF_MODELS
from fuzz.tflite import changed_model
from fuzz.values import change_bytes
from litefuse.kernels.generator.body import read_bodies
from litefuse.kernels.generator.chains import find_chains
from litefuse.kernels.generator.graph import NotGenerated
from litefuse.kernels.generator.kernel import kernel_source

# A kernel is compiled of one of so many mutants: that takes more time than all else.
_COMPILED = int(os.environ.get("LITEFUSE_FUZZ_COMPILED", "40"))
# Composites within bodies are many ops; the graphs that chains are sought in have none.
_MOST_OPS = 300
_KIT = "LITEFUSE_FUZZ_KIT"


@functools.cache
def _seeds() -> list[bytes]:
    seeds = [square_roots(3)]
    for name, write in CASES.items():
        body = BodyWriter(name)
        write(body)
        seeds.append(file_of(body))
    return seeds


class BodyTarget(Target):
    """Composites with bodies of all ops that there are rules for."""

    name = "generator"
    suffix = ".tflite"
    batch = 200
    slow = Target.timeout  # a kernel looks like LiteRT from Python, and may be slow under a sanitizer

    @classmethod
    def environment(cls, *, sanitized: bool = True) -> Mapping[str, str]:
        return {**preloaded(), _KIT: str(sanitized_kit())} if sanitized else {}

    def mutant(self, number: int) -> bytes:
        draw = self.random(number)
        seed = draw.choice(_seeds())
        if draw.random() < 0.1:
            return change_bytes(draw, seed)
        count = draw.choice((1, 1, 1, 2, 2, 3, 5))
        return changed_model(draw, seed, count, lambda: draw.choice(OF_MODELS if draw.random() < 0.3 else CHANGES))

    def try_out(self, content: bytes) -> Outcome:
        kit = os.environ.get(_KIT) if zlib.crc32(content) % _COMPILED == 0 else None
        reasons: list[str] = []
        for name, bodies in read_bodies(content, "mutant").items():
            find_chains([body for body in bodies if len(body.ops) <= _MOST_OPS])
            try:
                kernel_source(name, bodies, "Kernel", "mutant")
            except NotGenerated as reason:
                reasons.append(str(reason))
                continue
            problems = [problem_of(content, name, body, Path(kit)) for body in bodies] if kit is not None else []
            reasons += [problem for problem in problems if problem is not None]
        if reasons:
            return Outcome(Kind.REFUSAL, f"declined: {shape_of_text(reasons[0])}", reasons[0])
        return Outcome(Kind.SUCCESS)

    def judge(self, content: bytes, ending: Ending) -> Outcome:
        del content
        return judge_run(ending)

    def is_contained(self, ending: Ending) -> bool:
        return is_in_litert(ending)
