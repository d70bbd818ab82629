"""Find a game by its name, with all that comes with it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from fairplay.core.game import Game
from fairplay.core.roles import BuiltInPlayer, Cheat, Rated

GAMES = {"fish": "Fish", "tsuro": "Tsuro", "q": "Q"}  # the directory of each game, and what its rules are called there

Rules = type[Game[Any, Any, Any]]


class ExternalGame(NamedTuple):
    """A game that does not come with fairplay."""

    rules: Rules
    source: str  # what another process finds it by: its name if it is installed, py:module:Name, or "" if it cannot


EXTERNAL_GAMES: dict[str, ExternalGame] = {}  # the registry of this process, by name; `registry` fills it


def no_looks(_: Any) -> tuple[()]:
    """No piece of this game is anybody's."""
    return ()


def identity(one: Any, _: Any) -> Any:
    """No parameter of this game has to fit its states, and nothing of it is foreseen."""
    return one


PARTS: dict[str, tuple[Any, ...]] = {  # where what a title holds is found: the file, the name in it, or else what
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
    """A game as it stands on the shelf: what the files of its directory hold, each loaded when it is first asked for.

    A game of somebody else's is one module, which may hold all of this too; what it does not, the kit has.
    """

    rules: Rules
    built_in: Mapping[str, BuiltInPlayer]  # the players that come with it
    ladder: Sequence[str]  # those of them who are rated, by address; none: whoever is in benchmarks/ladders
    ratings: Mapping[str, Rated]  # how strong they are, by address, as far as that was measured; the strongest first
    text: Callable[..., str]  # (view, names, *, colour, width, height, before) -> for the terminal, what is new marked
    svg: Callable[..., str]  # (view, names, *, before, around, dark, small) -> a picture; what is new since `before` is
    # marked, and there is room for the board of `around`, which came of this one
    looks: Callable[[Any], Sequence[Any]]  # (view) -> the Look of everybody's pieces, by seat; none: nobody owns any
    format_action: Callable[[Any], str]  # (action) -> what a person types for it
    parse_action: Callable[[Any, str], Any]  # (view, words) -> the action that a person means, or BadRequest
    help: str  # what can be typed
    preview: Callable[[Any, Any], Any]  # (view, action) -> what its player would see right after it, as far as it knows
    examples: Mapping[str, Any]  # named states, which tests share
    quick: Mapping[str, Any]  # parameters for a match that is soon over
    game_for_state: Callable[
        [Any, Any], Game[Any, Any, Any]
    ]  # (game, state) -> the game with parameters that fit the state
    cheats: Mapping[str, Cheat]  # by names that no other game has
    rare_cheats: frozenset[str]  # cheats that are not possible from the start on

    def __init__(self, name: str) -> None:
        self.rules = rules_of(name)
        self._name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return game_info, (self._name,)  # so that a copy from another process is the same title again

    def __getattr__(self, name: str) -> Any:
        if name not in PARTS:
            raise AttributeError(f"a title has no {name!r}")
        if self._name in GAMES:
            value = self._from_package(*PARTS[name])
        else:
            from fairplay.games.registry import external_part  # start-up: only games of others need it

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
        """The rule book, as Markdown with numbered clauses; empty: nobody wrote one."""
        if self._name in GAMES:
            from importlib.resources import files  # which takes its time to load

            return files(f"{__name__}.{self._name}").joinpath("RULES.md").read_text(encoding="utf-8")
        from fairplay.kit.rule_book import rule_book

        return rule_book(self.rules)

    @property
    def source(self) -> str:
        """What another process finds it by: its name, or py:module:Name. Empty: it exists in this process alone."""
        own = self._name if self.rules.__module__ == f"{__name__}.{self._name}.game" else ""
        return own if self._name in GAMES else external_game(self._name).source

    @property
    def option(self) -> tuple[str, ...]:
        """The option by which a command line names it: --game py:module:Name, unless its name is enough."""
        return ("--game", self.source) if self.source.startswith("py:") else ()

    @property
    def has_news(self) -> bool:
        """Is anybody ever told anything between turns?"""
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
    """The rules of this name, without all that comes with them.

    Nothing is imported because of a name that a stranger chose, but for what is installed: see `registry`.
    """
    if name not in GAMES:
        return external_game(name).rules
    rules: Rules = getattr(import_module(f"{__name__}.{name}.game"), GAMES[name])
    return rules


def external_game(name: str) -> ExternalGame:
    """An external game. Raises BadRequest if there is none."""
    if name not in EXTERNAL_GAMES:
        from fairplay.games import registry  # which takes its time to load

        registry.register_installed(name)
    return EXTERNAL_GAMES[name]


def unknown_game_message(name: str) -> str:
    """What to say of a name that no game has."""
    from fairplay.render.formatting import suggestion  # start-up: only errors need it

    said = suggestion(name, [*GAMES, *external_names()])
    own = "" if said.endswith("?") else "; one of your own is named by --game py:module:Name"
    return f"there is no game {name!r}{said}{own}"


def is_known(name: str) -> bool:
    """Is there a game of this name? One that cannot be loaded is there, and whoever asks for it hears why not."""
    return name in GAMES or name in external_names()


def external_names() -> list[str]:
    """The names of all external games, of which perhaps not all can be loaded."""
    from fairplay.games.registry import installed_games  # start-up: only games of others need it

    return sorted({*EXTERNAL_GAMES, *installed_games()} - {*GAMES})


def register(game: str | Rules) -> str:
    """The name of a game. One that is given as py:module:Name or as a class is known by it here from now on."""
    if isinstance(game, str) and not game.startswith("py:"):
        return game
    from fairplay.games import registry  # start-up: only external games need it

    known = (name for name, one in EXTERNAL_GAMES.items() if game in (one.source, one.rules))
    return next(known, "") or registry.load(game)


def game_options() -> tuple[str, ...]:
    """The options by which a command line names all games that were registered here by their addresses."""
    return tuple(word for name in EXTERNAL_GAMES for word in game_info(name).option)


def take_game_options(words: list[str]) -> list[str]:
    """Register the games that such options name at the end of a command line; the words before them."""
    while words[-2:-1] == ["--game"]:
        *words, _, source = words
        register(source)
    return words
