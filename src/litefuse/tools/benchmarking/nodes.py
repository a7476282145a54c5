"""The nodes of a loaded model: what the runtime runs, and which ops of the file each of them stands for."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from ctypes import c_void_p
from typing import NamedTuple

from litefuse.errors import InterpreterError
from litefuse.litert.runtime import abi
from litefuse.litert.runtime.layout import check_layout

# BuiltinOperator
_DELEGATE = 51


class Node(NamedTuple):
    """A node of the plan of a subgraph.

    Attributes:
        subgraph: The index of its subgraph in the file.
        number: Its index in the runtime's subgraph.
        context: The address of its subgraph's ``TfLiteContext``.
        address: The address of its ``TfLiteNode``.
        registration: The address of its ``TfLiteRegistration``, which is its own.
        delegate: The address of the delegate that runs it; 0 if the runtime does.
        name: The name of a delegate's kernel, or of a custom op; may be empty.
        ops: The indices of the ops of the file that it stands for, in their subgraph.
    """

    subgraph: int
    number: int
    context: int
    address: int
    registration: int
    delegate: int
    name: str
    ops: tuple[int, ...]


class _DelegateParams(ctypes.Structure):
    """``TfLiteDelegateParams``, the ``builtin_data`` of a delegate's node, up to the last field that is read."""

    nodes_to_replace: int | None

    _fields_ = (("delegate", c_void_p), ("nodes_to_replace", c_void_p))


class _OpaqueDelegateParams(ctypes.Structure):
    """``TfLiteOpaqueDelegateParams``, the same of a delegate that is an opaque one."""

    nodes_to_replace: int | None

    _fields_ = (("delegate", c_void_p), ("delegate_data", c_void_p), ("nodes_to_replace", c_void_p))


class _Functions(NamedTuple):
    """The functions of a context by which a delegate sees the nodes; kernels are not given them."""

    plan: Callable[..., int]
    node: Callable[..., int]


class NodeObserver:
    """A delegate that runs nothing, and sees the subgraphs before the delegates behind it do.

    Args:
        tensors: The names of the tensors of each subgraph of the file.
        profiler: The address of a ``tflite::Profiler`` for the kernels of delegates; 0 for none.
        prepared: Called with the context's address of each subgraph while the runtime offers its nodes to delegates.
    """

    def __init__(
        self,
        tensors: Sequence[Sequence[str]],
        *,
        profiler: int = 0,
        prepared: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._tensors = tensors
        self._profiler = profiler
        self._prepared = prepared
        self._functions: dict[int, _Functions] = {}
        self._callback = abi.CALLBACK(self._prepare)
        self._struct = abi.TfLiteDelegate(
            Prepare=abi.address_of(self._callback), flags=abi.DelegateFlags.ALLOW_DYNAMIC_TENSORS
        )

    def _get_native_delegate_pointer(self) -> int:
        """Returns the pointer that the interpreter asks every delegate for."""
        check_layout()
        return ctypes.addressof(self._struct)

    def _prepare(self, address: int) -> int:
        context = abi.TfLiteContext.from_address(address)
        self._functions[address] = _Functions(
            abi.GET_EXECUTION_PLAN(context.GetExecutionPlan),
            abi.GET_NODE_AND_REGISTRATION(context.GetNodeAndRegistration),
        )
        context.profiler = self._profiler
        self._prepared(address)
        return abi.Status.OK

    def set_profiler(self, address: int) -> None:
        """Sets the profiler of all subgraphs; 0 for none."""
        for function in self._functions:
            abi.TfLiteContext.from_address(function).profiler = address

    def contexts(self) -> Iterator[tuple[int, int]]:
        """Yields the index in the file, and the context's address, of each subgraph that delegates were offered.

        The runtime does not say which one a context is of; but it takes them in their order, and some may be left out.
        """
        subgraph = 0
        for address in self._functions:
            names = _names(address)
            while subgraph < len(self._tensors) and not _begins(names, self._tensors[subgraph]):
                subgraph += 1
            if subgraph == len(self._tensors):
                raise InterpreterError("the runtime shows a delegate other subgraphs than those of the file")
            yield subgraph, address
            subgraph += 1

    def nodes(self) -> Iterator[Node]:
        """Yields the nodes of the plan of each subgraph, in the order in which they run.

        To be called after the delegates have taken their nodes, and again after an interpreter has let others do so.
        """
        for subgraph, address in self.contexts():
            for index in self.plan(address):
                yield self._node(subgraph, address, index)

    def plan(self, context: int) -> tuple[int, ...]:
        """Returns the indices of the nodes that the runtime runs in a subgraph."""
        indices = c_void_p()
        _check(self._functions[context].plan(context, ctypes.addressof(indices)))
        return abi.read_int_array(indices.value)

    def _structs(self, context: int, index: int) -> tuple[int, int]:
        node, registration = c_void_p(), c_void_p()
        _check(self._functions[context].node(context, index, ctypes.addressof(node), ctypes.addressof(registration)))
        return node.value or 0, registration.value or 0

    def _node(self, subgraph: int, context: int, index: int) -> Node:
        address, registration = self._structs(context, index)
        node = abi.TfLiteNode.from_address(address)
        known = abi.TfLiteRegistration.from_address(registration)
        name = (known.custom_name or b"").decode("utf-8", "replace")
        delegate = (node.delegate or 0) if known.builtin_code == _DELEGATE else 0
        ops = tuple(self._members(context, index))
        return Node(subgraph, index, context, address, registration, delegate, name, ops)

    def _members(self, context: int, index: int) -> Iterator[int]:
        """Yields the nodes of the file that a node stands for; a delegate may replace nodes of another."""
        address, registration = self._structs(context, index)
        node = abi.TfLiteNode.from_address(address)
        known = abi.TfLiteRegistration.from_address(registration)
        if known.builtin_code != _DELEGATE or not node.builtin_data or not node.delegate:
            yield index
            return
        opaque = abi.TfLiteDelegate.from_address(node.delegate).opaque_delegate_builder
        params = (_OpaqueDelegateParams if opaque else _DelegateParams).from_address(node.builtin_data)
        for replaced in abi.read_int_array(params.nodes_to_replace):
            if replaced < index:  # it was there before
                yield from self._members(context, replaced)


def arena_bytes(context: int) -> int:
    """Returns the size of the memory that the runtime has planned for the tensors of a subgraph, as far as it is used.

    Args:
        context: The address of the subgraph's ``TfLiteContext``.
    """
    spans = [
        (tensor.data, tensor.data + tensor.bytes)
        for tensor in _tensors(context)
        if tensor.allocation_type == abi.AllocationType.ARENA_RW and tensor.data
    ]
    return max((end for _, end in spans), default=0) - min((start for start, _ in spans), default=0)


def _tensors(context: int) -> Iterator[abi.TfLiteTensor]:
    known = abi.TfLiteContext.from_address(context)
    size = ctypes.sizeof(abi.TfLiteTensor)
    for index in range(known.tensors_size):
        yield abi.TfLiteTensor.from_address(known.tensors + index * size)


def _names(context: int) -> list[bytes]:
    return [tensor.name or b"" for tensor in _tensors(context)]


def _begins(names: Sequence[bytes], expected: Sequence[str]) -> bool:
    """Whether the names are those of a subgraph; delegates and kernels append tensors of their own."""
    shown = [name.decode("utf-8", "replace") for name in names[: len(expected)]]
    return shown == [name.partition("\0")[0] for name in expected]  # a name in C ends there


def _check(status: int) -> None:
    if status != abi.Status.OK:
        raise InterpreterError("the runtime does not show a delegate its nodes")
