"""Checks what the runtime assumes of a LiteRT model: it crashes on models that violate it.

The runtime checks the bytes of a file and the sizes of its constants. It does not check that every value is computed
before it is used, that ops have the operands that their kernels read, that texts and resources are not computed of
numbers, that no constant is written, that signatures name inputs and outputs of their subgraph, that subgraphs do not
call themselves, and that names are UTF-8 without null characters.
"""

from __future__ import annotations

import graphlib
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from litefuse.litert.runtime import model_tables as fields
from litefuse.litert.runtime.builtin_ops import INPUTS, OUTPUTS
from litefuse.litert.runtime.flatbuffer import Table, damaged, root
from litefuse.litert.runtime.kernel_pack import READERS_OF_OPTIONS
from litefuse.litert.runtime.model_tables import (
    CALLEES,
    DTYPE_NUMBERS,
    IDENTIFIER,
    OpCode,
    custom_options,
    data_of,
    data_span,
)


class _Unsound(Exception):  # noqa: N818  becomes an InterpreterError
    """A violation."""


def check_soundness(content: Any, where: str) -> bool:
    """Checks the graphs and signatures of a model. Of its constants only strings are read.

    Content that is not a model at all is left to the runtime, which reports it.

    Args:
        content: The content of the ``.tflite`` file: bytes or a memory map.
        where: The file's name in messages.

    Returns:
        Whether kernels outside of the runtime may run some of its ops: whether it has custom ops or composites.

    Raises:
        InterpreterError: The model is damaged.
    """
    if content[4:8] != IDENTIFIER:
        return True
    try:
        return _check_model(root(content))
    except _Unsound as reason:
        raise damaged(where, f": {reason}") from None
    except Exception as error:  # following the offsets of damaged data fails in many ways
        raise damaged(where) from error


def _check_model(model: Table) -> bool:
    buffers = model.tables(fields.BUFFERS)
    graphs = [_Graph.read(table, number, buffers) for number, table in enumerate(model.tables(fields.SUBGRAPHS))]
    codes = [OpCode.read(code) for code in model.tables(fields.OPERATOR_CODES)]
    calls = {graph.number: {callee.number for callee in _check_graph(graph, graphs, codes)} for graph in graphs}
    try:
        graphlib.TopologicalSorter(calls).prepare()
    except graphlib.CycleError as error:
        raise _Unsound(f"{graphs[error.args[1][0]]} calls itself") from None
    for signature in model.tables(fields.SIGNATURES):
        _check_signature(signature, graphs)
    return any(code.name in {"CUSTOM", "STABLEHLO_COMPOSITE"} for code in codes)


class _Graph(NamedTuple):
    """A subgraph; the buffers are the model's."""

    number: int
    name: str
    tensors: Sequence[Table]
    buffers: Sequence[Table]
    operators: Sequence[Table]
    inputs: Sequence[int]
    outputs: Sequence[int]

    @classmethod
    def read(cls, table: Table, number: int, buffers: Sequence[Table]) -> _Graph:
        tensors, operators = table.tables(fields.TENSORS), table.tables(fields.OPERATORS)
        inputs, outputs = table.numbers(fields.GRAPH_INPUTS), table.numbers(fields.GRAPH_OUTPUTS)
        return cls(number, table.text(fields.GRAPH_NAME), tensors, buffers, operators, inputs, outputs)

    def __str__(self) -> str:
        return f"subgraph {self.number} ({self.name})" if self.name else f"subgraph {self.number}"

    def tensor(self, index: int) -> Table:
        if not 0 <= index < len(self.tensors):
            raise _Unsound(f"{self} has no tensor {index}")
        return self.tensors[index]

    def described(self, index: int) -> str:
        name = self.tensors[index].text(fields.TENSOR_NAME)
        return f"tensor {index} ({name})" if name else f"tensor {index}"

    def types(self, indices: Sequence[int]) -> list[int]:
        """Returns the type numbers of tensors."""
        return [self.tensor(index).number(fields.TYPE, "b") for index in indices]

    def is_constant(self, index: int) -> bool:
        """Whether a tensor's value is in the file, or in an external file of weights."""
        tensor = self.tensor(index)
        number = tensor.number(fields.BUFFER, "I")
        if number >= len(self.buffers):
            raise _Unsound(f"{self.described(index)} of {self} is in buffer {number}, which is missing")
        buffer = self.buffers[number]
        return data_span(buffer)[1] > 0 or tensor.number(fields.EXTERNAL_BUFFER, "I") > 0

    def expect_value(self, index: int, who: str) -> None:
        """Raises an exception if a tensor that no op has computed is not a constant, a variable or empty."""
        tensor = self.tensor(index)
        if self.is_constant(index):
            if tensor.number(fields.TYPE, "b") == DTYPE_NUMBERS["string"]:
                self._expect_strings(index)
        elif not tensor.number(fields.IS_VARIABLE, "?") and 0 not in tensor.numbers(fields.SHAPE):
            raise _Unsound(f"{who} {self.described(index)}, which nothing has computed")

    def _expect_strings(self, index: int) -> None:
        buffer = self.buffers[self.tensors[index].number(fields.BUFFER, "I")]
        count = math.prod(self.tensors[index].numbers(fields.SHAPE))
        from litefuse.litert.runtime.tensors import are_strings

        if data_span(buffer)[1] and not are_strings(data_of(buffer), count):
            raise _Unsound(f"{self.described(index)} of {self} does not hold {count} strings")


