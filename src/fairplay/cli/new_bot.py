"""fairplay new-bot: write a bot to begin with, which plays legally as it is."""

import re
import shlex
from importlib.resources import files
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import click

from fairplay.cli.options.game import game_argument
from fairplay.core.errors import BadRequest
from fairplay.games import game_info, rules_of
from fairplay.kit.game import BoardGame
from fairplay.render.formatting import shell_quote
from fairplay.render.text import printable

BOT_NAME = re.compile(
    r"[\w.+ -]+"
)  # of a file: it stands in comments, and no language has a meaning for any of this there
SHELL_SAFE = re.compile(r"[\w./+:= '-]+")  # what stays as it is between two quotes, in any shell
PLACEHOLDER = re.compile(
    r"(?m)(^[^$\n]*|)\$(commands|game|name|class|part)\b"
)  # with what stands before it on its line
PATH, COMPILED, CLASS = "PATH", "MADE", "CLASS"  # in a command: the file, what is made of it, and the class in it
JAVA_COMMAND = ("java", "-Xmx256m", "-XX:+UseSerialGC")  # with little memory and few threads, whatever the machine has


class Language(NamedTuple):
    """How bots are called, compiled and run."""

    suffix: str
    run_command: tuple[str, ...]  # the words of the command that plays; none: the file or program is a player as it is
    compile_command: tuple[str, ...] = ()


LANGUAGES = {
    "python": Language(".py", ()),
    "js": Language(".js", ("node", PATH)),
    "java": Language(".java", (*JAVA_COMMAND, "-cp", COMPILED, CLASS), ("javac", "-d", COMPILED, PATH)),
    "c": Language(".c", (), ("gcc", "-O2", "-o", COMPILED, PATH)),
    "go": Language(".go", (), ("go", "build", "-o", COMPILED, PATH)),
}
LANGUAGE_BY_SUFFIX = {language.suffix: name for name, language in LANGUAGES.items()}


@click.command("new-bot")
@game_argument()
@click.argument("path", metavar="[FILE]", required=False, type=click.Path())
@click.option("--language", type=click.Choice(list(LANGUAGES)), help="By the ending of FILE if not given, or python.")
def new_bot(game: str, path: str | None, language: str | None) -> None:
    """Write a bot for GAME to begin with.

    It plays legally as it is, and says what to change. FILE is made anew, and never overwritten; if it is not named,
    the bot is called after its game.

    \b
    For example:
      fairplay new-bot fish
      fairplay new-bot q my_bot.js
      fairplay new-bot tsuro --language java
    """
    rules_of(game)
    language = language_of(path, language)
    path = path or default_name(game, language)
    text = render_bot(game, language, Path(path).name)
    create_file(path, text)
    click.echo(f"{printable(path, len(path))} is written. It plays as it is; change it, and go on with:\n")
    for command in shell_commands(game, language, path):
        click.echo(f"  {command}")


def language_of(path: str | None, asked: str | None) -> str:
    """The language of a file. Raises BadRequest if there is none, or if it is not the one that was asked for."""
    if path is None:
        return asked or next(iter(LANGUAGES))
    ending = Path(path).suffix
    if ending not in LANGUAGE_BY_SUFFIX:
        raise BadRequest(
            f"{path}: name a file that ends with {', '.join(LANGUAGE_BY_SUFFIX)}: that is the language of the bot"
        )
    if asked not in (None, LANGUAGE_BY_SUFFIX[ending]):
        raise BadRequest(
            f"{path} would be in {LANGUAGE_BY_SUFFIX[ending]}, not in {asked}: leave --language or the name out"
        )
    if not BOT_NAME.fullmatch(Path(path).name):
        raise BadRequest(f"{path}: name a file by letters, digits, spaces and any of . _ - +")
    return LANGUAGE_BY_SUFFIX[ending]


def default_name(game: str, language: str) -> str:
    """What a bot is called if nobody says."""
    ending = LANGUAGES[language].suffix
    return f"{class_name(game)}{ending}" if language == "java" else f"{game}_bot{ending}"


def class_name(game: str) -> str:
    """What a bot is called where it is a class."""
    return f"{rules_of(game).__name__}Bot"


def render_bot(game: str, language: str, name: str) -> str:
    """The text of a bot in a file of this name: a skeleton with the game's part in it; in Python the part is all."""
    file, rules = f"bot{LANGUAGES[language].suffix}", rules_of(game)
    homes = [rules.__module__.rpartition(".")[0]]  # a game of somebody else's may be one file
    homes += ["fairplay.kit"] if issubclass(rules, BoardGame) else []
    known = (files(home) / "bots" / file for home in homes if home)
    knows = next((part for part in known if part.is_file()), None)
    if knows is None:
        raise BadRequest(f"{game} brings no bot in {language} to begin with; docs/protocol.md says what one has to do")
    part = knows.read_text(encoding="utf-8")
    skeleton = files("fairplay.cli") / "bot_templates" / file
    text = skeleton.read_text(encoding="utf-8") if skeleton.is_file() else part
    lines, values = shell_commands(game, language, name), {"game": rules.__name__, "name": game}
    values |= {"class": class_name(game), "part": part.rstrip("\n")}

    def filled(blank: re.Match[str]) -> str:
        before, what = blank.groups()
        return "\n".join(before + line for line in (lines if what == "commands" else [values[what]]))

    return PLACEHOLDER.sub(filled, text)


def shell_commands(game: str, language: str, path: str) -> list[str]:
    """What to do with a bot in a file, as a shell takes it: compile it if need be, try it out, and play."""
    ending, runs, compiles = LANGUAGES[language]
    path = f"./{path}" if path.startswith("-") else path
    words = {PATH: path, COMPILED: path.removesuffix(ending), CLASS: class_name(game)}
    player = words[COMPILED if compiles else PATH]
    player = shell_quote(player if "/" in player else f"./{player}")
    if runs:
        line = shlex.join(words.get(word, word) for word in runs)
        player = f'exec:"{line}"' if SHELL_SAFE.fullmatch(line) else shell_quote(f"exec:{line}")
    shelf = game_info(game)
    server = [name for name, one in shelf.built_in.items() if not one.is_slow]
    others = islice(cycle(server[1:] or server), shelf.rules.seats[0] - 1)
    return [
        *([" ".join(shell_quote(words.get(word, word)) for word in compiles)] if compiles else []),
        " ".join(["fairplay check-bot", game, player, *shelf.option]),
        " ".join(["fairplay play", game, f"me={player}", *others, *shelf.option]),
    ]


def create_file(path: str, text: str) -> None:
    """Make a new file. Raises BadRequest if there is one already, or if it cannot be made."""
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        raise BadRequest(f"{path} is there already, and stays as it is: name another file") from None
    except OSError as error:
        raise BadRequest(f"{path} cannot be written: {error.strerror}") from None
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:  # the disk is full, say: half a bot would be in the way
        Path(path).unlink(missing_ok=True)
        raise BadRequest(f"{path} cannot be written: {error.strerror}") from None
