"""The options that all commands take, which ``litefuse --help`` lists once, and answers to former names."""

from __future__ import annotations

import shlex
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import cloup
from click.shell_completion import CompletionItem

from litefuse.support.files.readable import MODEL_FILES, is_there, os_errors
from litefuse.tools.cli.arguments import ALL_COMMANDS, command_name
from litefuse.tools.cli.json_output import JsonOutput

if TYPE_CHECKING:
    import logging

#: The path of what is written here while the command runs, which no URL can be.
PLACE: Any = click.Path(path_type=Path)
SECONDS = click.FloatRange(min=0, min_open=True)

LEVEL_VARIABLE = "LITEFUSE_LOG"
_LEVELS = ("debug", "info", "warning", "error")


class Choice(click.Choice):  # pyright: ignore[reportMissingTypeArgument]  older releases of click take none
    """A choice that says which of its values was meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return cast("Any", super()).convert(value, param, ctx)
        except click.BadParameter as error:
            from litefuse.support.options.names import closest  # for messages alone

            told = f"{error.message} {closest([str(value)], cast('Any', self).choices)}".strip()
            raise click.BadParameter(told, ctx, param) from None


#: Former names of commands.
FORMER_COMMANDS = {
    "cache": "doctor cache",
    "fusions": "doctor fusions",
    "schema": "doctor schema",
    "show": "report MODEL.tflite --explorer",
}


def parse_size(text: str | int) -> int:
    """Parses a number of bytes, such as 1000, 512M or 2G."""
    from litefuse.support.options.limits import parsed_bytes

    size = parsed_bytes(str(text))
    if size is None:
        raise click.BadParameter(f"{text!r} is not a number of bytes above 0, such as 512M or 2G")
    return size


def options_of_all_commands(*, hidden: bool = True) -> list[click.Option]:
    """Returns the options that each command takes, before or after its name.

    Args:
        hidden: Whether they are left out of the help.
    """

    def option(*names: str, **attributes: Any) -> click.Option:
        return click.Option(list(names), expose_value=False, hidden=hidden, callback=_remember, **attributes)

    return [
        option("--quiet", "-q", is_flag=True, help="Print nothing but errors."),
        option(
            "--json",
            is_flag=True,
            is_eager=True,
            help="Print the result, or the error, as one JSON document to standard output, and nothing else.",
        ),
        option(
            "--timeout",
            type=SECONDS,
            metavar="SECONDS",
            help="Stop a conversion, or whatever runs a model, after this time; in batch, each model's; in check and "
            "export-micro, each target's.",
        ),
        option(
            "--memory",
            type=parse_size,
            metavar="BYTES",
            help="Stop if a process needs more memory than this, such as 2G; mapped files do not count. Linux only.",
        ),
        option("--verbose", "-v", count=True, help="Log events to standard error; -vv: all steps."),
        option(
            "--log-level",
            type=Choice(_LEVELS),
            envvar=LEVEL_VARIABLE,
            help="Log events of this level and above; -v is info, -vv is debug.",
        ),
        option(
            "--log-file",
            type=PLACE,
            metavar="FILE",
            envvar=f"{LEVEL_VARIABLE}_FILE",
            help="Append events to this file: info and above, unless --log-level is given.",
        ),
        option(
            "--log-format",
            type=Choice(["text", "json"]),
            default="text",
            show_default=True,
            envvar=f"{LEVEL_VARIABLE}_FORMAT",
            help="Write each event as a line of text, or as a JSON object.",
        ),
        option("--debug", is_flag=True, envvar="LITEFUSE_DEBUG", help="Print the traceback of an error."),
    ]


def value_for_all(name: str, context: click.Context | None = None) -> Any:
    """Returns the value of an option of all commands for the running one, by the option's name in Python."""
    return (context or click.get_current_context()).meta.get(ALL_COMMANDS, {}).get(name)


