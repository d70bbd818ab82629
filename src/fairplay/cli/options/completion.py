"""Complete command lines in shells: games, players, parameters, and matches.

The name of a parameter tells how to complete it, so that commands need no code for this. Errors are ignored, as the
user is typing.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class

from fairplay.cli.options.journals import search_journals
from fairplay.core.errors import FairplayError
from fairplay.games import EXTERNAL_GAMES, GAMES, external_names, game_info, is_known, rules_of
from fairplay.journal.files import open_journal_file

MAX_SUGGESTED_FILES = 50  # with more journals the shell completes files
PLAIN_NAME = re.compile(r"[\w.-]*[^\W\d][\w.-]*")  # a name that needs no quotes; other seats are completed by number
MAX_OPENING_BYTES = 64 * 1024
UNQUOTED = re.compile(r"[\w./@+,=:-]*")  # text that needs no quotes; the shell completes other files
WORD_BREAKS = "=:"  # where bash splits a word, which is joined here again
EXTERNAL_PLAYERS = ("human", "exec:", "tcp:", "ws:", "py:")
BASH_SCRIPT = """\
%(complete_func)s() {
    local IFS=$'\\n' line type value
    local words="${COMP_WORDS[*]}"
    while IFS= read -r line; do
        type=${line%%%%,*} value=${line#*,}
        case $type in
            dir) COMPREPLY=(); compopt -o dirnames;;
            file) COMPREPLY=(); compopt -o default;;
            plain) COMPREPLY+=("$value");;
        esac
    done < <(env COMP_WORDS="$words" COMP_CWORD=$COMP_CWORD %(complete_var)s=bash_complete "$1" 2>/dev/null)
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:] ]] && compopt -o nospace
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

FindSuggestions = Callable[[click.Context, str], Iterator[str]]  # (the command line so far, the typed text) -> words


class BashCompletion(BashComplete):
    """Completion for bash, which splits words at = and : first."""

    source_template = BASH_SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before, and the typed text."""
        words: list[str] = []
        glue = False
        args, begun = super().get_completion_args()
        for word in (*args, begun):
            parts = bool(word) and not word.strip(WORD_BREAKS)
            if words and (glue or parts):
                words[-1] += word
            else:
                words.append(word)
            glue = parts
        option, equals, value = words[-1].partition("=")
        self._incomplete = value if equals and option.startswith("-") else words[-1]
        return words[:-1], words[-1]

    def format_completion(self, item: CompletionItem) -> str:
        """The part of a word after the last place where bash splits it."""
        before = max(self._incomplete.rfind(sign) for sign in WORD_BREAKS) + 1
        return f"{item.type},{str(item.value)[before:] if item.type == 'plain' else item.value}"


class SuggestedValue(click.ParamType[Any]):
    """A parameter with suggestions; without any, the shell completes files."""

    name = "text"

    def __init__(self, find: FindSuggestions) -> None:
        self._find = find

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The suggestions that begin with the typed text."""
        found = [word for word in self._find(ctx, incomplete) if word.startswith(incomplete) or self._find is journals]
        return [CompletionItem(word) for word in found if UNQUOTED.fullmatch(word)] or [
            CompletionItem(incomplete, type="file")
        ]


def answer_shell(command: click.Command) -> None:
    """Print the suggestions for the shell, and exit."""
    add_completion_class(BashCompletion)
    with suppress(Exception):
        command.main(prog_name="fairplay", standalone_mode=False)
    sys.exit(0)


def add_suggestions(command: click.Command) -> click.Command:
    """Add suggestions to the parameters of a command."""
    for param in command.params:
        kind = "argument" if isinstance(param, click.Argument) else "option"
        find = FINDERS.get((kind, param.name or ""))
        if find is not None and isinstance(param.type, click.types.StringParamType | click.Path):
            param.type = SuggestedValue(find)
    for other in command.commands.values() if isinstance(command, click.Group) else ():
        add_suggestions(other)
    return command


def games(_: click.Context, __: str) -> Iterator[str]:
    """All games."""
    yield from GAMES
    yield from external_names()


