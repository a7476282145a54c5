"""A TfLiteDelegate that runs kernels written in Python."""

from __future__ import annotations

import ctypes
import itertools
import logging
import os
import weakref
from typing import TYPE_CHECKING, TypeVar, overload

from litefuse.errors import InterpreterError, KernelError, LitefuseError
from litefuse.litert.runtime import abi
from litefuse.litert.runtime.abi import guarded
from litefuse.litert.runtime.bindings import run
from litefuse.litert.runtime.custom_op import PACK, CustomOp, find_kernel, kernel_beyond_native, kernels_by_name
from litefuse.litert.runtime.kernel_pack import XNNPACK_OPS
from litefuse.litert.runtime.layout import check_layout
from litefuse.litert.runtime.node import Node, node_text
from litefuse.litert.runtime.tensors import name_of
from litefuse.support.logs.events import silent_by_default
from litefuse.support.plug_ins.entry_points import place_of, raised_at

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from litefuse.litert.runtime.native import NativeKernels

Result = TypeVar("Result")

logger = logging.getLogger("litefuse.runtime")
silent_by_default()

# The objects that the runtime holds pointers to, from the moment a node is claimed until the runtime frees it. The
# delegate cannot own them, since Python may drop it first: an array that views a tensor keeps only the interpreter
# alive.
_live: dict[int, tuple[object, ...]] = {}
_keys = itertools.count(1)


def _free(_context: int | None, key: int, *, live: dict[int, tuple[object, ...]] = _live) -> None:
    live.pop(key, None)


# Never freed itself, since it drops the other callbacks of its node and must not do that to its own code. Not even when
# Python exits: an interpreter in a reference cycle may be destroyed after the modules are cleared.
_FREE = abi.FREE(_free)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_FREE))


@overload
def delegate(*ops: type[CustomOp]) -> Delegate: ...
@overload
def delegate(library: str | os.PathLike[str], /) -> NativeKernels: ...
def delegate(*ops: type[CustomOp] | str | os.PathLike[str]) -> Delegate | NativeKernels:
    """Makes a delegate that runs custom ops in any interpreter.

        ai_edge_litert.interpreter.Interpreter(model, experimental_delegates=[litefuse.delegate(ExtractImagePatches)])

    An exception in a kernel becomes the interpreter's ``RuntimeError``, whose message names the op, the node and the
    exception. It is also logged with its traceback to the logger ``litefuse``, and kept as ``failure``.

    Args:
        *ops: The kernels to use. Without any, all known ones: registered with ``custom_op``, in ``litefuse.kernels``,
            or offered by an entry point. Or the path of one library of native kernels.

    Raises:
        KernelError: One of ``ops`` is not a kernel, or the library is none.
    """
    classes = [op for op in ops if not isinstance(op, str | os.PathLike)]
    paths = [op for op in ops if isinstance(op, str | os.PathLike)]
    if not paths:
        return Delegate(kernels_by_name(classes).get if classes else find_kernel)
    if len(ops) > 1:
        raise KernelError(
            "a library is a delegate of its own",
            where=", ".join(map(os.fsdecode, paths)),
            hint="Make one delegate for each library, and one for the classes.",
        )
    from litefuse.litert.runtime.native import NativeKernels  # it imports the runtime

    return NativeKernels(paths[0])


