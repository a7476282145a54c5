"""Importer of SavedModel functions into MLIR (the ``tf`` dialect): the only producer of tf ops."""

from litefuse.ir.importer.default_signatures import default_signatures, left_out_signatures
from litefuse.ir.importer.saved_model import EntryPoint, ImportedModule, import_saved_model

__all__ = ["EntryPoint", "ImportedModule", "default_signatures", "import_saved_model", "left_out_signatures"]
