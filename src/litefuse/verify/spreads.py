"""Calls with other kinds of numbers: those that the original refuses, and how far rounding moves what differs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile

import numpy as np

from litefuse.errors import LitefuseError
from litefuse.inputs.graph import Model
from litefuse.inputs.kinds import keeps_state
from litefuse.runtime.flatbuffer import content_of
from litefuse.verify.difference import difference, difference_of_elements
from litefuse.verify.model_process import ModelCalls, ModelJob
from litefuse.verify.model_run import run_job
from litefuse.verify.original import Arrays, Call
from litefuse.verify.reference import Outputs, Reference

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
    *usual, last = [[*zip(*each, strict=True)] for each in zip(ran.rounds, ran.found, wanted, strict=True)]
    if not last or last[0][0].kind is None:
        return {}
    differing = {
        (call.signature, key)
        for calls in usual
        for call, found, expected in calls
        for key in found.keys() & expected.keys()
        if not difference(found[key], expected[key]).error <= job.tolerance
    }
    first = sum(map(len, usual))
    spreads: dict[int, Arrays] = {first + place: {} for place in range(len(last))}

    def moves(rounds: Sequence[Sequence[Call]], _: Outputs) -> list[list[Arrays]]:
        return run_job(replace(job, rounds=tuple(map(tuple, rounds)), moves=True), name).found

    for run in filter(None, (moves, reference.moves)):
        places = [
            place
            for place, (call, found, expected) in enumerate(last)
            if call.kind
            and any(
                difference_of_elements(
                    found[key], value, call.kind, job.tolerance, spreads[first + place].get(key, 0.0)
                ).error
                for key, value in expected.items()
                if key in found and (call.signature, key) not in differing
            )
        ]
        if not places:
            break
        if _keeps_state(job):
            places = [*range(places[-1] + 1)]
        with suppress(LitefuseError):  # of a crash, or the runtime refuses it
            for place, more in zip(places, run([[last[place][0] for place in places]], ran.outputs)[0], strict=True):
                spread = spreads[first + place]
                for key, value in more.items():
                    if key in last[place][2] and value.shape in {(), last[place][2][key].shape}:
                        spread[key] = np.maximum(spread.get(key, 0.0), value)
    return spreads
