from types import TracebackType

from typing_extensions import Self

MACHINE_TYPE: dict[str, int]

class PEFormatError(Exception): ...

class FileHeader:
    Machine: int

class Imported:
    dll: bytes

class PE:
    FILE_HEADER: FileHeader
    def __init__(self, name: str | None = ..., data: bytes | None = ..., fast_load: bool | None = ...) -> None: ...
    def parse_data_directories(self, directories: list[int]) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
