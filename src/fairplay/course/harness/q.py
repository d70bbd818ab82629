"""Answer the course's test harnesses of Q: xmap, xlegal, xscore, xstrategy, and three that play whole games."""

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from msgspec import Meta

from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.core.game import Moment
from fairplay.core.match import Match
from fairplay.core.roles import Channel
from fairplay.course.formats import q as course
from fairplay.course.formats.frame import Frame
from fairplay.course.formats.plain import read
from fairplay.course.formats.q import CourseMap, CoursePlacement, CourseState, CourseTile, CourseView
from fairplay.games.q.actions import Place, Placement
from fairplay.games.q.board import cell_at, position_of, score_of
from fairplay.games.q.cheats import COURSE_CHEATS
from fairplay.games.q.draw import svg
from fairplay.games.q.game import Q
from fairplay.games.q.pieces import NAMES
from fairplay.games.q.strategies import RECIPES, STEPS, exchange_or_pass
from fairplay.observers.painter import Painter, WriteFile
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.observers import Observers
from fairplay.referee.referee import print_warning
from fairplay.testing.cheats import cheating_strategy
from fairplay.testing.hostile import HangingChannel, make_raising

METHOD_MOMENTS = {"setup": Moment.GREETING, "take-turn": Moment.TURN, "new-tiles": Moment.NEWS, "win": Moment.END}
Placements = tuple[CoursePlacement, ...]
Actors = list[Annotated[list[str | int], Meta(min_length=2, max_length=4)]]


def xmap(plain_map: Any, plain_tile: Any) -> list[Any]:
    """The places where a tile fits, by rows and columns."""
    on = read(plain_map, CourseMap, "a map of Q")
    kind = course.parse_kind(read(plain_tile, CourseTile, "a tile of Q"))
    frame = course.frame_for(on)
    frontier = course.parse_map(on, frame).frontier
    return [
        course.format_coordinate(position_of(cell), frame) for cell in sorted(frontier) if frontier[cell] >> kind & 1
    ]


def xlegal(plain_view: Any, plain_placements: Any) -> Any:
    """The map after a placement, or false if it is illegal."""
    asked: CourseView = read(plain_view, CourseView, "a public state of Q")
    placements: Placements = read(plain_placements, Placements, "placements of Q")
    frame = course.frame_for(asked.map, placements)
    view, action = course.parse_view(asked, frame), course.parse_choice(placements, frame)
    try:
        Q().check(view, action)
    except IllegalAction:
        return False
    kinds = [course.parse_kind(one.tile) for one in placements]
    return course.format_map(view.map.with_tiles(zip(placed_cells(placements, frame), kinds, strict=True)), frame)


def xscore(plain_map: Any, plain_placements: Any, *, q_bonus: int = 6) -> int:
    """The points for tiles that lie on the map already, without those for finishing."""
    on = read(plain_map, CourseMap, "a map of Q")
    placements: Placements = read(plain_placements, Placements, "placements of Q")
    frame = course.frame_for(on, placements)
    shown, cells = course.parse_map(on, frame), placed_cells(placements, frame)
    if not shown.tiles.keys() >= set(cells):  # the map tells which tiles they are
        raise BadRequest("not placements of Q that can be scored: the tiles must lie on the map already")
    return score_of(shown, cells, q_bonus)


def placed_cells(placements: Placements, frame: Frame) -> list[int]:
    """The cells of these placements."""
    return [cell_at(frame.to_ours(one.coordinate.row, one.coordinate.column)) for one in placements]


def xstrategy(one: Any, other: Any) -> Any:
    """The first placement of a strategy; the values come in either order."""
    name, plain = (one, other) if isinstance(one, str) else (other, one)
    if not isinstance(name, str) or name not in STEPS:
        raise BadRequest(f"there is no strategy {name!r} of Q; there is {', '.join(STEPS)}")
    asked: CourseView = read(plain, CourseView, "a public state of Q")
    frame = course.frame_for(asked.map)
    view = course.parse_view(asked, frame)
    found = STEPS[name](view.map, view.kinds)
    if found is None:
        return course.format_choice(exchange_or_pass(view))
    cell, kind = found
    [placement] = course.format_choice(Place((Placement(NAMES[kind], position_of(cell)),)), frame)
    return placement