def players(ctx: click.Context, begun: str) -> Iterator[str]:
    """The players of the game on the command line or of the journal, with the typed label."""
    label, equals, _ = begun.rpartition("=")
    game = game_from_context(ctx) or read_game(ctx.params.get("file"))
    external = ("human", "exec:", "py:") if ctx.command.name == "join" else EXTERNAL_PLAYERS
    for name in (*(game_info(game).built_in if is_known(game) else ()), *external):
        yield f"{label}{equals}{name}"


def parameters(ctx: click.Context, begun: str) -> Iterator[str]:
    """The parameters of the game as NAME=, or as NAME=VALUE once the name is typed."""
    name, equals, __ = begun.partition("=")
    rules = rules_of(game_from_context(ctx))
    about = {parameter: words for parameter, words in rules.parameter_descriptions().items() if words}
    if not equals:
        yield from (f"{parameter}=" for parameter in about)
    elif name in about:
        values = [*choices(get_type_hints(rules)[name]), format_value(rules().parameters()[name])]
        yield from (f"{name}={value}" for value in dict.fromkeys(values))


def choices(hint: Any) -> Iterator[str]:
    """The values of a type, as far as it lists them."""
    if hint is bool:
        yield from ("true", "false")
    for value in get_args(hint):
        if get_origin(hint) is Literal:
            yield format_value(value)
        else:
            yield from choices(value)


def format_value(value: Any) -> str:
    """A value of a parameter as text."""
    return value if isinstance(value, str) else json.dumps(value)


def limits(_: click.Context, begun: str) -> Iterator[str]:
    """The names of time limits that were not typed yet."""
    from fairplay.protocol.limits import LIMIT_NAMES  # imported late for a quick start

    before = begun[: begun.rfind(",") + 1]
    yield from (f"{before}{name}=" for name in LIMIT_NAMES if f"{name}=" not in before)


def journals(_: click.Context, begun: str) -> Iterator[str]:
    """The paths of journals in or below the current directory, or in a typed one."""
    directory, slash, start = begun.rpartition("/")
    files = search_journals(Path(directory or slash or "."), start, below=not slash)
    found = list(islice(files, MAX_SUGGESTED_FILES + 1))
    if len(found) <= MAX_SUGGESTED_FILES:
        yield from sorted(str(path) for path in found)


def matches(ctx: click.Context, begun: str) -> Iterator[str]:
    """The ids of the matches in a directory."""
    found = (path.stem for path in Path(str(ctx.params.get("directory"))).glob(f"{begun}*.jsonl"))
    yield from sorted(islice(found, MAX_SUGGESTED_FILES))


def seats(ctx: click.Context, _: str) -> Iterator[str]:
    """The seats of the journal on the command line, by name or number."""
    words = (ctx.params.get("file"), *os.environ.get("COMP_WORDS", "").split())
    for file in filter(os.path.isfile, filter(None, words)):
        for seat, name in enumerate(read_names(file)):
            yield name if PLAIN_NAME.fullmatch(name) else str(seat)
        return


FINDERS: dict[tuple[str, str], FindSuggestions] = {
    ("argument", "game"): games,
    ("argument", "player"): players,
    ("argument", "players"): players,
    ("argument", "others"): players,
    ("option", "parameters"): parameters,
    ("option", "limit"): limits,
    ("argument", "file"): journals,
    ("argument", "files"): journals,
    ("argument", "id"): matches,
    ("option", "seat"): seats,
    ("option", "whose"): seats,
}


def game_from_context(ctx: click.Context) -> str:
    """The game on the command line, also if click could not parse it because of an incomplete option."""
    words = (ctx.params.get("game"), *os.environ.get("COMP_WORDS", "").split())
    return next((found for found in words if found in GAMES or found in EXTERNAL_GAMES), "")


def read_game(file: object) -> str:
    """The game of the match in a journal; empty: unknown."""
    with suppress(OSError, ValueError, FairplayError), open_journal_file(str(file)) as lines:
        opening = json.loads(lines.readline(MAX_OPENING_BYTES))
        return str(opening.get("game", "")) if isinstance(opening, dict) else ""
    return ""


def read_names(file: str) -> list[str]:
    """The names in a journal: of its line `seated`, or of its opening."""
    names: list[str] = []
    with suppress(OSError, ValueError, AttributeError, FairplayError), open_journal_file(file) as lines:
        for _ in range(2):
            names = [str(name) for name in json.loads(lines.readline(MAX_OPENING_BYTES)).get("names") or names]
    return names
