"""Write ``frontends/saved_model/op_registry.binpb`` from the ops of an installed TensorFlow and TensorFlow Text.

Run it where the newest supported ones are installed: ``python scripts/dump_op_registry.py``. Documentation is left
out; what remains is what an importer needs: argument types, attributes with their defaults, statefulness.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litefuse.frontends.saved_model.messages import OpList, OpRegistryFile

if TYPE_CHECKING:
    from litefuse.frontends.saved_model.messages import OpDef

OUTPUT = Path(__file__).resolve().parent.parent / "src" / "litefuse" / "frontends" / "saved_model" / "op_registry.binpb"


def without_documentation(op: OpDef) -> OpDef:
    op.ClearField("summary")
    op.ClearField("description")
    for described in (*op.input_arg, *op.output_arg, *op.attr):
        described.ClearField("description")
    return op


def main() -> None:
    importlib.import_module("tensorflow_text")  # adds its ops
    # TF_GetAllOpList of the C API is the only listing of every registered op.
    session: Any = importlib.import_module("tensorflow.python.client.pywrap_tf_session")
    ops = OpList.FromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
    version: str = importlib.import_module("tensorflow").__version__
    kept = {op.name: without_documentation(op).SerializeToString(deterministic=True) for op in ops.op}
    data = OpRegistryFile(tensorflow_version=version, ops=kept).SerializeToString(deterministic=True)
    OUTPUT.write_bytes(data)
    print(f"{len(kept)} ops of TensorFlow {version}: {len(data)} bytes")


if __name__ == "__main__":
    main()
