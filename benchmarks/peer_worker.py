"""Play random moves with another library, through its documented interface, one round for each line on stdin.

Each library runs in its own process, in a Python environment without fairplay. A line on stdout has the number of moves
of a round; the first line names the version.
"""

import random
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib.metadata import version

MIN_ROUND_S = 0.02  # also of fairplay: shorter rounds are disturbed less often, and would look better
BATCH_MATCHES = 10_000

Benchmark = Callable[[], int]  # works, and returns the number of moves


def repeat_for_round(run: Benchmark) -> Benchmark:
    """Repeat the same work for at least the time of a round."""

    def runs() -> int:
        moves, until = 0, time.perf_counter() + MIN_ROUND_S
        while time.perf_counter() < until:
            moves += run()
        return moves

    return runs


def open_spiel() -> Benchmark:
    """OpenSpiel's connect four, from Python."""
    import pyspiel

    game = pyspiel.load_game("connect_four")

    def run() -> int:
        state, moves = game.new_initial_state(), 0
        while not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions()))
            moves += 1
        return moves

    return run


def open_spiel_bots() -> Benchmark:
    """The same between bots in C++: Python asks for whole matches only."""
    import pyspiel

    game = pyspiel.load_game("connect_four")
    bots = [pyspiel.make_uniform_random_bot(player, player) for player in (0, 1)]

    def run() -> int:
        state = game.new_initial_state()
        pyspiel.evaluate_bots(state, bots, random.getrandbits(30))
        return int(state.move_number())

    return run


def textarena(name: str) -> Benchmark:
    """TextArena's connect four; its usual wrappers keep all messages, so each match has a new one."""
    import textarena as arena

    def run() -> int:
        env = arena.make(name)
        env.reset(num_players=2)
        done, moves = False, 0
        while not done:
            env.get_observation()
            top = env.state.game_state["board"][0]
            column = random.choice([column for column, sign in enumerate(top) if sign == "."])
            done, _ = env.step(f"[col {column}]")
            moves += 1
        return moves

    return run


def pettingzoo() -> Benchmark:
    """PettingZoo's connect four."""
    from numpy import flatnonzero
    from pettingzoo.classic import connect_four_v3

    env = connect_four_v3.env()

    def run() -> int:
        env.reset()
        moves = 0
        for _ in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                env.step(random.choice(flatnonzero(seen["action_mask"])))
                moves += 1
        return moves

    return run


def python_chess() -> Benchmark:
    """Chess, as python-chess has no other game."""
    import chess

    def run() -> int:
        board, moves = chess.Board(), 0
        while not board.is_game_over():
            board.push(random.choice(list(board.legal_moves)))
            moves += 1
        return moves

    return run


def easy_ai() -> Benchmark:
    """The connect four that comes with easyAI, in its own loop."""
    from easyAI import Human_Player
    from easyAI.games.ConnectFour import ConnectFour

    def run() -> int:
        game, moves = ConnectFour([Human_Player(), Human_Player()]), 0
        while not game.is_over():
            game.make_move(random.choice(game.possible_moves()))
            game.switch_player()
            moves += 1
        return moves

    return run


def pgx_batch() -> Benchmark:
    """Pgx's connect four: a move in all matches of a batch at once, until the last of them is over."""
    import jax
    import pgx

    env = pgx.make("connect_four")
    init, step = jax.jit(jax.vmap(env.init)), jax.jit(jax.vmap(env.step))
    drawn = jax.jit(lambda key, legal: jax.random.categorical(key, jax.numpy.log(legal.astype(float)), axis=1))

    def run() -> int:
        key, start = jax.random.split(jax.random.PRNGKey(random.getrandbits(30)))
        state, moves = init(jax.random.split(start, BATCH_MATCHES)), 0
        while going := int((~(state.terminated | state.truncated)).sum()):
            key, now = jax.random.split(key)
            state = step(state, drawn(now, state.legal_action_mask))
            moves += going
        return moves

    return run


PEERS: dict[str, tuple[str, Callable[[], Benchmark]]] = {  # the package of each, and its preparation
    "openspiel": ("open_spiel", open_spiel),
    "openspiel.bots": ("open_spiel", open_spiel_bots),
    "textarena.raw": ("textarena", lambda: textarena("ConnectFour-v0-raw")),
    "textarena": ("textarena", lambda: textarena("ConnectFour-v0")),
    "chess": ("chess", python_chess),
    "pettingzoo": ("pettingzoo", pettingzoo),
    "easyai": ("easyAI", easy_ai),
    "pgx": ("pgx", pgx_batch),
}


def main() -> None:
    """Play a round for each line on stdin."""
    package, make = PEERS[sys.argv[1]]
    answers = sys.stdout
    with redirect_stdout(sys.stderr):  # some libraries print on import
        run = repeat_for_round(make())
        run()  # so that code is compiled and caches are filled
        print(version(package), file=answers, flush=True)
        for _ in sys.stdin:
            print(run(), file=answers, flush=True)


if __name__ == "__main__":
    main()
