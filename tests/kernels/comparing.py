"""Compare the kernels with the functions in Python, on positions of matches that were played at random."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from fairplay.core.chance import SeededRandom, derive_seed
from fairplay.core.game import Game, Moment
from fairplay.games.fish import Fish, sampling, territory
from fairplay.games.fish import codec as fish_codec
from fairplay.games.fish import kernel as fish_kernel
from fairplay.games.fish import search as fish_search
from fairplay.games.fish.pieces import MAX_FISH
from fairplay.games.fish.state import PLACING as STANDING
from fairplay.games.fish.state import PLAYING as MOVING
from fairplay.games.fish.state import State as FishState
from fairplay.games.fish.state import state_of
from fairplay.games.q import Q
from fairplay.games.q import kernel as q_kernel
from fairplay.games.q import playouts as q_playouts
from fairplay.games.q import search as q_search
from fairplay.games.q.pieces import NAMES
from fairplay.games.q.playouts import Outlook
from fairplay.games.q.search import DEFAULT_TILE_TRIES
from fairplay.games.q.state import State as QState
from fairplay.games.q.strategies import random_strategy
from fairplay.games.q.view import View
from fairplay.games.tsuro import Tsuro, futures, outlook
from fairplay.games.tsuro import kernel as tsuro_kernel
from fairplay.games.tsuro.board import EMPTY, OUT
from fairplay.games.tsuro.pieces import CODES, TILES
from fairplay.games.tsuro.state import PLACING
from fairplay.games.tsuro.state import PLAYING as LAYING
from fairplay.games.tsuro.view import View as TsuroView

AnyGame = Game[Any, Any, Any]
Trial = Callable[[SeededRandom], str]  # tries one position; what went wrong, or nothing

BOARDS = ((3, 3), (4, 4), (5, 3), (2, 8), (1, 9), (5, 5), (4, 7), (8, 8), (8, 8), (16, 4), (1, 20), (64, 1), (9, 9))
SMALL_BOARDS = 6  # boards, on which one can look four turns ahead
TSURO_SIZES = (10, 10, 4, 5, 7, 30)
PLAYOUTS = 3
MAX_POSITIONS, MAX_TRIES = 120, 40  # that are weighed, and played out, before a step is chosen
TSURO_PLAYOUT_TILES = 40  # tiles in the playouts of Tsuro


def run_trials(game: str, numbers: range, seed: bytes) -> Iterator[str]:
    """For each number what was wrong about it, or nothing."""
    for number in numbers:
        failure = TRIALS[game](SeededRandom(derive_seed(seed, f"{game} {number}")))
        yield failure and f"{game} {number}: {failure}"


def random_position(game: AnyGame, seats: int, lots: SeededRandom, turns: int, least: int = 0) -> Any:
    """The state after some turns at random, at least so many, or before the end if that comes sooner."""
    state = game.deal(seats, derive_seed(b"", f"{lots.below(2**32)}"))
    for _ in range(least + lots.below(turns)):
        seat = game.turn(state)
        assert seat is not None
        options = list(game.actions(game.view(state, seat)))
        then = game.apply(state, options[lots.below(len(options))]) if options else game.eject(state, seat, Moment.TURN)
        if game.turn(then) is None:
            break
        state = then
    return state


def compare_fish(lots: SeededRandom) -> str:
    """Write it down, look some turns ahead, and play on at random."""
    made_up = lots.below(2)
    rows, columns = BOARDS[lots.below(SMALL_BOARDS if made_up else len(BOARDS))]
    game = Fish(rows=rows, columns=columns, holes=lots.below(rows * columns // 4), cramped=True)
    state = (
        invalid_fish_position(rows, columns, lots) if made_up else random_position(game, 2 + lots.below(3), lots, 40)
    )
    seed, numbers = derive_seed(b"", f"{lots.below(2**32)}"), range(lots.below(9), 9 + PLAYOUTS)
    if game.playouts(state, numbers, seed) != Game.playouts(game, state, numbers, seed):
        return f"other scores from {state}"
    reader = lots.below(4) if lots.below(2) else None
    if fish_kernel.text(reader, state) != fish_codec.text(reader, state):
        return f"another text of {state}"
    if state.stage is not STANDING and state.order:
        seat, turns = state.order[lots.below(len(state.order))], 1 + lots.below(4 if made_up else 3)
        found, known = fish_kernel.best_move(state, seat, turns), fish_search.best_move(state, seat, turns)
        if found != known:
            return f"{found} instead of {known} in {turns} turns from {state}"
    return compare_fish_steps(state, seed, lots) if state.order else ""


def compare_fish_steps(state: FishState, seed: bytes, lots: SeededRandom) -> str:
    positions, tries = 1 + lots.below(MAX_POSITIONS), lots.below(MAX_TRIES)
    found, known = fish_kernel.territory_step(state, positions), territory.best_step(state, positions)
    if found != known:
        return f"{found} instead of {known} after weighing {positions} positions from {state}"
    found, known = fish_kernel.sampling_step(state, tries, seed), sampling.best_step(state, tries, seed)
    return "" if found == known else f"{found} instead of {known} after {tries} playouts from {state}"


def invalid_fish_position(rows: int, columns: int, lots: SeededRandom) -> FishState:
    """Holes and penguins anywhere, with some who are stuck or have none, and some who are not in the order."""
    board = [[lots.below(MAX_FISH + 1) for _ in range(columns)] for _ in range(rows)]
    tiles = [(row, column) for row, line in enumerate(board) for column, count in enumerate(line) if count]
    lots.shuffle(tiles)
    penguins = [[tiles.pop() for _ in range(min(len(tiles), lots.below(4)))] for _ in range(2 + lots.below(3))]
    order = lots.sample(len(penguins), 1 + lots.below(len(penguins)))
    stage = (STANDING, MOVING)[lots.below(2)]
    return state_of(board, penguins, order=order, stage=stage, each=lots.below(5))


def compare_tsuro(lots: SeededRandom) -> str:
    made_up, seats = lots.below(2), 3 + lots.below(3)
    game = Tsuro(size=4 + lots.below(4) if made_up else TSURO_SIZES[lots.below(len(TSURO_SIZES))])
    if made_up:
        view = invalid_tsuro_position(game, seats, lots)
    else:
        state = random_position(game, seats, lots, 40, least=seats)
        if state.table.stage is PLACING:
            return "no seat is waiting to lay a tile"
        view = game.view(state, game.turn(state))
    found, known = tsuro_kernel.best_lay(view), outlook.best_lay(view)
    if found != known:
        return f"{found} instead of {known} by {view}"
    nodes, seed = 1 + lots.below(TSURO_PLAYOUT_TILES), derive_seed(b"", f"{lots.below(2**32)}")
    found, known = tsuro_kernel.best_future(view, nodes, seed), futures.best_lay(view, nodes, seed)
    return "" if found == known else f"{found} instead of {known} in {nodes} nodes by {view}"


def invalid_tsuro_position(game: Tsuro, seats: int, lots: SeededRandom) -> TsuroView:
    """Tiles and avatars anywhere, with more loops than there are in a match."""
    table = game.deal(seats, bytes(32)).table
    board = bytearray(table.board)
    for square in lots.sample(len(board), len(board) // 2 + lots.below(len(board) // 2)):
        board[square] = CODES[lots.below(len(CODES))]
    ahead = table.grid.ahead
    spots = [
        spot
        for spot, entry in enumerate(ahead)
        if board[spot >> 3] != EMPTY and entry != OUT and board[entry >> 3] == EMPTY
    ]
    avatars = [spots[lots.below(len(spots))] for _ in range(seats)]
    avatars[1:2] = [OUT] * lots.below(2) or avatars[1:2]
    dealt = tuple(lots.numbers(2, TILES))
    return TsuroView(0, replace(table, board=bytes(board), avatars=tuple(avatars), stage=LAYING), dealt)


def compare_q(lots: SeededRandom) -> str:
    """Place a hand as it is, or one that was given, by any bonuses; and play on."""
    game, choose = Q(), random_strategy(lots.below(2**32).to_bytes(4, "big"))
    state = game.deal(2 + lots.below(3), derive_seed(b"", f"{lots.below(2**32)}"))
    for _ in range(lots.below(60)):
        state = game.apply(state, choose(game.view(state, state.order[0])))
        if state.done:
            break
    kinds = lots.sample(len(NAMES), 1 + lots.below(12))  # among a few a Q is never far
    given = tuple(kinds[lots.below(len(kinds))] for _ in range(lots.below(11)))
    hand = given if lots.below(2) else state.hands[0]
    view = View(0, state.map, hand, (0, 1), (0, 0), 0)
    bonuses = (8, 4) if lots.below(2) else (lots.below(40), lots.below(40))
    enough = (lots.below(500), DEFAULT_TILE_TRIES)[lots.below(2)]
    found, known = q_kernel.best_draft(view, *bonuses, enough), q_search.best_draft(view, *bonuses, enough)
    if (found and found.placed) != (known and known.placed):
        return f"{found and found.placed} instead of {known and known.placed} by {hand} for {bonuses} in {enough}"
    start, seed = compare_outlook(state, lots), derive_seed(b"", f"{lots.below(2**32)}")
    numbers = range(lots.below(9), 9 + PLAYOUTS)
    here, there = (each.playouts(start, *bonuses, numbers, seed) for each in (q_kernel, q_playouts))
    return "" if here == there else f"{here} instead of {there} from {start} with {seed.hex()} for {bonuses}"


def compare_outlook(state: QState, lots: SeededRandom) -> Outlook:
    """Somebody has acted there, and any hand is known."""
    seats, few = 1 + lots.below(4), lots.sample(len(NAMES), 1 + lots.below(len(NAMES)))
    drawn = lots.below(7)
    return Outlook(
        map=state.map,
        kept=state.hands[0][: 6 - drawn],
        drawn=drawn,
        scores=tuple(lots.below(30) for _ in range(seats)),
        left=lots.below(30),
        theirs=lots.below(7),
        unseen=bytes(few),
        begins=lots.below(seats),
        placed=lots.below(2) == 1,
    )


TRIALS: dict[str, Trial] = {"fish": compare_fish, "tsuro": compare_tsuro, "q": compare_q}
