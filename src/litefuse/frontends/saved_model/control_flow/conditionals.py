"""Conversion of conditionals of control flow v1 to If and Case.

Switch forwards a value to one branch, Merge takes the value from the branch that was run. The nodes of a branch depend
on a Switch, through data or control inputs: this determines the conditions under which each node runs. A Merge whose
inputs run under all the outcomes of one condition ends a conditional; Merges that can be decided together become one
If.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.control_flow.flat_function import (
    SWITCHES,
    FlatFunction,
    constant_node,
    kind,
)
from litefuse.frontends.saved_model.control_flow.region import Arguments, Region
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NameAttrList, NodeDef, TensorProto
from litefuse.frontends.saved_model.nodes import constant_value, control_inputs, data_inputs, node_of

# Ops that forward a predicate.
_FORWARDING = frozenset({"Identity", "RefSwitch", *SWITCHES})

Outcomes: TypeAlias = Mapping[str, int]
"""The conditions under which a node runs: the outcome of each by its tensor. None instead: the node never runs."""


def conditionals_to_if(function: FlatFunction, symbol: Callable[[str], str]) -> list[FunctionDef]:
    """Replaces conditionals by If and Case.

    Conditionals with a constant predicate are folded. Nested conditionals remain in the returned functions.

    Args:
        function: The function; it is changed. It has no loops of control flow v1.
        symbol: Makes a unique function name from the given one.

    Returns:
        The branches.

    Raises:
        GraphError: A Merge does not join the branches of a conditional.
    """
    ops = set(map(kind, function.nodes.values()))
    if not ops & {*SWITCHES, "Merge"}:
        return []
    all_of_them = _Conditionals(function)
    made: list[FunctionDef] = []
    conditionals = {group.name: group for group in all_of_them.groups()}
    nodes: dict[str, NodeDef] = {}
    for name, conditional in conditionals.items():
        nodes[name], functions = conditional.to_if(symbol)
        made += functions
    for name, conditional in conditionals.items():
        function.replace([merge.name for merge in conditional.merges], nodes[name])
        all_of_them.decided |= {tensor: f"{name}:{position}" for position, tensor in enumerate(conditional.tensors)}
        all_of_them.waits |= {merge.name: name for merge in conditional.merges}
    function.rename(all_of_them.decided, all_of_them.waits)
    function.prune()
    return made


@dataclass(frozen=True)
class _Merge:
    """A Merge that ends a conditional: its outputs that are used, and the positions of the inputs from each branch."""

    name: str
    tensors: tuple[str, ...]
    branches: Mapping[int, tuple[int, ...]]


@dataclass
class _Conditionals:
    """The outermost conditionals of a function.

    Attributes:
        function: The function.
        outcomes: The conditions under which each node runs.
        decided: The replacements of tensors whose predicate is constant.
        waits: The nodes that replace a Merge or a Switch as control inputs.
        copied: The conditional that contains each node with a side effect.
    """

    function: FlatFunction
    outcomes: dict[str, Outcomes | None] = field(default_factory=dict[str, "Outcomes | None"])
    decided: dict[str, str] = field(default_factory=dict[str, str])
    waits: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    copied: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self._order = self.function.order()
        self._positions = {name: position for position, name in enumerate(self._order)}
        self._used = {tensor for node in self.function.nodes.values() for tensor in node.input}
        self._used.update(self.function.results.values())
        for name in self._order:
            node = self.function.nodes[name]
            self.outcomes[name] = self._of_merge(node) if kind(node) == "Merge" else self._of_node(node)

    def groups(self) -> list[_Conditional]:
        """Returns the conditionals, each with all Merges that one If can compute.

        Two Merges on one predicate belong to one conditional unless one of them depends on the other, perhaps through
        other conditionals.
        """
        made: list[_Conditional] = []
        behind: dict[str, int] = {}  # the conditionals that a node depends on, as a bit set
        depends: list[int] = []  # the same for each conditional
        for name in self._order:
            node = self.function.nodes[name]
            before = 0
            for source in map(node_of, node.input):
                before |= behind.get(source, 0)
            behind[name] = before
            if kind(node) != "Merge" or self.outcomes[name] != {} or f"{name}:0" in self.decided:
                continue
            predicate, branches = self._split(name, dict(enumerate(self._inputs(node))))
            closed = _closure(before, depends)
            number = next(
                (
                    number
                    for number in reversed(range(len(made)))
                    if made[number].predicate == predicate and not closed >> number & 1
                ),
                len(made),
            )
            if number == len(made):
                name_of_if = name.rpartition("/")[0] or "if"
                taken = [conditional.name for conditional in made]
                made.append(_Conditional(self, self.function.fresh(name_of_if, taken), predicate))
                depends.append(0)
            used = tuple(tensor for tensor in (f"{name}:0", f"{name}:1") if tensor in self._used or tensor[-1] == "0")
            made[number].merges.append(
                _Merge(name, used, {branch: tuple(inputs) for branch, inputs in branches.items()})
            )
            depends[number] |= before
            behind[name] = 1 << number
        return made

    def runs(self, node: str, predicate: str, outcome: int) -> bool:
        """Whether a node runs only when a condition has the given outcome."""
        outcomes = self.outcomes.get(node)
        return outcomes is not None and outcomes.get(predicate) == outcome

    def predicate(self, switch: NodeDef) -> str:
        """Returns the predicate of a Switch, without the Identities and Switches that forward it."""
        return self.function.nodes.origin(switch.input[1], _FORWARDING)

    def _of_node(self, node: NodeDef) -> Outcomes | None:
        outcomes = _both(map(self._of_input, node.input))
        if kind(node) in SWITCHES:
            chosen = self._constant(self.predicate(node))
            if chosen is not None:
                count = _branches(node)
                chosen = chosen if 0 <= chosen < count else count - 1
                self.decided[f"{node.name}:{chosen}"] = node.input[0]
            source = node_of(node.input[0])
            self.waits[node.name] = source if source in self.function.nodes else None
        return outcomes

    def _of_input(self, reference: str) -> Outcomes | None:
        """Returns the conditions under which an input is available: a tensor, or a control input that has run."""
        name = node_of(reference)
        outcomes = self.outcomes.get(name, {})
        node = self.function.nodes.get(name)
        if node is None or reference.startswith("^") or kind(node) not in SWITCHES or reference in self.decided:
            return outcomes
        predicate = self.predicate(node)
        if self._constant(predicate) is not None:
            return None
        return _both([outcomes, {predicate: int(reference.rpartition(":")[2])}])

    def _of_merge(self, node: NodeDef) -> Outcomes | None:
        inputs = self._inputs(node)
        live = {position: outcomes for position, outcomes in enumerate(inputs) if outcomes is not None}
        if not live:
            return None
        joined = self._joined(node.name, live)
        if len(live) == 1:
            position = next(iter(live))
            self.decided[f"{node.name}:0"] = node.input[position]
            self.decided[f"{node.name}:1"] = f"{self._number(node, position).name}:0"
            source = node_of(node.input[position])
            self.waits[node.name] = source if source in self.function.nodes else None
        return _both([joined, *(self._of_input(f"^{name}") for name in control_inputs(node))])

    def _inputs(self, node: NodeDef) -> list[Outcomes | None]:
        return [self._of_input(tensor) for tensor in data_inputs(node)]

    def _joined(self, merge: str, inputs: Mapping[int, Outcomes]) -> Outcomes | None:
        """Returns the conditions under which one of a Merge's inputs is available."""
        if len(inputs) == 1:
            return next(iter(inputs.values()))
        predicate, branches = self._split(merge, inputs)
        rest = {
            position: {key: value for key, value in outcomes.items() if key != predicate}
            for position, outcomes in inputs.items()
        }
        return _both(
            self._joined(merge, {position: rest[position] for position in positions}) for positions in branches.values()
        )

    def _split(self, merge: str, inputs: Mapping[int, Outcomes | None]) -> tuple[str, dict[int, list[int]]]:
        """Returns the first condition whose outcomes separate a Merge's inputs, and the inputs of each outcome."""
        live = {position: outcomes for position, outcomes in inputs.items() if outcomes is not None}
        shared = set[str].intersection(*({*outcomes} for outcomes in live.values()))
        for predicate in sorted(shared, key=lambda tensor: self._positions.get(node_of(tensor), -1)):
            branches: dict[int, list[int]] = {}
            for position, outcomes in live.items():
                branches.setdefault(outcomes[predicate], []).append(position)
            if len(branches) > 1:
                return predicate, branches
        raise GraphError(
            "Merge does not join the branches of one condition",
            where=self.function.where(merge),
            hint="Export the model with control flow v2 (tf.compat.v1.enable_control_flow_v2(), or TensorFlow 2).",
        )

    def _constant(self, tensor: str) -> int | None:
        """Returns the value of a constant predicate; None for others."""
        value = constant_value(self.function.nodes.producer(tensor))
        return None if value is None else int(value.item())

    def _number(self, node: NodeDef, position: int) -> NodeDef:
        made = _number_node(self.function.fresh(f"{node.name}/value_index"), position)
        self.function.nodes[made.name] = made
        self.outcomes[made.name] = {}
        return made


