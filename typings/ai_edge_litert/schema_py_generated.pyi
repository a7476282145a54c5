from typing import Any

# The generated classes and enumerations of the LiteRT flatbuffer schema.
def __getattr__(name: str) -> Any: ...
