"""LiteRT on the CPU: its interpreter, and ``CompiledModel``, its current interface."""

from __future__ import annotations

import re
from collections.abc import Callable

from litefuse.litert.targets.op_table import OpTable
from litefuse.litert.targets.question import Answer, Question, Refusal
from litefuse.litert.targets.target import Hint, Target, installed, logged
from litefuse.support.target_traits import TargetTraits

_ACCELERATORS = "CPU"

# litert/core/model/model_load.cc
_VARIABLES = re.compile(r"Variable tensors not yet supported")
_NODE = re.compile(r"^ERROR: (?P<reason>.*)\nERROR: Node number \d+ \((?P<op>[^)\n]*)\) failed to \w+", re.MULTILINE)
_UNRESOLVED = re.compile(r"ERROR: Encountered unresolved custom op: (?P<op>[^\n.]*)")
_NO_KERNEL = re.compile(r"Didn't find op for builtin opcode '(?P<op>\w+)' version '(?P<version>\d+)'")

#: Why a file with variable tensors is refused.
VARIABLES = "CompiledModel loads no file with variable tensors, in which recurrent ops keep their state"


class Cpu(Target):
    """The stock interpreter, whose numbers those of all other targets are compared with."""

    name = "cpu"
    traits = TargetTraits()
    table = OpTable("LiteRT's schema", runs_own=True)

    def ask(self, question: Question, announce: Callable[[str], None]) -> Answer:
        del question, announce
        return Answer(installed("LiteRT", "ai-edge-litert"), not_run="the others are compared with it")


class LiteRT(Target):
    """``CompiledModel``, which runs every op of LiteRT, but loads no file with variable tensors."""

    name = "litert"
    traits = TargetTraits(
        "LiteRT's CompiledModel",
        variables=False,
        lacking=frozenset({"UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN"}),
    )
    table = OpTable("what LiteRT 2.3 loads", variables=False, runs_own=True)
    hints = (
        Hint("", "variable tensors", "convert with --target litert: recurrent layers stay loops"),
        Hint(
            "",
            "custom op",
            "use litefuse.CompiledModel, which has kernels, or convert with --allow-custom-ops never",
            rewritten=True,
        ),
        Hint("", "custom op", "use litefuse.CompiledModel, which has kernels"),
    )

    def ask(self, question: Question, announce: Callable[[str], None]) -> Answer:
        from litefuse.litert.targets.compiled_model import compile_model, not_callable, run_rounds, software

        announce("compile the model")
        with logged(question.log) as log:
            try:
                model = compile_model(question, _ACCELERATORS)
                if why := not_callable(question):
                    return Answer(software(), not_run=why)
                announce("run the model")
                return Answer(software(), outputs=run_rounds(question, _ACCELERATORS, model))
            except (RuntimeError, ValueError) as error:
                refused = self.refusals(log.read_text(errors="replace"))
                return Answer(software(), takes=False, refusals=refused or (Refusal("", str(error).strip()),))

    def refusals(self, log: str) -> tuple[Refusal, ...]:
        return reported_errors(log)


def reported_errors(log: str) -> tuple[Refusal, ...]:
    """Returns the reasons for which LiteRT does not load a file, from what it prints."""
    refused = [Refusal("", VARIABLES)] if _VARIABLES.search(log) else []
    refused += [Refusal(match["op"].strip(), "it is a custom op") for match in _UNRESOLVED.finditer(log)]
    refused += [Refusal(match["op"], f"it has no version {match['version']}") for match in _NO_KERNEL.finditer(log)]
    refused += [Refusal(match["op"], match["reason"]) for match in _NODE.finditer(log)]
    return tuple(dict.fromkeys(refused))
