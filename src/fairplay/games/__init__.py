"""Look up games by name, with their rules, built-in players, pictures and notation."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from fairplay.core.game import Game
from fairplay.core.roles import BuiltInPlayer, Cheat, Rated

GAMES = {"fish": "Fish", "tsuro": "Tsuro", "q": "Q"}  # the directory of each game, and what its rules are called there

Rules = type[Game[Any, Any, Any]]


class ExternalGame(NamedTuple):
    """A game that is not part of fairplay."""

    rules: Rules
    source: str  # how another process loads it: the name of an installed game, py:module:Name, or "" if it cannot


EXTERNAL_GAMES: dict[str, ExternalGame] = {}  # the registry of this process, by name; `registry` fills it


def no_looks(_: Any) -> tuple[()]:
    """No piece of this game belongs to a player."""
    return ()


def identity(one: Any, _: Any) -> Any:
    """The default of `preview` and `game_for_state`: what was passed in."""
    return one


PARTS: dict[str, tuple[Any, ...]] = {  # by attribute of GameInfo: the file, the name in it, perhaps a default
    "built_in": ("strategies", "BUILT_IN"),
    "ladder": ("strategies", "LADDER", ()),
    "ratings": ("ratings", "RATINGS", {}),
    "text": ("terminal", "text"),
    "svg": ("draw", "svg"),
    "looks": ("roster", "looks", no_looks),
    "format_action": ("notation", "format_action"),
    "parse_action": ("notation", "parse_action"),
    "help": ("notation", "HELP"),
    "preview": ("notation", "preview", identity),
    "examples": ("examples", "EXAMPLES"),
    "quick": ("examples", "QUICK", {}),
    "game_for_state": ("examples", "game_for_state", identity),
    "cheats": ("cheats", "CHEATS"),
    "rare_cheats": ("cheats", "RARE_CHEATS", frozenset()),
}


class GameInfo:
    """The rules of a game and all its other parts, each loaded when it is first needed.

    An external game is one module, which may define all of these parts too; the kit has defaults for the others.
    """

    rules: Rules
    built_in: Mapping[str, BuiltInPlayer]  # by name
    ladder: Sequence[str]  # addresses of the built-in players to rate; empty: see benchmarks/ladders
    ratings: Mapping[str, Rated]  # measured ratings by address, the strongest first
    text: Callable[..., str]  # (view, names, *, colour, width, height, before) -> lines, changes since `before` marked
    svg: Callable[..., str]  # (view, names, *, before, around, dark, small) -> a picture; changes since `before` are
    # marked, and there is room for the board of `around`, a later view
    looks: Callable[[Any], Sequence[Any]]  # (view) -> the Look of each seat's pieces; empty: no piece has an owner
    format_action: Callable[[Any], str]  # (action) -> what a person types for it
    parse_action: Callable[[Any, str], Any]  # (view, words) -> the action that a person typed, or BadRequest
    help: str  # what can be typed
    preview: Callable[[Any, Any], Any]  # (view, action) -> what its player would see right after it, as far as it knows
    examples: Mapping[str, Any]  # states by name, for tests and pictures
    quick: Mapping[str, Any]  # parameters for a short match
    game_for_state: Callable[
        [Any, Any], Game[Any, Any, Any]
    ]  # (game, state) -> the game with parameters that fit the state
    cheats: Mapping[str, Cheat]  # by names that no other game has
    rare_cheats: frozenset[str]  # cheats that are not possible from the start on

    def __init__(self, name: str) -> None:
        self.rules = rules_of(name)
        self._name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return game_info, (self._name,)  # so that a copy from another process is the same object again

    def __getattr__(self, name: str) -> Any:
        if name not in PARTS:
            raise AttributeError(f"GameInfo has no attribute {name!r}")
        if self._name in GAMES:
            value = self._from_package(*PARTS[name])
        else:
            from fairplay.games.registry import external_part  # start-up: only external games need it

            value = external_part(self.rules, name, *PARTS[name])
        setattr(self, name, value)
        return value

    def _from_package(self, file: str, inside: str, *otherwise: Any) -> Any:
        module = f"{__name__}.{self._name}.{file}"
        try:
            return getattr(import_module(module), inside, *otherwise)
        except ModuleNotFoundError as error:
            if error.name != module or not otherwise:
                raise
            return otherwise[0]

    @property
    def rule_book(self) -> str:
        """The rule book, as Markdown with numbered clauses."""
        if self._name in GAMES:
            from importlib.resources import files  # start-up: slow to import

            return files(f"{__name__}.{self._name}").joinpath("RULES.md").read_text(encoding="utf-8")
        from fairplay.kit.rule_book import rule_book

        return rule_book(self.rules)

    @property
    def source(self) -> str:
        """How another process loads it: its name, or py:module:Name. Empty: it exists in this process alone."""
        own = self._name if self.rules.__module__ == f"{__name__}.{self._name}.game" else ""
        return own if self._name in GAMES else external_game(self._name).source

    @property
    def option(self) -> tuple[str, ...]:
        """The option by which a command line names it: --game py:module:Name, unless its name is enough."""
        return ("--game", self.source) if self.source.startswith("py:") else ()

    @property
    def has_news(self) -> bool:
        """Are players ever told anything between turns?"""
        return self.rules.news is not Game.news


@cache
def game_info(name: str) -> GameInfo:
    """The game of this name; there is only one."""
    return GameInfo(name)


def make_game(name: str, parameters: Mapping[str, Any]) -> Game[Any, Any, Any]:
    """The game of this name with these parameters; numbers may be given as text.

    >>> make_game("fish", {"rows": "5"})
    Fish(rows=5, columns=8, fish='random', holes=0, colours='fixed', cramped=False)
    """
    return rules_of(name).with_parameters(parameters)


def rules_of(name: str) -> Rules:
    """The rules of the game of this name.

    A name from a record or a message makes nothing be imported, except installed games: see `registry`.
    """
    if name not in GAMES:
        return external_game(name).rules
    rules: Rules = getattr(import_module(f"{__name__}.{name}.game"), GAMES[name])
    return rules


def external_game(name: str) -> ExternalGame:
    """An external game. Raises BadRequest if there is none."""
    if name not in EXTERNAL_GAMES:
        from fairplay.games import registry  # start-up: slow to import

        registry.register_installed(name)
    return EXTERNAL_GAMES[name]


def unknown_game_message(name: str) -> str:
    """The error for a name that no game has."""
    from fairplay.render.formatting import suggestion  # start-up: only errors need it

    hint = suggestion(name, [*GAMES, *external_names()])
    own = "" if hint.endswith("?") else "; name your own game with --game py:module:Name"
    return f"there is no game {name!r}{hint}{own}"


def is_known(name: str) -> bool:
    """Is there a game of this name? True for one that cannot be loaded, too: loading it raises the reason."""
    return name in GAMES or name in external_names()


def external_names() -> list[str]:
    """The names of all external games, even of those that cannot be loaded."""
    from fairplay.games.registry import installed_games  # start-up: only external games need it

    return sorted({*EXTERNAL_GAMES, *installed_games()} - {*GAMES})


def register(game: str | Rules) -> str:
    """The name of a game; py:module:Name or a class is put into the registry of this process."""
    if isinstance(game, str) and not game.startswith("py:"):
        return game
    from fairplay.games import registry  # start-up: only external games need it

    known = (name for name, one in EXTERNAL_GAMES.items() if game in (one.source, one.rules))
    return next(known, "") or registry.load(game)


def game_options() -> tuple[str, ...]:
    """The --game options that name all games that were registered here by their addresses."""
    return tuple(word for name in EXTERNAL_GAMES for word in game_info(name).option)


def take_game_options(words: list[str]) -> list[str]:
    """Register the games that --game options at the end of a command line name; return the words before them."""
    while words[-2:-1] == ["--game"]:
        *words, _, source = words
        register(source)
    return words
