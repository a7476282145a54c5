"""The variables of a model, and the ops that read and write them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from litefuse.litert.export.editor import GraphEditor, editors_of

READ = "READ_VARIABLE"
_ASSIGN = "ASSIGN_VARIABLE"
_HANDLE = "VAR_HANDLE"
_ELSEWHERE = "a loop or a branch reads or writes this state, in floating point"


class Access(NamedTuple):
    """An op that reads or writes a variable."""

    graph: GraphEditor
    op: Any

    @property
    def reads(self) -> bool:
        """Whether it reads."""
        return self.graph.kind(self.op) == READ

    @property
    def value(self) -> int:
        """The index of the tensor that it reads or writes."""
        return int(self.op.outputs[0] if self.reads else self.op.inputs[1])

    @property
    def name(self) -> str:
        """The name of that tensor."""
        return self.graph.name(self.value)


@dataclass
class Variable:
    """A variable of float32.

    Attributes:
        accesses: The ops that read and write it, those that initialize it among them.
        reason: Why it cannot become integers; empty if it can.
    """

    accesses: list[Access] = field(default_factory=list[Access])
    reason: str = ""

    @property
    def reads(self) -> list[Access]:
        """The ops that read it."""
        return [access for access in self.accesses if access.reads]

    @property
    def writes(self) -> list[Access]:
        """The ops that write it."""
        return [access for access in self.accesses if not access.reads]


def variables_of(model: Any) -> list[Variable]:
    """Returns the variables of a model that are float32."""
    graphs = editors_of(model)
    called = {int(signature.subgraphIndex) for signature in model.signatureDefs or ()}
    called |= {
        int(op.builtinOptions.initSubgraphIndex)
        for number in called
        for op in graphs[number].ops or ()
        if graphs[number].kind(op) == "CALL_ONCE"
    }
    variables: dict[tuple[bytes, bytes], Variable] = {}
    is_known = True
    for number, graph in enumerate(graphs):
        handles = {
            int(op.outputs[0]): variables.setdefault(_key(op), Variable())
            for op in graph.ops or ()
            if graph.kind(op) == _HANDLE
        }
        for op in graph.ops or ():
            if graph.kind(op) not in {READ, _ASSIGN}:
                for operand in handles.keys() & set(map(int, () if op.inputs is None else op.inputs)):
                    handles[operand].reason = _ELSEWHERE  # a loop or a branch gets the handle
            elif (variable := handles.get(int(op.inputs[0]))) is None:
                is_known = False
            else:
                variable.accesses.append(Access(graph, op))
                variable.reason = variable.reason if number in called else _ELSEWHERE
    return [
        variable if is_known else Variable(variable.accesses, _ELSEWHERE)
        for variable in variables.values()
        if all(access.graph.is_type(access.value, "float32") for access in variable.accesses)
    ]


def _key(op: Any) -> tuple[bytes, bytes]:
    options = op.builtinOptions
    return (options.container or b"", options.sharedName or b"") if options is not None else (b"", b"")