@dataclass
class _Conditional:
    """A conditional: Merges that one If, of this name, computes."""

    all: _Conditionals
    name: str
    predicate: str
    merges: list[_Merge] = field(default_factory=list["_Merge"])

    @property
    def tensors(self) -> list[str]:
        """The tensors that the results of the If replace."""
        return [tensor for merge in self.merges for tensor in merge.tensors]

    def to_if(self, symbol: Callable[[str], str]) -> tuple[NodeDef, list[FunctionDef]]:
        """Makes the If or Case and its branches."""
        outer = self.all.function
        switches = {
            node.name: node
            for node in outer.nodes.values()
            if kind(node) in SWITCHES and self.all.predicate(node) == self.predicate
        }
        count = max(map(_branches, switches.values()))
        is_bool = any(kind(switch) == "Switch" for switch in switches.values())
        arguments = Arguments(outer)
        regions = [self._branch(outcome, arguments, switches) for outcome in range(count)]
        suffixes = ("else", "then") if is_bool else tuple(f"branch{number}" for number in range(count))
        functions = [
            region.function(symbol(f"{self.name}_{suffix}")) for region, suffix in zip(regions, suffixes, strict=True)
        ]
        controls = {input_ for merge in self.merges for input_ in control_inputs(outer.nodes[merge.name])}
        inputs = [self.predicate, *arguments.names]
        waits = controls.union(*(region.waits for region in regions)) - {*map(node_of, inputs)}
        stateless = "" if any(function.signature.is_stateful for function in functions) else "Stateless"
        node = NodeDef(
            name=self.name,
            op=f"{stateless}{'If' if is_bool else 'Case'}",
            input=[*inputs, *(f"^{wait}" for wait in sorted(waits))],
        )
        node.attr["Tin"].CopyFrom(arguments.types())
        node.attr["Tout"].list.CopyFrom(AttrValue.ListValue(type=map(outer.dtype, self.tensors)))
        node.attr["output_shapes"].list.CopyFrom(AttrValue.ListValue(shape=map(outer.shape, self.tensors)))
        named = [NameAttrList(name=function.signature.name) for function in functions]
        if is_bool:
            node.attr["Tcond"].type = DataType.BOOL
            node.attr["else_branch"].CopyFrom(AttrValue(func=named[0]))
            node.attr["then_branch"].CopyFrom(AttrValue(func=named[1]))
        else:
            node.attr["branches"].list.CopyFrom(AttrValue.ListValue(func=named))
        return node, functions

    def _branch(self, outcome: int, arguments: Arguments, switches: Mapping[str, NodeDef]) -> Region:
        outer = self.all.function
        inside = {name for name in outer.nodes if self.all.runs(name, self.predicate, outcome)} - {*switches}

        def alias(tensor: str) -> str | None:
            if tensor in self.all.decided:
                return self.all.decided[tensor]
            switch = switches.get(node_of(tensor))
            return switch.input[0] if switch is not None and tensor.endswith(f":{outcome}") else None

        region = Region(outer, arguments, inside, {*switches}, alias)
        for merge in self.merges:
            node, positions = outer.nodes[merge.name], merge.branches.get(outcome, ())
            if not positions:
                raise GraphError(f"no input of it comes from branch {outcome}", where=outer.where(merge.name))
            if len(positions) == 1:
                region.take([node.input[positions[0]]])
            elif len(merge.tensors) == 1:
                region.add(_part_of_merge(node, positions), outer.dtype(merge.tensors[0]))
            else:
                raise GraphError("which one of more than two inputs it takes is used", where=outer.where(merge.name))
            if len(merge.tensors) > 1:
                region.add(_number_node(f"{merge.name}/value_index", positions[0]), DataType.INT32)
        for name, node in region.nodes.items():
            if not outer.is_repeatable(node) and self.all.copied.setdefault(name, self.name) != self.name:
                raise GraphError(f"{node.op} runs in two conditionals", where=outer.where(name))
        return region


