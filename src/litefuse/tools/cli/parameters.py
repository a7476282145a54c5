"""Parameters shared by several commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import click
from click.shell_completion import CompletionItem


class _Input(click.Path):
    """The path of what a command reads, as a ``Path``: of the local file or folder of a URL, which is fetched.

    The command, or the code that reads the file, checks that it exists.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from litefuse.support.cloud.paths import local

        return super().convert(local(value), param, ctx)


class _Output(click.Path):
    """The path of what a command writes, as a ``Path``: for a URL, a local one, which is uploaded in the end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from litefuse.tools.cli.uploads import place_for

        return super().convert(place_for(value), param, ctx)


PATH: Any = _Input(path_type=Path)
OUTPUT: Any = _Output(path_type=Path)
#: The path of what is written here while the command runs, which no URL can be.
PLACE: Any = click.Path(path_type=Path)

SECONDS = click.FloatRange(min=0, min_open=True)

#: The value of an option that was given without one.
ALL = "*"
# Other names of values that people take for options.
_OTHER_VALUES = {"dynamic-range": "dynamic", "fp16": "float16", "int8x16": "int16", "qint8": "int8"}
OPTIONAL_VALUES = frozenset({"--allow-custom-ops", "--check-fusions", "--quantized-io", "--require-fused"})


def beginning(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Returns the names that begin with a word that is being typed, for the completion of shells."""
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class OptionalValueCommand(click.Command):
    """A command with options that take an optional value after ``=``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        options = [f"{arg}={ALL}" if arg in OPTIONAL_VALUES else arg for arg in args[:end]]
        try:
            return super().parse_args(ctx, [*options, *args[end:]])
        except click.NoSuchOption as error:
            if answer := self._answer(error.option_name):
                raise click.NoSuchOption(error.option_name, answer, ctx=ctx) from None
            raise
        except click.UsageError as error:
            values = [pair for pair in pairwise(args[:end]) if pair[0] in OPTIONAL_VALUES and pair[1][:1] != "-"]
            option, value = next((pair for pair in values if not Path(pair[1]).exists()), ("", ""))
            if option and type(error) is click.UsageError:  # extra arguments
                answer = f"{error.message}. A value of {option} follows an equals sign: {option}={value}"
                raise click.UsageError(answer, ctx=ctx) from None
            raise

    def _answer(self, option: str) -> str:
        """Returns what an option is here that is of another converter, has other dashes, or names a value of an option.

        Empty if it is unknown.
        """
        from litefuse.litert.targets import OWN
        from litefuse.support.options.names_elsewhere import name_elsewhere

        own = "--" + option.lstrip("-").replace("_", "-").lower()
        if any(own in parameter.opts for parameter in self.params):
            return f"No such option {option!r}. Use {own}."
        value = _OTHER_VALUES.get(own[2:], own[2:])
        for parameter in self.params:
            choices = parameter.type.choices if isinstance(parameter.type, click.Choice) else ()
            if value in choices or (value in OWN and parameter.type is TARGET):
                return f"No such option {option!r}. Use {max(parameter.opts, key=len)} {value}."
        if (entry := name_elsewhere(option)) is None:
            return ""
        return f"No such option {option!r}. Equivalent of {entry.name} ({entry.owner(command=True)}): {entry.command}"


if TYPE_CHECKING:
    _ParamType = click.ParamType[str]
else:
    _ParamType = click.ParamType  # older releases of click take no type argument


class _Target(_ParamType):
    """The name of a target, or of its variant.

    The entry points of installed packages are read only for one that is not litefuse's own.
    """

    name = "target"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        del param, ctx
        from litefuse.litert.targets import OWN

        return f"[{'|'.join(OWN)}][:VARIANT]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from litefuse.errors import LitefuseError
        from litefuse.litert.targets import OWN, find_target, target_names

        name, colon, _ = value.partition(":")
        if name not in OWN and name not in (names := target_names()):
            self.fail(f"{value!r} is not one of {', '.join(map(repr, names))}.", param, ctx)
        if colon:
            try:
                find_target(value)
            except LitefuseError as error:
                self.fail(str(error), param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        del ctx, param
        from litefuse.litert.targets import OWN

        return beginning(OWN, incomplete)


TARGET = _Target()

# An option of commands that run models.
KERNELS = click.option(
    "--kernels",
    multiple=True,
    metavar="FILE.py|MODULE|LIB.so",
    help="Python code that registers kernels of custom ops, or a library of native kernels; may be repeated.",
)


# What models are called with.
SIGNATURES = click.option(
    "--signature", multiple=True, metavar="KEY", help="A signature to call; may be repeated. Default: all."
)
INPUTS = click.option("--inputs", type=PATH, metavar="FILE.npz", help="The inputs, by their names in the signature.")
RANDOM = click.option(
    "--random", type=click.IntRange(min=0), metavar="SEED", help="Use random inputs from this seed. Default: 0."
)
SEED = click.option(
    "--random", type=click.IntRange(min=0), default=0, metavar="SEED", help="The seed of generated inputs (0)."
)
SHAPES = click.option(
    "--shape", multiple=True, metavar="NAME=1,2,3", help="The shape of a generated input; may be repeated."
)

# What becomes of a written file, and what is printed.
CHECK_FILE = click.option(
    "--check-file/--no-check-file",
    default=True,
    help="Call each signature of the file in LiteRT, and keep the file only if it runs.",
)
QUIET = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")


# Options of commands that compare.
TOLERANCE = click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=1e-4,
    metavar="E",
    help="The largest error allowed, relative to the largest value of an output (1e-4).",
)
TOLERANCE_OR_QUANTIZATION = click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    metavar="E",
    help="The largest error allowed, relative to the largest value of an output. Default: 1e-4; for a quantized model, "
    "what its quantization explains.",
)
TAGS = click.option("--tags", metavar="A,B", help="The tags of a SavedModel's graph. Default: serve.")
ALLOW_SIDE_EFFECTS = click.option(
    "--allow-side-effects",
    is_flag=True,
    help="Run ORIGINAL even if it has ops that read or write files, run code or open connections.",
)


def parse_size(text: str | int) -> int:
    """Parses a number of bytes, such as 1000, 512M or 2G."""
    from litefuse.support.options.limits import parsed_bytes

    size = parsed_bytes(str(text))
    if size is None:
        raise click.BadParameter(f"{text!r} is not a number of bytes above 0, such as 512M or 2G")
    return size


MEMORY = click.option(
    "--memory",
    type=parse_size,
    metavar="BYTES",
    help="Stop if a process needs more memory than this, such as 2G; mapped files do not count. Linux only.",
)


def process_limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that limit the processes of a command."""
    timeout = click.option("--timeout", type=SECONDS, metavar="SECONDS", help="Stop after this many seconds.")
    return timeout(MEMORY(command))