def xgames(plain_state: Any, plain_actors: Any, *, q_bonus: int = 6, finish_bonus: int = 6) -> list[list[str]]:
    """The winners and misbehaving players of a game from a state, with the bonuses of the first editions."""
    return play_game(plain_state, plain_actors, q_bonus, finish_bonus)


def xbaddies(plain_state: Any, plain_actors: Any, *, q_bonus: int = 8, finish_bonus: int = 4) -> list[list[str]]:
    """The winners and misbehaving players of a game from a state, with the bonuses of later editions."""
    return play_game(plain_state, plain_actors, q_bonus, finish_bonus)


def xgames_with_observer(
    plain_state: Any, plain_actors: Any, *, q_bonus: int = 8, finish_bonus: int = 4, show: WriteFile | None = None
) -> list[list[str]]:
    """Like xbaddies; `show` writes every state of the game."""
    return play_game(plain_state, plain_actors, q_bonus, finish_bonus, show)


def play_game(
    plain_state: Any, plain_actors: Any, q_bonus: int, finish_bonus: int, show: WriteFile | None = None
) -> list[list[str]]:
    """The sorted names of the winners, and those of misbehaving players in the order of their ejections."""
    rules = Q.with_parameters({"q_bonus": q_bonus, "finish_bonus": finish_bonus})
    asked: CourseState = read(plain_state, CourseState, "a state of Q")
    actors: list[list[str | int]] = read(plain_actors, Actors, "a list of actors of Q")
    count = len(actors)
    if count != len(asked.players) or not 1 <= count <= max(rules.seats):  # the course allows a single player
        raise BadRequest(
            f"expected one to four players, each with an actor, not {len(asked.players)} with {count} actors"
        )
    frame = course.frame_for(asked.map)
    names = tuple(str(actor[0]) for actor in actors)
    match = Match(rules, course.parse_state(asked, frame), names)
    table = [make_channel(actor, rules) for actor in actors]
    observers = Observers(
        [] if show is None else [Painter(show, lambda match, before: render_state(match, before, frame))], print_warning
    )
    result = play(match, table, on_event=observers.notify).result
    winners = result.ranking[0] if result.ranking else frozenset()
    return [sorted(names[seat] for seat in winners), [names[ejected.seat] for ejected in result.ejected]]


def render_state(match: AnyMatch, before: AnyMatch | None, frame: Frame) -> dict[str, str]:
    """Files that show the state of a match, by suffix."""
    last = None if before is None else before.view(None)
    picture = svg(match.view(None), match.names, before=last, hands=match.state.hands)
    return {
        "svg": picture,
        "json": json.dumps(course.format_state(match.state, match.names, frame), separators=(",", ":")),
    }


def make_channel(actor: list[str | int], rules: Q) -> Channel:
    """A channel to the player of an actor, which may misbehave like those of the course."""
    match actor:
        case [str(), str(name)] if name in RECIPES:
            return LocalChannel(RECIPES[name], rules)
        case [str(), str(name), "a cheat", str(cheat)] if name in RECIPES and cheat in COURSE_CHEATS:
            return LocalChannel(cheating_strategy(COURSE_CHEATS[cheat], RECIPES[name]), rules)
        case [str(), str(name), str(method)] if name in RECIPES and method in METHOD_MOMENTS:
            return make_raising(METHOD_MOMENTS[method]).make_channel(RECIPES[name], rules)
        case [str(), str(name), str(method), int(count)] if name in RECIPES and method in METHOD_MOMENTS and count > 0:
            return HangingChannel(LocalChannel(RECIPES[name], rules), METHOD_MOMENTS[method], count)
    raise BadRequest(f"not an actor of Q: {actor}")


HARNESSES: Mapping[str, Callable[..., Any]] = {
    "xmap": xmap,
    "xlegal": xlegal,
    "xscore": xscore,
    "xstrategy": xstrategy,
    "xgames": xgames,
    "xgames-with-observer": xgames_with_observer,
    "xbaddies": xbaddies,
}
