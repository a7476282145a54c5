"""Representative datasets as TFLiteConverter takes them, whose samples may be lists of arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.errors import SettingError
from litefuse.frontends.saved_model import TensorSpec
from litefuse.tools.compat.opened_model import OpenedModel


def dataset_of(given: Any, model: OpenedModel) -> Any:
    """Returns a dataset for :func:`litefuse.convert`, whose samples name their inputs.

    A list of several arrays is in the order of the inputs of a frozen graph. For other models, arrays are told apart by
    their shapes and dtypes: TFLiteConverter takes the inputs of a signature in the order of a hash, and programs follow
    it. Where these do not tell, arrays have the order of the model's inputs, unless the model is a SavedModel.

    Args:
        given: A function that returns samples, a ``RepresentativeDataset`` of such a function, or what
            :func:`litefuse.convert` takes.
        model: The model.

    Raises:
        SettingError: When samples are read: a list has another length, or does not tell which array is for which input.
    """
    dataset = getattr(given, "input_gen", given)
    if isinstance(dataset, str | os.PathLike):
        return cast("Any", dataset)
    samples: Callable[[], Any] = dataset if callable(dataset) else lambda: dataset

    def named() -> Any:
        returned = samples()
        if not hasattr(returned, "__iter__") or hasattr(returned, "keys"):
            return returned  # litefuse.convert says what is wrong with it
        return _named(returned, model)

    return named


def _named(samples: Any, model: OpenedModel) -> Iterator[Any]:
    only = next(iter(model.inputs.values())) if len(model.inputs) == 1 else None
    for number, sample in enumerate(samples, 1):
        match sample:
            case (str() as key, inputs):
                yield key, _by_name(inputs, model.inputs.get(key), number, order=model.order)
            case _:
                yield _by_name(sample, only, number, order=model.order)


def _by_name(sample: Any, inputs: Sequence[TensorSpec] | None, number: int, *, order: str) -> Any:
    if inputs is None or not isinstance(sample, list | tuple):
        return sample  # pyright: ignore[reportUnknownVariableType]
    given = cast("Sequence[Any]", sample)
    if len(given) == len(inputs) == 1:
        return given
    arrays = [np.asarray(array) for array in given]
    names = ", ".join(input_.name for input_ in inputs)
    if len(arrays) != len(inputs):
        raise SettingError(
            f"sample {number} of representative_dataset has {len(arrays)} arrays, and the model {len(inputs)} inputs",
            hint=f"The inputs are {names}.",
        )
    in_order = {spec.name: array for spec, array in zip(inputs, arrays, strict=True)}
    if order == "caller":
        return in_order
    named = _assigned(arrays, inputs)
    if named is None and order == "model" and all(map(_fits, arrays, inputs)):
        return in_order
    if named is None:
        raise SettingError(
            f"sample {number} of representative_dataset is a list, and its arrays fit the inputs in several ways, "
            "or in none",
            hint=f"Yield mappings from the names of the inputs to arrays: {names}.",
        )
    return named


def _assigned(
    arrays: Sequence[npt.NDArray[Any]], inputs: Sequence[TensorSpec]
) -> Mapping[str, npt.NDArray[Any]] | None:
    """Returns the array of each input if there is one way to assign them; else None.

    Where there is one way only, an array or an input is left with one that it fits, at each step.
    """
    fits = {spec.name: {index for index, array in enumerate(arrays) if _fits(array, spec)} for spec in inputs}
    assigned: dict[str, npt.NDArray[Any]] = {}
    while fits:
        takers: dict[int, list[str]] = {}
        for name, those in fits.items():
            for index in those:
                takers.setdefault(index, []).append(name)
        forced = [(name, next(iter(those))) for name, those in fits.items() if len(those) == 1]
        forced += [(names[0], index) for index, names in takers.items() if len(names) == 1]
        if not forced:
            return None
        name, index = forced[0]
        assigned[name] = arrays[index]
        del fits[name]
        for those in fits.values():
            those.discard(index)
    return assigned


def _fits(array: npt.NDArray[Any], spec: TensorSpec) -> bool:
    is_text = array.dtype.kind in "OSU"
    if is_text or str(spec.dtype) == "string":
        same_kind = is_text and str(spec.dtype) == "string"
    else:
        try:
            same_kind = np.can_cast(array.dtype, np.dtype(str(spec.dtype)), "same_kind")
        except TypeError:  # a dtype that numpy lacks
            same_kind = True
    if spec.shape is None or not same_kind:
        return same_kind
    return len(spec.shape) == array.ndim and all(
        size in (None, given) for size, given in zip(spec.shape, array.shape, strict=True)
    )