def _part_of_merge(merge: NodeDef, positions: Sequence[int]) -> NodeDef:
    """Returns a Merge of some of a Merge's inputs."""
    made = NodeDef()
    made.CopyFrom(merge)
    made.input[:] = [merge.input[position] for position in positions]
    made.attr["N"].i = len(positions)
    return made


def _number_node(name: str, value: int) -> NodeDef:
    """Makes an int32 constant."""
    return constant_node(name, TensorProto(dtype=DataType.INT32, int_val=[value]))


def _branches(switch: NodeDef) -> int:
    return switch.attr["num_outs"].i if switch.op == "_SwitchN" else 2


def _both(all_outcomes: Iterable[Outcomes | None]) -> Outcomes | None:
    """Combines conditions: all must hold. None (never) if they need different outcomes of one condition."""
    joint: dict[str, int] = {}
    for outcomes in all_outcomes:
        if outcomes is None:
            return None
        for predicate, outcome in outcomes.items():
            if joint.setdefault(predicate, outcome) != outcome:
                return None
    return joint


def _closure(groups: int, depends: Sequence[int]) -> int:
    """Returns the transitive dependencies of a bit set of conditionals, themselves included."""
    while True:
        wider = groups
        for number, others in enumerate(depends):
            if groups >> number & 1:
                wider |= others
        if wider == groups:
            return groups
        groups = wider