def _check_graph(graph: _Graph, graphs: Sequence[_Graph], codes: Sequence[OpCode]) -> Iterator[_Graph]:
    """Checks the inputs, ops and outputs of a subgraph; yields the subgraphs that it calls."""
    for index in (*graph.inputs, *graph.outputs):
        graph.tensor(index)
    for index in graph.inputs:
        if graph.is_constant(index):  # setting the input would write into the file's pages
            raise _Unsound(f"{graph.described(index)} is an input of {graph}, and a constant")
    for index, tensor in enumerate(graph.tensors):
        _check_text(tensor, fields.TENSOR_NAME, f"the name of tensor {index} of {graph}")
    computed, present = set(graph.inputs), set[int]()
    for position, operator in enumerate(graph.operators):
        inputs, outputs = operator.numbers(fields.OP_INPUTS), operator.numbers(fields.OP_OUTPUTS)
        code = operator.number(fields.OPCODE, "I")
        if code >= len(codes):
            raise _Unsound(f"op {position} of {graph} is of code {code}, which is missing")
        name = codes[code].name
        who = f"op {position} ({codes[code].custom or name}) of {graph}"
        _check_operands(name, inputs, outputs, who)
        _check_types(graph, name, inputs, outputs, who)
        if codes[code].custom in READERS_OF_OPTIONS:
            _check_options(operator, who)
        for index in inputs:
            if index != -1 and index not in computed and index not in present and codes[code].custom != _OF_VELA:
                graph.expect_value(index, f"{who} takes")
                present.add(index)
        for index in outputs:
            if index not in computed:
                if graph.is_constant(index):
                    raise _Unsound(f"{who} computes {graph.described(index)}, which is a constant")
                computed.add(index)
        callees = _callees(operator)
        if not callees and name in {"CALL_ONCE", "IF", "WHILE"}:
            raise _Unsound(f"{who} does not say what it calls")
        _check_count(name, operator, inputs, outputs, who)
        for field, number in callees:
            if 0 <= number < len(graphs):
                if name == "WHILE":
                    _check_call(graph, inputs, None if field == _CONDITION else outputs, graphs[number], who)
                elif name == "IF":
                    _check_call(graph, inputs[1:], outputs, graphs[number], who)
                elif name == "STABLEHLO_COMPOSITE":
                    _check_decomposition(graph, outputs, graphs[number], who)
                yield graphs[number]
            elif name != "STABLEHLO_COMPOSITE":  # a kernel may run it without its decomposition
                raise _Unsound(f"{who} calls subgraph {number}, which is missing")
    for index in graph.outputs:
        if index not in computed:
            graph.expect_value(index, f"{graph} returns")


def _check_operands(name: str, inputs: Sequence[int], outputs: Sequence[int], who: str) -> None:
    """Checks that an op has the inputs and outputs that its kernel reads."""
    needed, complete = INPUTS.get(name, ((), False))
    if needed and len(inputs) <= needed[-1]:
        raise _Unsound(f"{who} has {len(inputs)} inputs of at least {needed[-1] + 1}")
    for position in range(len(inputs)) if complete else needed:
        if inputs[position] == -1:
            raise _Unsound(f"{who} lacks its input {position}")
    if len(outputs) < OUTPUTS.get(name, 0):
        raise _Unsound(f"{who} has {len(outputs)} outputs of at least {OUTPUTS[name]}")
    if -1 in outputs:
        raise _Unsound(f"{who} lacks its output {outputs.index(-1)}")


def _check_options(operator: Table, who: str) -> None:
    from litefuse.litert.runtime.options import decode_map

    if decode_map(custom_options(operator)) is None:
        raise _Unsound(f"{who} has no options that are a flexbuffer map")


# The types of tensors that are not plain numbers, which kernels of numbers would write numbers into.
_NO_NUMBERS = {
    DTYPE_NUMBERS["string"]: "texts",
    DTYPE_NUMBERS["resource"]: "a resource",
    DTYPE_NUMBERS["variant"]: "a variant",
}
# The ops that make such a tensor of others; those of other runtimes and of kernels outside of LiteRT's may as well.
_MAKERS = ("CALL", "CUSTOM", "DELEGATE", "HASHTABLE", "IF", "READ_VARIABLE", "STABLEHLO_", "VAR_HANDLE", "WHILE")


