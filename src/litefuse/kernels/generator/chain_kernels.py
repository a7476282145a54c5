"""Generates kernels for chains of ops that nobody marked, and keeps those that make the model as a whole faster."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from litefuse.errors import EngineCrashError, LitefuseError
from litefuse.kernels.generator.body import read_bodies, read_signatures
from litefuse.kernels.generator.called_shapes import known_shapes
from litefuse.kernels.generator.chains import Chain, find_chains, outline
from litefuse.kernels.generator.generate import Generated, generate_kernels, microseconds
from litefuse.kernels.generator.kernel import kernel_source
from litefuse.kernels.generator.project import identifiers, write_project
from litefuse.kernels.generator.trial import ModelTrial, ModelTrialJob
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.processes.process import run_in_worker
from litefuse.support.report.entries import ChainReport, KernelReport

_TARGET = "litefuse.kernels.generator.trial:run_model_trial"
# So many different chains are tried: each takes a few seconds.
_MOST_CHAINS = 8
# The model as a whole is measured so often.
_MOST_TRIALS = 4


def generate_chains(
    path: Path,
    folder: Path,
    *,
    model: str,
    others: Generated | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> tuple[ChainReport, ...]:
    """Generates kernels for chains of a file's ops, makes composites of the chains in the file, and writes the kernels.

    Each kernel is checked and measured as that of a composite. Then the model as a whole is measured in LiteRT with
    XNNPACK, on one thread, with the kernels and as it was: where it is not faster, the chain that gains least is left
    out, and it is measured again.

    Args:
        path: The file, which is replaced if a chain is kept. Otherwise it stays as it is.
        folder: The folder for the kernels, which is made if there are any; with others, theirs, which are written again
            beside the new ones.
        model: The file's name, for comments.
        others: The kernels of composites that are in the file.
        on_step: Called with each step's name.

    Raises:
        LitefuseError: The file cannot be changed, or no C++ compiler found.
    """
    on_step("find-chains")
    content = path.read_bytes()
    composites = read_bodies(content, model)
    chains = find_chains(read_signatures(content, model), composites)
    by_name: dict[str, list[Chain]] = {}
    for chain in chains:
        by_name.setdefault(chain.name, []).append(chain)
    beyond = list(by_name)[_MOST_CHAINS:]
    declined = dict.fromkeys(beyond, f"{_MOST_CHAINS} chains are tried, those with more ops that XNNPACK leaves first")
    tried = {name: alike for name, alike in by_name.items() if name not in declined}
    if not tried:
        return ()
    with make_temporary_folder(path.parent) as work:
        outlined = Path(work, "outlined.tflite")
        outline(path, outlined, [chain for alike in tried.values() for chain in alike])
        kernels = Path(work, "kernels")
        kernels.mkdir()
        with_chains = outlined.read_bytes()
        called = known_shapes(with_chains, model, on_step)
        made = generate_kernels(with_chains, list(tried), kernels, model=model, called=called, on_step=on_step)
        declined |= made.declined
        kept = _Choice(path, outlined, tried, made, None if others is None else others.library, on_step)
        declined |= kept.choose()
        if kept.names:
            names = kept.names if others is None else [*kept.names, *others.kernels]
            if {*names} == {*made.kernels}:
                kernels.rename(folder)
            else:
                _write(outlined, folder, model, names)
            outlined.replace(path)
    return tuple(
        _report(name, alike, None if name in declined else made.kernels[name], declined.get(name))
        for name, alike in by_name.items()
    )


@dataclass
class _Choice:
    """The choice of chains that make the model faster; ``outlined`` is the file with composites."""

    path: Path
    outlined: Path
    chains: Mapping[str, list[Chain]]
    made: Generated
    library: Path | None
    on_step: Callable[[str], None]

    def __post_init__(self) -> None:
        self.names = sorted(self.made.kernels, key=self._gain, reverse=True)

    def _gain(self, name: str) -> float:
        kernel = self.made.kernels[name]
        return (kernel.body_seconds - kernel.kernel_seconds) * len(self.chains[name])

    def choose(self) -> dict[str, str]:
        """Leaves out chains until the model is faster; returns the reasons."""
        declined: dict[str, str] = {}
        for _ in range(_MOST_TRIALS):
            if not self.names:
                break
            outline(self.path, self.outlined, [chain for name in self.names for chain in self.chains[name]])
            trial = self._trial()
            if isinstance(trial, ModelTrial) and trial.problem is None and trial.with_seconds < trial.without_seconds:
                return declined
            reason = trial if isinstance(trial, str) else _reason(trial)
            declined[self.names.pop()] = reason
        declined |= dict.fromkeys(self.names, "the model as a whole is not faster without other chains either")
        self.names.clear()
        return declined

    def _trial(self) -> ModelTrial | str:
        assert self.made.library is not None
        job = ModelTrialJob(self.path, self.outlined, self.made.library, self.library)
        try:
            return cast("ModelTrial", run_in_worker(_TARGET, job, self.on_step))
        except EngineCrashError as crash:
            return f"the process that ran the model died: {crash.death}"
        except LitefuseError as failure:
            return f"the model could not be run: {failure.message}"


def _reason(trial: ModelTrial) -> str:
    if trial.problem is not None:
        return trial.problem
    return (
        f"the model as a whole is not faster: {microseconds(trial.with_seconds)}, "
        f"without {microseconds(trial.without_seconds)}"
    )


def _write(outlined: Path, folder: Path, model: str, names: list[str]) -> None:
    bodies = read_bodies(outlined.read_bytes(), model)
    sources = {name: kernel_source(name, bodies[name], own, model) for name, own in identifiers(names).items()}
    if folder.is_dir():
        shutil.rmtree(folder)
    folder.mkdir()
    write_project(folder, sources, model)


def _report(name: str, chains: list[Chain], kernel: KernelReport | None, reason: str | None) -> ChainReport:
    first = chains[0]
    ops = [first.graph.ops[place].name for place in first.ops]
    report = ChainReport(name, ops[0], ops[-1], first.layer, len(ops), len(chains))
    return replace(report, kernel=kernel, reason=reason)