MIN_RUNTIME = click.option(
    "--min-runtime",
    metavar="[litert:]VERSION",
    help="The oldest release of TensorFlow Lite, such as 2.14, or of LiteRT, such as litert:1.2, that must run the "
    "file. Weights take a type that it supports; an op that it lacks is an error.",
)


def file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options for what a written file gets."""
    metadata = click.option(
        "--metadata",
        type=PATH,
        metavar="FILE.json",
        help="TensorFlow Lite Metadata to add to the file: descriptions, labels and other associated files.",
    )
    rename = click.option(
        "--rename",
        "renames",
        multiple=True,
        metavar="[SIGNATURE:]OLD=NEW",
        help="Rename an input or output; may be repeated. Samples and --shape use the old names.",
    )
    labels = click.option(
        "--labels",
        type=PATH,
        metavar="FILE.txt",
        help="A file with a line for each class, which the file gets for its output; instead of --metadata.",
    )
    return metadata(labels(rename(command)))


def metadata_of(metadata: Path | None, labels: Path | None) -> Path | dict[str, Path] | None:
    """Returns the metadata that --metadata and --labels ask for."""
    if metadata is not None and labels is not None:
        raise click.BadParameter("--labels excludes --metadata, whose JSON names files of labels itself")
    return metadata if labels is None else {"labels": labels}


def parse_renames(texts: tuple[str, ...]) -> dict[str, str]:
    """Parses new names of inputs and outputs from ``OLD=NEW``."""
    renames: dict[str, str] = {}
    for text in texts:
        old, equals, new = text.rpartition("=")
        if not equals or not old or not new:
            raise click.BadParameter(f"--rename takes OLD=NEW, not {text!r}")
        if renames.get(old, new) != new:
            raise click.BadParameter(f"--rename gives {old!r} two names, {renames[old]!r} and {new!r}")
        renames[old] = new
    return renames


@overload
def split_names(names: str) -> list[str]: ...
@overload
def split_names(names: None) -> None: ...
def split_names(names: str | None) -> list[str] | None:
    """Splits a comma-separated list of names; returns None for None."""
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def parse_shapes(texts: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Parses shapes of inputs by their names, each from ``NAME=1,2,3``."""
    return dict(map(_shape, texts))


def check_given_or_drawn(inputs: Path | None, random: int | None, shape: Iterable[str]) -> None:
    """Refuses inputs from a file together with options for drawn ones."""
    if inputs is not None and (random is not None or shape):
        raise click.BadParameter("--inputs excludes --random and --shape")


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    name, equals, sizes = text.rpartition("=")
    try:
        shape = tuple(int(size) for size in sizes.split(",")) if sizes else ()
    except ValueError:
        shape = (-1,)
    if not equals or not name or min(shape, default=0) < 0:
        raise click.BadParameter(f"--shape {text!r} is not NAME=SIZE,SIZE,...")
    return name, shape