class Delegate:
    """Claims the nodes that have kernels; see ``delegate``.

    Args:
        find: Returns the kernel of an op, or None.
        native: The ops that are run by a delegate of native kernels behind this one.
        report: Whether to log exceptions and to put them into the runtime's error messages. Not needed by an owner that
            calls the runtime through ``run`` alone, which raises them.

    Attributes:
        failure: The exception that the last failing kernel raised, or None.
        unclaimed: The names of the custom ops that no kernel runs, in the order of the model.
        unresolved: Those of them that the interpreter does not run either.
        left: By the names of their ops, why nodes were left to the runtime although the pack has a kernel of the op.
    """

    def __init__(
        self, find: Callable[[str], type[CustomOp] | None], *, native: Container[str] = (), report: bool = True
    ) -> None:
        self.failure: BaseException | None = None
        self._native = native
        self.unclaimed: dict[str, None] = {}
        self.unresolved: dict[str, None] = {}
        self.left: dict[str, KernelError] = {}
        self._find = find
        self._report = report
        # Weak, so that a delegate is freed with its last user, and not when the garbage collector runs.
        this: weakref.ref[Delegate] = weakref.ref(self)
        self._context = 0
        self._callback = abi.CALLBACK(
            guarded(lambda context: _alive(this).claim(context), lambda error: _alive(this).claim_failed(error))
        )
        self._struct = abi.TfLiteDelegate(
            Prepare=abi.address_of(self._callback), flags=abi.DelegateFlags.ALLOW_DYNAMIC_TENSORS
        )

    def run(self, function: Callable[[], Result], explain: Callable[[Exception], Exception]) -> Result:
        """Calls a function that makes the runtime do something, and maybe these kernels, see :func:`~.bindings.run`."""
        self.failure = None
        return run(function, explain, self._take_failure)

    def _take_failure(self) -> BaseException | None:
        failure, self.failure = self.failure, None
        return failure

    def _get_native_delegate_pointer(self) -> int:
        """Returns the pointer that the interpreter asks every delegate for."""
        check_layout()
        return ctypes.addressof(self._struct)

    def claim(self, context: int) -> int:
        """Takes over the nodes of one subgraph; called by the runtime."""
        self._context = context
        known = abi.TfLiteContext.from_address(context)
        # All nodes are created before the first is replaced, which moves the runtime's nodes.
        for index, node in list(self._nodes(known, context)):
            self._replace(known, context, index, node)
        return abi.Status.OK

    def claim_failed(self, error: BaseException) -> int:
        """Reports an exception of ``claim``."""
        return self._fail(error, self._context, "")

    def _nodes(self, known: abi.TfLiteContext, context: int) -> Iterator[tuple[int, Node]]:
        unresolved = check_layout().unresolved_invoke
        plan, node, registration = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        _check(abi.GET_EXECUTION_PLAN(known.GetExecutionPlan)(context, ctypes.addressof(plan)))
        get_node = abi.GET_NODE_AND_REGISTRATION(known.GetNodeAndRegistration)
        for index in abi.read_int_array(plan.value):
            _check(get_node(context, index, ctypes.addressof(node), ctypes.addressof(registration)))
            assert node.value is not None
            assert registration.value is not None
            found_node = abi.TfLiteNode.from_address(node.value)
            operator = abi.TfLiteRegistration.from_address(registration.value)
            match operator.builtin_code:
                case abi.BuiltinOperator.CUSTOM:
                    name = (operator.custom_name or b"").decode("utf-8", "replace")
                    options = _bytes_at(found_node.custom_initial_data, found_node.custom_initial_data_size)
                case abi.BuiltinOperator.STABLEHLO_COMPOSITE if found_node.builtin_data:
                    params = abi.StablehloCompositeParams.from_address(found_node.builtin_data)
                    name = (params.name or b"").decode("utf-8", "replace")
                    options = _bytes_at(params.attributes, params.attributes_size)
                case _:
                    continue
            kernel = self._find(name)
            native = kernel is None and name in self._native
            if native:
                kernel = kernel_beyond_native(name, options)
            if kernel is not None and kernel.library:  # its library is a delegate of its own
                kernel = None
            if name in XNNPACK_OPS and self._is_left(context, name, kernel, found_node, options, native=native):
                continue
            if kernel is not None:
                yield index, _make_node(known, name, kernel, found_node, options)
            elif operator.builtin_code == abi.BuiltinOperator.CUSTOM and name not in self._native:
                self.unclaimed[name] = None
                if operator.invoke == unresolved:
                    self.unresolved[name] = None

    def _is_left(
        self,
        context: int,
        name: str,
        kernel: type[CustomOp] | None,
        node: abi.TfLiteNode,
        options: bytes,
        *,
        native: bool,
    ) -> bool:
        """Whether a node is left to the runtime, since the pack's kernel does not take its form.

        XNNPACK has kernels under the same names as the pack. The pack's forms of a kernel take the same nodes: a native
        one is tried in its place.
        """
        own = PACK.get(name)
        if own is None or not (native or kernel is own):
            return False
        try:
            _make_node(abi.TfLiteContext.from_address(context), name, own, node, options).check(context)
        except KernelError as error:
            self.left[name] = error
            return True
        return False

    def _replace(self, known: abi.TfLiteContext, context: int, index: int, node: Node) -> None:
        """Makes the runtime run ``node`` instead of its node ``index``.

        One call for each: given several, the runtime fuses neighbors into one node, and plans no memory for the tensors
        between them.
        """
        key = next(_keys)

        def failed(error: BaseException) -> int:
            return self._fail(error, node.context, node.where, node.place)

        init = abi.INIT(guarded(lambda _context: key, lambda _error: 0))
        prepare = abi.CALLBACK(guarded(node.prepare, failed))
        invoke = abi.CALLBACK(guarded(node.invoke, failed))
        name = node.op.encode()
        registration = abi.TfLiteRegistration(
            init=abi.address_of(init),
            free=abi.address_of(_FREE),
            prepare=abi.address_of(prepare),
            invoke=abi.address_of(invoke),
            custom_name=name,
            version=1,
        )
        _live[key] = (init, prepare, invoke, name)
        replace = abi.REPLACE_NODE_SUBSETS(known.ReplaceNodeSubsetsWithDelegateKernels)
        nodes = abi.int_array(index)
        if replace(context, registration, ctypes.addressof(nodes), ctypes.addressof(self._struct)) != abi.Status.OK:
            _live.pop(key, None)
            raise InterpreterError("the runtime does not let a delegate run the node", where=node.where)

    def _fail(self, error: BaseException, context: int, where: str, place: str = "") -> int:
        """Keeps the exception, and reports it to the runtime and the log unless the owner takes it from here."""
        self.failure = error
        _say_where(error, where, place)
        if self._report:
            message = str(error)
            if not isinstance(error, LitefuseError):
                message = f"{where or 'delegate'}: {type(error).__name__}: {message}"
            logger.error("%s", message, exc_info=error)
            # It is a format string in C, so percent signs are doubled; it ends at the first zero byte.
            text = message.encode("utf-8", "replace").replace(b"%", b"%%").replace(b"\0", b" ")
            abi.REPORT_ERROR(abi.TfLiteContext.from_address(context).ReportError)(context, text)
        return abi.Status.ERROR


