"""Option to write the intermediate modules of a conversion."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from litefuse.errors import LitefuseError
from litefuse.support.options.names import listed_names


@dataclass(frozen=True)
class IrDump:
    """A request for the modules of a conversion, as text.

    Attributes:
        folder: The absolute path of the folder to write them to.
        after: The names of the passes after which the module is written; empty for all that change it.
    """

    folder: Path
    after: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: str | os.PathLike[str] | None, after: str | Iterable[str] = ()) -> IrDump | None:
        """Checks the user's request; returns None if there is none.

        Raises:
            LitefuseError: Passes are named, but no folder.
        """
        names = (after,) if isinstance(after, str) else listed_names(after, "dump_ir_after") or ()
        if folder is None:
            if names:
                raise LitefuseError(
                    "dump_ir_after is given without dump_ir",
                    hint="Pass dump_ir as well (on the command line, --dump-ir DIR).",
                )
            return None
        return cls(Path(os.fspath(folder)).absolute(), names)
