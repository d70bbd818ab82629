"""Create a bot from a template (fairplay new-bot)."""

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

BOT_NAME = re.compile(r"[\w.+ -]+")  # of a file: harmless in the comments of every language
SHELL_SAFE = re.compile(r"[\w./+:= '-]+")  # needs no escape between quotes, in any shell
PLACEHOLDER = re.compile(r"(?m)(^[^$\n]*|)\$(commands|game|name|class|part)\b")  # with the text before it on its line
PATH, COMPILED, CLASS = "PATH", "MADE", "CLASS"  # in a command: the file, the compiled file, and the class in it
JAVA_COMMAND = ("java", "-Xmx256m", "-XX:+UseSerialGC")  # with little memory and few threads on any machine


class Language(NamedTuple):
    """How bots of one language are named, compiled and run."""

    suffix: str
    run_command: tuple[str, ...]  # empty: the file or program is a player as it is
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
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    help="Write the bot in this language.  [default: by the suffix of FILE, or python]",
)
def new_bot(game: str, path: str | None, language: str | None) -> None:
    """Create a bot from a template.

    The bot plays legally as it is, and its comments say what to change. FILE must not exist; by default it is named
    after GAME.

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
    click.echo(f"{printable(path, len(path))} is written. It plays as it is. Change it, then run:\n")
    for command in shell_commands(game, language, path):
        click.echo(f"  {command}")


def language_of(path: str | None, asked: str | None) -> str:
    """The language of a file. Raises BadRequest if it is unknown, or differs from --language."""
    if path is None:
        return asked or next(iter(LANGUAGES))
    ending = Path(path).suffix
    if ending not in LANGUAGE_BY_SUFFIX:
        raise BadRequest(
            f"{path}: the suffix must be {', '.join(LANGUAGE_BY_SUFFIX)}, as it tells the language of the bot"
        )
    if asked not in (None, LANGUAGE_BY_SUFFIX[ending]):
        raise BadRequest(
            f"{path} would be in {LANGUAGE_BY_SUFFIX[ending]}, not in {asked}: leave out --language or FILE"
        )
    if not BOT_NAME.fullmatch(Path(path).name):
        raise BadRequest(f"{path}: use only letters, digits, spaces and . _ - + in the name of the file")
    return LANGUAGE_BY_SUFFIX[ending]


def default_name(game: str, language: str) -> str:
    """The default file of a bot."""
    ending = LANGUAGES[language].suffix
    return f"{class_name(game)}{ending}" if language == "java" else f"{game}_bot{ending}"


def class_name(game: str) -> str:
    """The class name of a bot."""
    return f"{rules_of(game).__name__}Bot"


def render_bot(game: str, language: str, name: str) -> str:
    """Render a bot: the template of the language with the game's part in it; in Python the part is everything."""
    file, rules = f"bot{LANGUAGES[language].suffix}", rules_of(game)
    homes = [rules.__module__.rpartition(".")[0]]  # an external game may be one file
    homes += ["fairplay.kit"] if issubclass(rules, BoardGame) else []
    known = (files(home) / "bots" / file for home in homes if home)
    knows = next((part for part in known if part.is_file()), None)
    if knows is None:
        raise BadRequest(f"{game} has no bot template in {language}; docs/protocol.md describes what a bot has to do")
    part = knows.read_text(encoding="utf-8")
    template = files("fairplay.cli") / "bot_templates" / file
    text = template.read_text(encoding="utf-8") if template.is_file() else part
    lines, values = shell_commands(game, language, name), {"game": rules.__name__, "name": game}
    values |= {"class": class_name(game), "part": part.rstrip("\n")}

    def fill(blank: re.Match[str]) -> str:
        before, what = blank.groups()
        return "\n".join(before + line for line in (lines if what == "commands" else [values[what]]))

    return PLACEHOLDER.sub(fill, text)


def shell_commands(game: str, language: str, path: str) -> list[str]:
    """The shell commands for a bot in a file: compile it if needed, check it, and play."""
    ending, runs, compiles = LANGUAGES[language]
    path = f"./{path}" if path.startswith("-") else path
    words = {PATH: path, COMPILED: path.removesuffix(ending), CLASS: class_name(game)}
    player = words[COMPILED if compiles else PATH]
    player = shell_quote(player if "/" in player else f"./{player}")
    if runs:
        line = shlex.join(words.get(word, word) for word in runs)
        player = f'exec:"{line}"' if SHELL_SAFE.fullmatch(line) else shell_quote(f"exec:{line}")
    info = game_info(game)
    built_in = [name for name, one in info.built_in.items() if not one.is_slow]
    others = islice(cycle(built_in[1:] or built_in), info.rules.seats[0] - 1)
    return [
        *([" ".join(shell_quote(words.get(word, word)) for word in compiles)] if compiles else []),
        " ".join(["fairplay check-bot", game, player, *info.option]),
        " ".join(["fairplay play", game, f"me={player}", *others, *info.option]),
    ]


def create_file(path: str, text: str) -> None:
    """Create a file. Raises BadRequest if it exists already, or cannot be written."""
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        raise BadRequest(f"{path} exists already and is not overwritten: choose another file") from None
    except OSError as error:
        raise BadRequest(f"{path} cannot be written: {error.strerror}") from None
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:  # a full disk would leave half a bot behind
        Path(path).unlink(missing_ok=True)
        raise BadRequest(f"{path} cannot be written: {error.strerror}") from None