def _say_where(error: BaseException, where: str, place: str) -> None:
    """Adds the node to an exception, and the kernel if that did not raise it.

    A foreign one gets a note (``add_note`` is not in Python 3.10).
    """
    if isinstance(error, LitefuseError):
        error.where = error.where or where
        if place and not raised_at(error):
            error.hint = " ".join(filter(None, (error.hint, f"See {place}.")))
        return
    notes: list[str] = getattr(error, "__notes__", [])
    if where and where not in notes:
        error.__notes__ = [*notes, where]  # pyright: ignore[reportAttributeAccessIssue]


def _alive(reference: weakref.ref[Delegate]) -> Delegate:
    alive = reference()
    assert alive is not None, "the delegate was dropped before its interpreter"
    return alive


def _check(status: int) -> None:
    if status != abi.Status.OK:
        raise InterpreterError("the runtime does not show a delegate its nodes")


def _bytes_at(address: int | None, size: int) -> bytes:
    return ctypes.string_at(address, size) if address and size > 0 else b""


def _make_node(known: abi.TfLiteContext, op: str, kernel: type[CustomOp], node: abi.TfLiteNode, options: bytes) -> Node:
    outputs = abi.read_int_array(node.outputs)
    size = ctypes.sizeof(abi.TfLiteTensor)
    names = [name_of(abi.TfLiteTensor.from_address(known.tensors + index * size)) for index in outputs if index >= 0]
    name = names[0] if names else ""
    inputs = abi.read_int_array(node.inputs)
    try:
        return Node(kernel, op=op, name=name, inputs=inputs, outputs=outputs, options=options)
    except Exception as error:  # the kernel's own code runs there
        _say_where(error, node_text(op, name), place_of(kernel))
        raise