def _check_types(graph: _Graph, name: str, inputs: Sequence[int], outputs: Sequence[int], who: str) -> None:
    """Checks that an op of numbers computes numbers: reading texts or a resource takes them for pointers and sizes."""
    if name not in INPUTS or name.startswith(_MAKERS):
        return
    taken = set(graph.types([index for index in inputs if index != -1]))
    for computed in graph.types(outputs):
        if computed in _NO_NUMBERS and computed not in taken:
            raise _Unsound(f"{who} computes {_NO_NUMBERS[computed]}, and takes none")


# The op of files that Vela compiled, which LiteRT has no kernel for: some operands are memory for it to work in.
_OF_VELA = "ethos-u"

# The field of the options of WHILE that is its condition.
_CONDITION = 0
# The fields of options that are the number of an op's outputs or inputs.
_COUNTS = {"PACK": 0, "SPLIT": 0, "SPLIT_V": 0, "UNPACK": 0}


def _check_count(name: str, operator: Table, inputs: Sequence[int], outputs: Sequence[int], who: str) -> None:
    """Checks that an op with a variable number of tensors has as many as its options say."""
    if name in _COUNTS:
        options = operator.table(fields.OPTIONS)
        said = 0 if options is None else options.number(_COUNTS[name], "i")
        values, what = (inputs, "inputs") if name == "PACK" else (outputs, "outputs")
        if said != len(values):
            raise _Unsound(f"{who} has {len(values)} {what}, but is of {said}")


def _check_call(graph: _Graph, inputs: Sequence[int], outputs: Sequence[int] | None, callee: _Graph, who: str) -> None:
    """Checks that the types that an op passes and gets are those that a subgraph takes and returns; None: a Boolean."""
    passed, taken = graph.types(inputs), callee.types(callee.inputs)
    gotten = [DTYPE_NUMBERS["bool"]] if outputs is None else graph.types(outputs)
    returned = callee.types(callee.outputs)
    if (len(passed), len(gotten)) != (len(taken), len(returned)):
        raise _Unsound(
            f"{who} passes {len(passed)} and gets {len(gotten)} values of {callee}, "
            f"which takes {len(taken)} and returns {len(returned)}"
        )
    if (passed, gotten) != (taken, returned):
        raise _Unsound(f"{who} passes or gets values of other types than {callee} takes and returns")


def _check_decomposition(graph: _Graph, outputs: Sequence[int], callee: _Graph, who: str) -> None:
    """Checks that the decomposition of a composite, if it runs, does not return numbers for what is none."""
    for gotten, returned in zip(graph.types(outputs), callee.types(callee.outputs), strict=False):
        if gotten != returned and gotten in _NO_NUMBERS:
            raise _Unsound(f"{who} computes {_NO_NUMBERS[gotten]}, which {callee} does not return")


def _check_signature(signature: Table, graphs: Sequence[_Graph]) -> None:
    who = f"signature {signature.text(fields.SIGNATURE_KEY)!r}"
    _check_text(signature, fields.SIGNATURE_KEY, f"the key of {who}")
    number = signature.number(fields.SIGNATURE_GRAPH, "I")
    if number >= len(graphs):
        raise _Unsound(f"{who} is of subgraph {number}, which is missing")
    graph = graphs[number]
    for field, role, indices in (
        (fields.SIGNATURE_INPUTS, "input", graph.inputs),
        (fields.SIGNATURE_OUTPUTS, "output", graph.outputs),
    ):
        for entry in signature.tables(field):
            _check_text(entry, fields.MAP_NAME, f"the name of an {role} of {who}")
            index = entry.number(fields.MAP_INDEX, "I")
            if index not in indices:
                what = f"{role} {entry.text(fields.MAP_NAME)!r} of {who}"
                raise _Unsound(f"the {what} is tensor {index}, which is not an {role} of {graph}")


def _check_text(table: Table, field: int, what: str) -> None:
    """Checks that a text is what the runtime takes for one: UTF-8, which it cuts at a null character."""
    content = table.content(field)
    try:
        content.decode()
    except UnicodeDecodeError:
        raise _Unsound(f"{what} is not UTF-8") from None
    if b"\0" in content:
        raise _Unsound(f"{what} has a null character")


def _callees(operator: Table) -> list[tuple[int, int]]:
    """Returns the subgraphs that an op's options name: the field, and the index."""
    callees: list[tuple[int, int]] = []
    for field, callers in zip((fields.OPTIONS_TYPE, fields.OPTIONS_2_TYPE), CALLEES, strict=True):
        names, options = callers.get(operator.number(field, "B"), ()), operator.table(field + 1)
        callees += [] if options is None else [(name, options.number(name, "i")) for name in names]
    return callees
