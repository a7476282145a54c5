"""One call of a kernel: what it is given, and what is read of it. It can be written as a line of text."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from flatbuffers import flexbuffers
from tests.litert.runtime.models import DTYPES

from litefuse.litert.runtime.tensors import encode_strings

_NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}


@dataclass
class Operand:
    """One input.

    Attributes:
        dtype: The name of its type in the schema of LiteRT models.
        shape: Its shape in the model.
        data: Its bytes, as the runtime holds them.
        is_constant: Whether they are in the model.
        resized: The shape that it gets before the call; None leaves it.
    """

    dtype: str
    shape: list[int]
    data: bytes
    is_constant: bool = False
    resized: list[int] | None = None


@dataclass
class Call:
    """One call of an op of the pack.

    Attributes:
        op: The op.
        form: ``native`` or ``numpy``.
        options: The bytes of its options.
        inputs: Its inputs; None is one that is left out.
        outputs: The types of its outputs; None is one that is left out.
        read: The positions of the outputs that are outputs of the graph; nobody reads the others.
    """

    op: str
    form: str
    options: bytes
    inputs: list[Operand | None]
    outputs: list[str | None]
    read: list[int] = field(default_factory=list[int])

    @classmethod
    def of(
        cls,
        op: str,
        inputs: Sequence[npt.ArrayLike],
        outputs: Sequence[npt.DTypeLike],
        options: Mapping[str, Any] | bytes,
        constants: Collection[int],
    ) -> Call:
        """A call of arrays; see ``tests.kernels.pack.one_op.run``."""
        operands: list[Operand | None] = []
        for place, value in enumerate(inputs):
            array = np.asarray(value)
            is_text = array.dtype.kind in "SO"
            data = encode_strings(array.astype(object)) if is_text else array.tobytes()
            dtype = "STRING" if is_text else _NAMES[array.dtype]
            operands.append(Operand(dtype, list(array.shape), data, place in constants))
        written = options if isinstance(options, bytes) else bytes(flexbuffers.Dumps(dict(options)))
        names = [_NAMES[np.dtype(dtype)] for dtype in outputs]
        return cls(op, "native", written, operands, [*names], [*range(len(names))])

    def text(self) -> str:
        """The call as JSON, in one line."""
        return json.dumps(asdict(self), default=lambda data: base64.b64encode(data).decode())

    @classmethod
    def from_text(cls, text: str | bytes) -> Call:
        """The call that ``text`` wrote."""
        return cls.from_fields(json.loads(text))

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Call:
        """The call of what JSON holds."""
        given: dict[str, Any] = {**fields, "options": base64.b64decode(fields["options"])}
        given["inputs"] = [None if each is None else _operand(each) for each in fields["inputs"]]
        return cls(**given)


def _operand(fields: Mapping[str, Any]) -> Operand:
    given: dict[str, Any] = {**fields, "data": base64.b64decode(fields["data"])}
    return Operand(**given)
