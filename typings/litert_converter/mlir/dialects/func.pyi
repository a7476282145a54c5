from collections.abc import Sequence

from litert_converter.mlir import ir

class FuncOp(ir.OpView):
    def __init__(
        self,
        name: str,
        type: ir.FunctionType,
        *,
        visibility: str | None = None,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None: ...
    @property
    def type(self) -> ir.FunctionType: ...
    @property
    def visibility(self) -> ir.Attribute: ...
    @property
    def entry_block(self) -> ir.Block: ...
    @property
    def arguments(self) -> Sequence[ir.BlockArgument]: ...
    @property
    def is_external(self) -> bool: ...
    def add_entry_block(self, arg_locs: Sequence[ir.Location] | None = None) -> ir.Block: ...

class ReturnOp(ir.OpView):
    def __init__(
        self, operands: Sequence[ir.Value], *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
    ) -> None: ...
