"""Kernels of mutants, compiled with sanitizers and run on inputs of usual and of hostile sizes."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from fuzz.build import BUILD
from litefuse.errors import KernelError
from litefuse.kernels.generator.body import Body, body_model, composite_model
from litefuse.kernels.generator.generate import probing_shapes
from litefuse.kernels.generator.kernel import kernel_source
from litefuse.kernels.generator.project import OPTIONS, registry_source
from litefuse.kernels.generator.trial import TrialJob, run_trial
from litefuse.litert.cpp.compiler import build_library, find_compiler, native_sources

_FLAGS = ("-std=c++17", "-O1", "-g", "-fPIC", "-fvisibility=hidden", "-w", "-ffp-contract=off")
_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_HOSTILE = (0, 1, 2, 3, 7, 19, 20, 21, 63, 64, 65)


def sanitized_kit() -> Path:
    """Compiles what all kernels are linked with, once; returns the folder with the object files."""
    folder = BUILD / "generator"
    folder.mkdir(parents=True, exist_ok=True)
    native = native_sources()
    for source in sorted((native / "src").glob("*.cc")):
        made = folder / f"{source.stem}.o"
        if not made.is_file() or made.stat().st_mtime < source.stat().st_mtime:
            includes = [f"-I{native / 'include'}", f"-I{native / 'src'}"]
            command = [*find_compiler(), *_FLAGS, *_SANITIZERS, *includes, "-c", str(source), "-o", str(made)]
            subprocess.run(command, check=True)
    return folder


def problem_of(content: bytes, name: str, body: Body, kit: Path) -> str | None:
    """Compiles the kernel of a body and runs it; returns why it would not be taken.

    Raises:
        AssertionError: The compiler refuses it.
    """
    with tempfile.TemporaryDirectory() as folder:
        texts = {
            "kernel.cc": kernel_source(name, [body], "Kernel", "mutant"),
            "registry.cc": registry_source({name: "Kernel"}),
        }
        sources = [Path(folder, file) for file in texts]
        for source in sources:
            source.write_text(texts[source.name])
        library = Path(folder, "kernels.so")
        objects = [str(path) for path in sorted(kit.glob("*.o"))]
        # The linker and the compiler are not to load the sanitizer.
        preloaded = os.environ.pop("LD_PRELOAD", None)
        try:
            build_library(library, sources, options=[*OPTIONS, *_FLAGS, *objects], kit=(), sanitize=True)
        except KernelError as error:
            raise AssertionError(f"a kernel does not compile: {error}") from error
        finally:
            if preloaded is not None:
                os.environ["LD_PRELOAD"] = preloaded
        shapes = [*probing_shapes(body), *_hostile(body)]
        models = composite_model(content, body), body_model(content, body)
        return run_trial(TrialJob(*models, library, is_timed=False, shapes=shapes)).problem


def _hostile(body: Body) -> list[dict[str, tuple[int, ...]]]:
    """Returns shapes with sizes that bodies are seldom made for: of all inputs, and of one alone."""
    found: list[dict[str, tuple[int, ...]]] = []
    open_inputs = [place for place, index in enumerate(body.inputs) if None in body.tensors[index].shape]
    for size in _HOSTILE:
        for chosen in {tuple(open_inputs), *((place,) for place in open_inputs)}:
            shapes = {
                f"x{place}": tuple(
                    (size if place in chosen else 3) if known is None else known for known in body.tensors[index].shape
                )
                for place, index in enumerate(body.inputs)
            }
            found.append(shapes)
    return found if open_inputs else []
