"""Writes the sources of a library of kernels: each includes one of the user's, and the last has the table of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from litefuse.errors import KernelError
from litefuse.litert.cpp.registrations import (
    RegisteringFunction,
    RegistrationsInSource,
    find_registrations,
    plain_letters,
)
from litefuse.litert.cpp.tflite_headers import TABLE, TfliteHeaders

_RESOLVER = "::tflite::ops::builtin::BuiltinOpResolver"


class Registrations(NamedTuple):
    """The registrations of sources, and the names that they get.

    Attributes:
        files: The sources in C++ or C.
        sources: What is found in each of them.
        explicit: Names of ops, and for each the function that gives its registration.
        ops: The ops that a model calls.
    """

    files: Sequence[Path]
    sources: Sequence[RegistrationsInSource]
    explicit: Mapping[str, str]
    ops: tuple[str, ...]

    @classmethod
    def of(
        cls,
        files: Sequence[Path],
        texts: Iterable[str],
        headers: TfliteHeaders,
        register: Mapping[str, str],
        ops: tuple[str, ...],
    ) -> Registrations:
        """Finds them in preprocessed sources.

        Raises:
            KernelError: There are none, or two are named after one op, or one is lacking that ``register`` names.
        """
        sources = [find_registrations(text, _OwnFiles(file, headers)) for file, text in zip(files, texts, strict=False)]
        made = cls(files, sources, _explicit(register, sources), ops)
        made.check_names()
        return made

    def check_names(self) -> None:
        """Checks that no two functions are named after one op."""
        ops: dict[str, str] = {}
        for getter in self.named_after_function():
            if getter.op and (other := ops.setdefault(getter.op, getter.path)) != getter.path:
                raise KernelError(
                    f"{other}() and {getter.path}() are named after one op",
                    hint=f"Name their ops: --register OP={other} --register OP={getter.path}.",
                )

    def named_after_function(self, source: RegistrationsInSource | None = None) -> list[RegisteringFunction]:
        """Returns the functions of a source, or of all, that give the registration of an op that nothing else names."""
        return [
            getter
            for one in ([source] if source is not None else self.sources)
            for getter in one.getters
            if getter.path not in self.explicit.values() and getter.op not in self.explicit
        ]

    def served(self) -> list[str]:
        """Returns the names that kernels also serve under: what the model calls, else those in camel case."""
        camel = (getter.camel_case for getter in self.named_after_function())
        return list(self.ops or dict.fromkeys(filter(None, camel)))

    def names_in_text(self) -> tuple[str, ...]:
        """Returns the names of the ops as far as the sources have them as text."""
        names = list(self.explicit)
        for source in self.sources:
            names += [op for op, _ in source.named] if source.fillers or source.resolvers else []
            names += [*source.kit, *(getter.op for getter in self.named_after_function(source) if getter.op)]
        letters = set(map(plain_letters, names))
        return tuple(dict.fromkeys([*names, *(name for name in self.served() if plain_letters(name) in letters)]))

    def no_kernels(self) -> KernelError:
        """Returns the error of sources that register none."""
        getters = [getter.path for source in self.sources for getter in source.getters]
        hint = "A kernel has a function such as TfLiteRegistration* Register_MyOp(), or void RegisterMyOps("
        hint += "tflite::MutableOpResolver* resolver) calls AddCustom."
        if getters:
            hint = f"Name their ops: {' '.join(f'--register OP={path}' for path in getters)}."
        return KernelError("registers no kernel", where=", ".join(path.name for path in self.files), hint=hint)

    def write_sources(self, folder: Path) -> list[Path]:
        """Writes one source for each of the user's, which includes it, so that its static functions can be called too.

        The last has the table of them all. Sources in C are returned as they are.
        """
        written = [file for file in self.files if file.suffix == ".c"]
        declared, named, others = "", "", ""
        for number, (file, registrations) in enumerate(zip(self.files, self.sources, strict=True)):
            if file in written:
                continue
            own = {getter.path for getter in registrations.getters}
            first, last = "", ""
            for op, path in self.explicit.items():
                if path in own:
                    first += f"  all.Add({_quoted(op)}, ::{path}());\n"
            for filler in registrations.fillers:
                argument = "&resolver" if filler.argument == "*" else "resolver"
                first += f"  {{\n    {_RESOLVER} resolver;\n    ::{filler.path}({argument});\n"
                first += "    all.AddAll(resolver);\n  }\n"
            for path in registrations.resolvers:
                first += f"  all.AddResolver<::{path}>();\n"
            for op in registrations.kit:
                first += f"  all.Add({_quoted(op)}, ::litefuse_register_{op}());\n"
            for getter in self.named_after_function(registrations):
                last += f"  all.AddFunction({_quoted(getter.op)}, ::{getter.path}());\n"
            resolver = '#include "tflite/kernels/register.h"\n' if registrations.fillers else ""
            source = folder / f"kernels_{number}.cc"
            source.write_text(
                f'#include "{file.as_posix()}"\n\n#include "litefuse/registrations.h"\n{resolver}\n'
                f"void litefuse_add_named_{number}(litefuse::Registrations& all) {{\n  (void)all;\n{first}}}\n"
                f"void litefuse_add_others_{number}(litefuse::Registrations& all) {{\n  (void)all;\n{last}}}\n",
                encoding="utf-8",
            )
            written.append(source)
            for part in ("named", "others"):
                declared += f"void litefuse_add_{part}_{number}(litefuse::Registrations& all);\n"
            named += f"    litefuse_add_named_{number}(*made);\n"
            others += f"    litefuse_add_others_{number}(*made);\n"
        serves = "".join(f"    made->Serve({_quoted(op)});\n" for op in self.served())
        table = folder / TABLE
        table.write_text(
            f'#include "litefuse/registrations.h"\n\n{declared}\n'
            "const litefuse::RegisteredKernel* litefuse::RegisteredKernels() {\n"
            "  static const RegisteredKernel* const table = [] {\n    auto* made = new Registrations;\n"
            f"{named}{others}{serves}    return made->Table();\n  }}();\n  return table;\n}}\n",
            encoding="utf-8",
        )
        return [*written, table]


def _explicit(register: Mapping[str, str], registered: Sequence[RegistrationsInSource]) -> dict[str, str]:
    """Returns the functions that users named, with the names of their ops; those of AddCustom in the text as well."""
    there = {getter.path for source in registered for getter in source.getters}
    explicit: dict[str, str] = {}
    for source in registered:
        for op, function in source.named:
            matching = [getter.path for getter in source.getters if getter.name == function]
            if len(matching) == 1:
                explicit[op] = matching[0]
    for op, given in register.items():
        path = given.replace(" ", "").removeprefix("::").removesuffix("()")
        if path not in there:
            raise KernelError(
                f"no source defines a function {path}() that gives a TfLiteRegistration",
                where=f"--register {op}={given}",
                hint=f"The functions are {', '.join(sorted(there)) or 'none'}.",
            )
        explicit[op] = path
    return explicit


def _quoted(text: str) -> str:
    """Returns a literal of C++: what is not plain ASCII as octal numbers, which end after three digits."""
    plain = set(range(0x20, 0x7F)) - {*b'"\\?'}
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode()) + '"'


class _OwnFiles:
    """Whether a file is of the user's sources: in the folder of one, but no header of LiteRT."""

    def __init__(self, source: Path, headers: TfliteHeaders) -> None:
        self._folder = source.parent
        self._others = headers.includes

    def __call__(self, path: Path) -> bool:
        return path.is_relative_to(self._folder) and not any(
            path.is_relative_to(folder) and not self._folder.is_relative_to(folder) for folder in self._others
        )