def _remember(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    context.meta.setdefault(ALL_COMMANDS, {})[parameter.name] = value
    if parameter.name == "json" and value and not context.resilient_parsing:
        JsonOutput.of(context).ask(context)
    return value


class Command(cloup.Command):
    """A command with the options of all commands."""

    def __init__(self, *arguments: Any, params: Sequence[click.Parameter] | None = None, **attributes: Any) -> None:
        own = {parameter.name for parameter in params or ()}
        more = [option for option in options_of_all_commands() if option.name not in own]
        super().__init__(*arguments, params=[*(params or ()), *more], **attributes)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words, ctx.allow_extra_args = [*args], True  # they are answered below
        with former_names_answered(ctx):
            extra = super().parse_args(ctx, args)
        if ctx.resilient_parsing:
            return extra
        if extra:
            told = f"Got unexpected extra argument ({extra[0]}). {self._meant_by(extra[0])}"
            raise click.UsageError(told.strip(), ctx)
        _, _, order = self.make_parser(ctx).parse_args(words)
        for option in (param for param in order if isinstance(param, click.Option) and order.count(param) > 1):
            if not (option.multiple or option.count or option.hidden or (option.is_flag and not option.secondary_opts)):
                more = " litefuse batch makes several forms." if option.name == "quantize" and self.name != "lm" else ""
                raise click.UsageError(f"{max(option.opts, key=len)} is given twice, but takes one value.{more}", ctx)
        return extra

    def option_with(self, value: str) -> str:
        """Returns the first option that takes a value, with it; empty if none does."""
        from litefuse.support.options.names import OTHER_VALUES  # for messages alone

        value = OTHER_VALUES.get(value, value)
        taking = (param for param in self.params if value in getattr(param.type, "choices", ()))
        return next((f"{max(param.opts, key=len)} {value}" for param in taking), "")

    def _meant_by(self, word: str) -> str:
        """Returns what to write for an extra argument; empty if that is unknown."""
        if option := self.option_with(word):
            return f"Write: {option}"
        names = {"--inputs", "--samples"} if word.endswith(".npz") and is_there(word) else {"--output"}
        options = (min(param.opts, key=len) for param in self.params if names & {*param.opts})
        if not (option := next(options, "")) or Path(word).suffix.lower() in MODEL_FILES:
            return ""
        return f"To {'write' if option == '-o' else 'read'} it: {option} {shlex.quote(word)}"

    def invoke(self, ctx: click.Context) -> Any:
        with all_options_applied(ctx):
            return super().invoke(ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        options = [option for option in options_of_all_commands() if incomplete.startswith("-")]
        names = [CompletionItem(name, help=option.help) for option in options for name in option.opts]
        return super().shell_complete(ctx, incomplete) + [item for item in names if item.value.startswith(incomplete)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        formatter.write("\nOptions of all commands, such as --json, --quiet and --timeout: litefuse --help\n")


class Group(cloup.Group):
    """A group of commands: it hands the options of all commands that stand before a command's name to the command."""

    command_class = Command
    lists_them = False

    def __init__(self, *arguments: Any, params: Sequence[click.Parameter] | None = None, **attributes: Any) -> None:
        more = options_of_all_commands(hidden=not self.lists_them)
        super().__init__(*arguments, params=[*(params or ()), *more], **attributes)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            with former_names_answered(ctx):
                rest = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            behind = [arg for arg in args if arg in self.list_commands(ctx)]
            commands = (self.get_command(ctx, name) for name in behind[:1])
            if any(error.option_name in option.opts for command in commands if command for option in command.params):
                told = f"{error.option_name} is an option of {behind[0]}: write it behind the command."
                raise click.UsageError(told, ctx=ctx) from None
            raise
        ctx.args = [*_given(ctx, self.params), *ctx.args]
        return rest


def _given(context: click.Context, parameters: list[click.Parameter]) -> list[str]:
    """Returns the options of all commands that were given to a group, as words."""
    words: list[str] = []
    for parameter in parameters:
        value = value_for_all(parameter.name or "", context)
        if not value or context.get_parameter_source(parameter.name or "") != click.core.ParameterSource.COMMANDLINE:
            continue
        is_flag = isinstance(parameter, click.Option) and (parameter.is_flag or parameter.count)
        words += [parameter.opts[0]] * int(value) if is_flag else [parameter.opts[0], str(value)]
    return words


@contextmanager
def former_names_answered(context: click.Context) -> Generator[None]:
    """Has a former name of an option answered with the present one, and a lacking value with an example."""
    try:
        yield
    except click.NoSuchOption as error:
        from litefuse.support.options.names_elsewhere import former_flag  # for messages alone

        name = error.option_name
        own = {option for parameter in context.command.params for option in parameter.opts}
        if not (now := former_flag(command_name(context), name, own)):
            raise
        raise click.UsageError(f"{name} is now {now}.", ctx=context) from None
    except click.BadOptionUsage as error:
        told = [_values(option) for option in context.command.params if error.option_name in option.opts]
        message = f"{error.message.rstrip('.')}{''.join(told)}."
        raise click.BadOptionUsage(error.option_name, message, ctx=context) from None


def _values(option: click.Parameter) -> str:
    """Returns an example of an option's values, or their form where that shows none; empty for a flag."""
    if isinstance(option, click.Option) and (option.is_flag or option.count):
        return ""
    if choices := getattr(option.type, "choices", ()):
        return f", such as {next(iter(choices))}"
    form = option.metavar or option.type.name.upper()
    example = form.partition("|")[0]
    return f", such as {example}" if example.islower() else f": {form}"


@contextmanager
def all_options_applied(context: click.Context) -> Generator[None]:
    """Has the options of all commands their effect on the running command."""
    if value_for_all("json", context):
        from litefuse.tools.documents.document import COMMANDS

        if command_name(context) not in COMMANDS:
            raise click.UsageError(f"{context.command_path} prints no JSON.", ctx=context)
    timeout, memory = value_for_all("timeout", context), value_for_all("memory", context)
    with ExitStack() as stack:
        stack.enter_context(_logging(context))
        if timeout is not None or memory is not None:
            from litefuse.support.processes.limits import ProcessLimits, processes_limited

            stack.enter_context(processes_limited(ProcessLimits(timeout, memory)))
        yield


@contextmanager
def _logging(context: click.Context) -> Generator[None]:
    """Shows events as the options say; without any, warnings that the command does not print itself."""
    from litefuse.support.logs.events import silent_by_default
    from litefuse.support.logs.records import JsonFormatter, TextFormatter

    file: Path | None = value_for_all("log_file", context)
    verbosity = min(value_for_all("verbose", context) or 0, 2)
    level = value_for_all("log_level", context) or ("", "info", "debug")[verbosity]
    handler = _handler(file, context) if file is not None else _terminal(everything=bool(level))
    handler.setFormatter(JsonFormatter() if value_for_all("log_format", context) == "json" else TextFormatter())
    handler.handleError = lambda record: None  # noqa: ARG005  a full disk must not end the work
    logger = silent_by_default()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel((level or ("warning" if file is None else "info")).upper())
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        handler.close()


def _handler(file: Path, context: click.Context) -> logging.Handler:
    import logging

    from litefuse.tools.cli.output import check_writable

    paths = [param for param in context.params.values() if isinstance(param, Path)]
    check_writable(file, "the log", reads=paths, option="--log-file")
    with os_errors("the log cannot be written", file):
        return logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")


def _terminal(*, everything: bool) -> logging.Handler:
    import logging
    import sys

    handler = logging.StreamHandler(sys.stderr)
    if not everything:
        handler.addFilter(lambda record: not getattr(record, "told", False))
    return handler
