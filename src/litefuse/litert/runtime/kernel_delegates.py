"""The delegates that run a model's custom ops and composites, and the error for those that have no kernel."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from litefuse.errors import MissingKernelError
from litefuse.litert.runtime.custom_op import (
    CustomOp,
    find_kernel,
    installed_libraries,
    kernels_by_name,
    registered_kernels,
    registered_libraries,
)
from litefuse.litert.runtime.delegate import Delegate
from litefuse.litert.runtime.kernel_pack import native_library
from litefuse.litert.runtime.native import NativeKernels, pack
from litefuse.support.options.names import nearest


class KernelDelegates(NamedTuple):
    """Kernels, as a runtime takes them.

    Attributes:
        python: The delegate of kernels in Python, through which the runtime is called.
        delegates: All delegates, in the order in which they are offered the nodes.
        names: The ops of the kernels in Python that were given.
    """

    python: Delegate
    delegates: list[Any]
    names: tuple[str, ...]

    def names_by_address(self) -> dict[int, str]:
        """Returns what each delegate's kernels are, by its address: ``Python``, ``litefuse`` or a library's file."""
        own = native_library()
        names: dict[int, str] = {}
        for delegate in self.delegates:
            name = "Python"
            if isinstance(delegate, NativeKernels):
                name = "litefuse" if delegate.path == own else delegate.path.name
            names[delegate._get_native_delegate_pointer()] = name  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  the runtime's protocol
        return names


def kernel_delegates(
    custom_ops: Iterable[type[CustomOp] | str | os.PathLike[str]] | None, *, installed: bool = True
) -> KernelDelegates:
    """Makes the delegates of the kernels that are given and, behind them, of those that are known.

    Args:
        custom_ops: ``CustomOp`` classes, or paths of shared libraries that are external delegates of LiteRT. An
            empty list leaves out the pack, None keeps it.
        installed: Whether to look for libraries of installed packages.

    Raises:
        KernelError: One of them is neither a kernel nor a library of kernels.
        LitefuseError: The library of an installed package cannot be loaded.
    """
    classes: list[type[CustomOp]] = []
    libraries: list[NativeKernels] = []
    given = None if custom_ops is None else list(custom_ops)
    for kernel in given or ():
        if isinstance(kernel, (str, os.PathLike)):
            libraries.append(NativeKernels(kernel))
        else:
            classes.append(kernel)
    explicit = kernels_by_name(classes)
    with_pack = given is None or bool(given)
    native = pack() if with_pack else None
    named = native.names if native is not None else frozenset[str]()
    registered = [(NativeKernels(path), names) for path, names in registered_libraries().items()]
    plug_ins = [(NativeKernels(path), names) for path, names in installed_libraries().items()] if installed else []
    python = Delegate(
        lambda name: explicit.get(name) or find_kernel(name, without=named, with_pack=with_pack),
        native=named.union(*(names for _, names in (*registered, *plug_ins))),
        report=False,
    )
    own = [] if native is None else [native]
    behind = [*(library for library, _ in registered), *own, *(library for library, _ in plug_ins)]
    return KernelDelegates(python, [*libraries, python, *behind], tuple(explicit))


def missing_kernels(unresolved: Sequence[str], where: str, given: Iterable[str] = ()) -> MissingKernelError:
    """Returns the error for custom ops that nothing runs."""
    hint = (
        "Write one with @litefuse.custom_op, which litefuse kernels new OP --from MODEL begins (--kernels FILE.py on "
        "the command line), pass kernels as custom_ops=[...], or install a package with them."
    )
    if any(name.startswith("Flex") for name in unresolved):
        hint += " Names with Flex are TensorFlow ops that the converter left as they are."
    known = {*given, *registered_kernels()}
    if known:
        hint += f" There are kernels for {', '.join(sorted(known))}."
    message = f"no kernel for the custom ops {', '.join(unresolved)}"
    if close := nearest(unresolved[0], known, 0.8):
        message += f"; there is one for {close[0]!r}"
    return MissingKernelError(message, where=where, hint=hint, ops=list(unresolved))
