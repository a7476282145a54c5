"""Parameters shared by several commands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from litefuse.support.options.names import names_in
from litefuse.tools.cli.arguments import given_parameters
from litefuse.tools.cli.command import SECONDS, Command, parse_size


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


def beginning(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Returns the names that begin with a word that is being typed, for the completion of shells."""
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class ConvertingCommand(Command):
    """A command that answers options of other converters with what they are here."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if answer := self._answer(error.option_name):
                raise click.NoSuchOption(error.option_name, answer, ctx=ctx) from None
            raise

    def _answer(self, option: str) -> str:
        """Returns what an option is here that is of another converter, has other dashes, or names a value of an option.

        Empty if it is unknown.
        """
        from litefuse.support.options.names_elsewhere import name_elsewhere

        own = "--" + option.lstrip("-").replace("_", "-").lower()
        if any(own in parameter.opts for parameter in self.params):
            return f"No such option {option!r}. Use {own}."
        if value := self.option_with(own[2:]):
            return f"No such option {option!r}. Use {value}."
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

    @property
    def choices(self) -> Collection[str]:
        from litefuse.litert.targets import OWN

        return OWN

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        del param, ctx
        return f"[{'|'.join(self.choices)}][:VARIANT]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from litefuse.errors import LitefuseError
        from litefuse.litert.targets import find_target

        try:
            if value not in self.choices:
                find_target(value)
        except LitefuseError as error:
            self.fail(str(error), param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        del ctx, param
        return beginning(self.choices, incomplete)


TARGET = _Target()


def _code_option(*names: str, what: str) -> Callable[..., Any]:
    told = f"Python code that {what}, or a library of native kernels. May be repeated."
    return click.option(*names, multiple=True, metavar="FILE.py|MODULE|LIB.so", help=told)


# Of commands that run models, and of those that convert or read them.
KERNELS = _code_option("--kernels", "--plug-in", "kernels", what="registers kernels of custom ops")
_MORE = "registers fusions, recognizers or kernels, or that defines custom layers of a Keras file"
PLUG_INS = _code_option("--plug-in", "--kernels", "plug_ins", what=_MORE)


# What models are called with.
SIGNATURES = click.option(
    "--signature", multiple=True, metavar="KEY", show_default="all", help="A signature to call; may be repeated."
)
INPUTS = click.option("--inputs", type=PATH, metavar="FILE.npz", help="The inputs, by their names in the signature.")
SEED = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Generate random inputs, which suit the model, from this seed.",
)
SHAPES = click.option(
    "--shape",
    multiple=True,
    metavar="NAME=1,2,3",
    show_default="the model's, a small size where it is open",
    help="The shape of a generated input; may be repeated.",
)


def output_option(metavar: str, default: str, help: str) -> Callable[..., Any]:  # noqa: A002  as click calls it
    """Returns the option of what is written, with its default in words and what it is."""
    return click.option("--output", "-o", type=OUTPUT, metavar=metavar, show_default=default, help=help)


def file_option(default: str) -> Callable[..., Any]:
    """Returns the option of a model's file that is written, with its default in words."""
    return output_option("FILE", default, "The file to write; an existing one is replaced if the command succeeds.")


def folder_option(default: str) -> Callable[..., Any]:
    """Returns the option of a folder that is written, with its default in words."""
    return output_option("DIR", default, "The folder to write: new or empty.")


def repeat_option(default: int, what: str) -> Callable[..., Any]:
    """Returns the option of how often a model is called, with its default and what it is for."""
    return click.option(
        "--repeat", type=click.IntRange(min=1), default=default, show_default=True, metavar="N", help=what
    )


def _tags(text: str) -> tuple[str, ...]:
    return names_in(text, "--tags")


# Options of commands that compare.
def max_error_option(default: float | None, shown: str | bool = True) -> Callable[..., Any]:
    """Returns the option of the largest error allowed, with its default and how the help shows that."""
    return click.option(
        "--max-error",
        type=click.FloatRange(min=0),
        default=default,
        show_default=shown,
        metavar="E",
        help="The largest error allowed, relative to the largest value of an output.",
    )


MAX_ERROR = max_error_option(1e-4)
MAX_ERROR_OR_QUANTIZATION = max_error_option(None, "0.0001; for a quantized model, what its quantization explains")
TAGS = click.option("--tags", type=_tags, metavar="A,B", show_default="serve", help="The tags of one graph of several.")
ALLOW_SIDE_EFFECTS = click.option(
    "--allow-side-effects",
    is_flag=True,
    help="Run ORIGINAL even if it has ops that read or write files, run code or open connections.",
)

# For commands that do not limit all of their processes alike; see options_of_all_commands().
TIMEOUT = click.option("--timeout", type=SECONDS, hidden=True)


def process_limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Has a command get ``timeout`` and ``memory`` of the options of all commands as arguments."""
    return TIMEOUT(click.option("--memory", type=parse_size, hidden=True)(command))


LABELS = click.option(
    "--labels",
    type=PATH,
    metavar="FILE.txt",
    help="A file with a line for each class, which the file gets for its output; instead of --metadata.",
)


def metadata_of(metadata: Path | None, labels: Path | None) -> Path | dict[str, Path] | None:
    """Returns the metadata that --metadata and --labels ask for."""
    if metadata is not None and labels is not None:
        raise click.BadParameter("--labels excludes --metadata, whose JSON names files of labels itself")
    return metadata if labels is None else {"labels": labels}


def model_output(output: Path | None, model: Path, suffix: str) -> Path:
    """Returns the file to write: by default, that in the current folder with a model's name and something behind it."""
    from litefuse.support.files.readable import check_model_name, is_there

    if output is not None:
        return check_model_name(output)
    # To convert, a .tflite file is refused when it is read, not because the default would replace it.
    is_file = is_there(model) and model.is_file() and (suffix or model.suffix != ".tflite")
    name = (model.stem if is_file else model.name) or model.absolute().name
    if name == "..":
        name = model.resolve().name
    return Path(f"{name or 'model'}{suffix}.tflite")


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


def parse_shapes(texts: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Parses shapes of inputs by their names, each from ``NAME=1,2,3``."""
    return dict(parse_shape(text) for text in texts)


def check_given_or_drawn(inputs: Path | None) -> None:
    """Refuses inputs from a file together with options for drawn ones."""
    if inputs is not None and {"--seed", "--shape"} & given_parameters(click.get_current_context()).keys():
        raise click.BadParameter("--inputs excludes --seed and --shape")


def parse_shape(text: str, open_sizes: Collection[str] = ()) -> tuple[str, tuple[Any, ...]]:
    """Parses a shape from ``NAME=1,2,3``, where texts for sizes that stay open may stand, which become None."""
    name, _, sizes = text.rpartition("=")
    texts = [size.strip() for size in sizes.split(",") if size.strip()]
    if not name or not all(size in open_sizes or size.isdecimal() for size in texts):
        raise click.BadParameter(f"--shape takes NAME= and sizes, such as x=1,28,28, not {text!r}")
    return name, tuple(None if size in open_sizes else int(size) for size in texts)
