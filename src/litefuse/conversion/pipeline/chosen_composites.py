"""The names of composites that a user chose a form for, or that must be fused, against those that the model has."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from litefuse.errors import LitefuseError, NotFusedError
from litefuse.fusions.recognizers.layers.index import LAYER_COMPOSITES
from litefuse.support import report as reports
from litefuse.support.options.forms import CompositeForms, RequiredComposites
from litefuse.support.options.names import fits, unused
from litefuse.support.report import CompositeReport
from litefuse.support.report.sections import listed

# Behind the kind of a recurrent layer, in the names of its composites: those of recognizers and of Keras 2.
_OF_KIND = re.compile(r"_(loop|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})")


def check_names(
    forms: CompositeForms,
    composites: Sequence[CompositeReport],
    recognizers: Sequence[reports.RecognizerReport],
    loops: Sequence[reports.LoopReport],
) -> None:
    """Rejects forms of composites that the model lacks."""
    names = {composite.name for composite in composites}
    needless = unused(forms.by_name, {*names, *LAYER_COMPOSITES})
    if needless:
        raise LitefuseError(
            f"no function of the model is annotated as {', '.join(map(repr, needless))}, whose form was chosen"
            f"{_searched(needless, recognizers)}",
            hint=_present(names, loops),
        )


def _present(names: Collection[str], loops: Sequence[reports.LoopReport]) -> str:
    there = f"The composites are {', '.join(sorted(map(repr, names)))}." if names else "The model has no composites."
    layers = listed((f"{loop.layer} ({loop.reason})" for loop in loops), 3)
    return f"{there} Recurrent layers that are loops: {layers}." if layers else there


def _searched(patterns: Sequence[str], recognizers: Sequence[reports.RecognizerReport]) -> str:
    """Returns what the recognizers of composites that the model lacks say, to be added to a message; empty for none."""
    tried = [recognizer for recognizer in recognizers if fits(recognizer.name, *patterns)]
    closest = [f"; closest: {recognizer.closest}" for recognizer in tried if recognizer.closest]
    return f", and its recognizer found nothing{''.join(closest[:1])}" if tried else ""


def no_composite(
    uncalled: Sequence[CompositeReport],
    recognizers: Sequence[reports.RecognizerReport],
    loops: Sequence[reports.LoopReport],
) -> NotFusedError:
    """Returns the error for requiring all composites to be fused without having any: an annotation may be lost."""
    lines = "".join(
        f"\n  {composite.name!r} (function {composite.function}): {composite.reason}" for composite in uncalled
    )
    names = dict.fromkeys(recognizer.name for recognizer in recognizers)
    lines += "".join(f"\n  {name!r}: no function is annotated so{_searched([name], recognizers)}" for name in names)
    lines += "".join(f"\n  {loop.layer}: {loop.reason}" for loop in loops)
    return NotFusedError(
        f"no composite could be fused, though all must be{':' if lines else ''}{lines}",
        hint="Leave out require_fused (on the command line, --require-fused)."
        if loops and not uncalled
        else "Annotate the function (experimental_implements) and call it in a signature that is converted, or leave "
        "out require_fused (on the command line, --require-fused).",
    )


def check_fused(
    required: RequiredComposites,
    composites: Sequence[CompositeReport],
    forms: CompositeForms,
    recognizers: Sequence[reports.RecognizerReport] = (),
    loops: Sequence[reports.LoopReport] = (),
) -> None:
    """Checks that composites are fused.

    A name may also be the kind of recurrent layers, as in ``lstm``: then all of them have to be.

    Args:
        required: Their names.
        composites: Those of the model.
        forms: The forms that were chosen.
        recognizers: What looked for unannotated layers.
        loops: The recurrent layers that are loops.

    Raises:
        NotFusedError: One is not.
    """
    failed: list[str] = []
    hint = ""
    for pattern in required.patterns:
        kind = pattern.lower()
        fitting = [composite for composite in composites if fits(composite.name, pattern)]
        left: list[str] = []
        if not fitting:
            fitting = [composite for composite in composites if _OF_KIND.sub("", composite.name.lower()) == kind]
            left = [f"{loop.layer}: {loop.reason}" for loop in loops if kind in loop.reason.lower().split()]
            failed += left
        if not fitting and not left:
            failed.append(f"{pattern!r}: no function of the model is annotated so{_searched([pattern], recognizers)}")
            hint = _present({composite.name for composite in composites}, loops)
        called = [composite for composite in fitting if composite.call_sites or composite.outcome == "fused"]
        for composite in called or fitting:
            # The comparison of a generated kernel is still to come.
            compared = not required.checked or composite.error is not None or forms[composite.name] == "generate"
            if composite.outcome != "fused" or not compared:
                why = composite.reason if composite.outcome != "fused" else composite.compared
                failed.append(f"{composite.name!r} (function {composite.function}): {why}")
    if failed:
        lines = "\n".join(f"  {line}" for line in dict.fromkeys(failed))
        what = "fused and checked" if required.checked else "fused"
        raise NotFusedError(f"composites that had to be {what} were not:\n{lines}", hint=hint)
