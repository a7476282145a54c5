"""SavedModel functions to MLIR (the ``tf`` dialect): the only producer of tf ops."""

from litefuse.importer.saved_model import EntryPoint, ImportedModule, import_saved_model

__all__ = ["EntryPoint", "ImportedModule", "import_saved_model"]
