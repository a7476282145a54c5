"""Importer of SavedModel functions into MLIR (the ``tf`` dialect): the only producer of tf ops."""

from litefuse.ir.importer.saved_model import (
    EntryPoint,
    ImportedModule,
    default_signatures,
    import_saved_model,
    left_out_signatures,
)

__all__ = ["EntryPoint", "ImportedModule", "default_signatures", "import_saved_model", "left_out_signatures"]
