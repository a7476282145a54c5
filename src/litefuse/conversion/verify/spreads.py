"""Calls with other kinds of numbers: those that the original refuses, and how far rounding moves what differs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, takewhile

import numpy as np

from litefuse.conversion.verify.model_process import ModelCalls, ModelJob, run_job
from litefuse.conversion.verify.original import Arrays, Call
from litefuse.conversion.verify.reference import Outputs, Reference
from litefuse.errors import LitefuseError
from litefuse.litert.inputs.kinds import keeps_state
from litefuse.litert.results.difference import difference, difference_of_elements
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model

__all__ = ["spreads_of", "without_refused"]


def without_refused(
    job: ModelJob, ran: ModelCalls, wanted: list[list[Arrays]]
) -> tuple[ModelCalls, list[list[Arrays]]]:
    """Leaves out calls with kinds of numbers that the original refuses, and what follows if the model keeps state."""
    *others, last = zip(ran.rounds, ran.found, wanted, strict=True)
    calls = [*zip(*last, strict=True)]

    def is_taken(each: tuple[Call, Arrays, Arrays]) -> bool:
        call, found, expected = each
        return call.kind is None or bool(expected) or not found

    if all(map(is_taken, calls)):
        return ran, wanted
    taken = [*(takewhile if _keeps_state(job) else filter)(is_taken, calls)]
    made = [*others, *([[*map(list, zip(*taken, strict=True))]] if taken else [])]
    rounds, found, expected = map(list, zip(*made, strict=True))
    return ran._replace(rounds=rounds, found=found), expected


def _keeps_state(job: ModelJob) -> bool:
    with content_of(job.model) as content:
        return keeps_state(Model(content))


def spreads_of(
    job: ModelJob,
    name: str,
    ran: ModelCalls,
    wanted: Sequence[Sequence[Arrays]],
    reference: Reference,
) -> dict[int, Arrays]:
    """Returns how far rounding moves the outputs of calls, by the number of the call; of those alone that need it.

    Both models are run with moved ops, if the original is a LiteRT model.
    """
    made = zip(*(chain.from_iterable(each) for each in (ran.rounds, ran.found, wanted)), strict=True)
    calls = [*enumerate(made)]
    differing = {
        (call.signature, key)
        for _, (call, found, expected) in calls
        for key in found.keys() & expected.keys()
        if call.kind is None and not difference(found[key], expected[key]).error <= job.tolerance
    }
    kinds = {number: (call, found, expected) for number, (call, found, expected) in calls if call.kind}
    spreads: dict[int, Arrays] = {number: {} for number in kinds}

    def differs(number: int) -> bool:
        call, found, expected = kinds[number]
        return call.kind is not None and any(
            difference_of_elements(found[key], value, call.kind, job.tolerance, spreads[number].get(key, 0.0)).error
            for key, value in expected.items()
            if key in found and (call.signature, key) not in differing
        )

    def moves(rounds: Sequence[Sequence[Call]], _: Outputs) -> list[list[Arrays]]:
        return run_job(replace(job, rounds=tuple(map(tuple, rounds)), moves=True), name).found

    for run in filter(None, (moves, reference.moves)):
        places = [*filter(differs, kinds)]
        if not places:
            break
        if _keeps_state(job):
            places = [number for number in kinds if number <= places[-1]]
        with suppress(LitefuseError):  # of a crash, or the runtime refuses it
            for number, more in zip(places, run([[kinds[place][0] for place in places]], ran.outputs)[0], strict=True):
                expected, spread = kinds[number][2], spreads[number]
                for key, value in more.items():
                    if key in expected and value.shape in {(), expected[key].shape}:
                        spread[key] = np.maximum(spread.get(key, 0.0), value)
    return spreads
