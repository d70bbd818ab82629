"""Decode a hundred thousand mutated lines, and time each.

python -m tests.players.fuzz_wire 100000
"""

import gc
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle, islice
from typing import Any

import msgspec

from fairplay.core.chance import SeededRandom, seed_from_text
from fairplay.core.game import Game
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from fairplay.protocol import wire
from fairplay.protocol.wire import MAX_LINE_BYTES, Malformed, Reply
from fairplay.testing.hostile_replies import BAD_REPLIES

Decode = Callable[[msgspec.Raw], Any]
Sample = tuple[bytes, Decode]  # a line, and what reads the answer that was due
GAMES: tuple[Game[Any, Any, Any], ...] = (Fish(rows=5, columns=5), Tsuro(size=4), Q())
MAX_DECODE_S = 0.005  # of computing, for one line
MAX_SHOWN_LINES = 5
NONCE = "0123456789abcdef-7"
SEED = seed_from_text("wire")

# What readers of JSON stumble over, to be put anywhere, once or many times.
TOKENS = (
    *(b"[", b"]", b"{", b"}", b'"', b"\\", b'\\"', b",", b":", b"0", b"-", b".", b"e9", b"1e999", b"-0", b"NaN"),
    *(b"Infinity", b"true", b"null", b"\\u", b"\\ud800", b"\\udfff", b"\\u0000", b"\x00", b"\xff", b"\xc0\xaf"),
    *(b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf0\x9f\x90\xa7", b"\r", b"\n", b" ", b"//", b"/*", b"'", b'{"a":', b'"a"'),
    *(b'"nonce":', b'"answer":', b'"type":', b"9" * 19, b"9" * 4301, b"[[", b"]]", b'["', b'"]', b'":"', b'","', b"{}"),
    *(b"[],", b'{"a":[', b"]}", b"2305843009213693951", b"0.1", b"\\\\", b'\\\\"', b"\t"),
)


class Verdict(msgspec.Struct, frozen=True):
    """What the decoder made of a line: what is accepted is plain again."""

    why: str = ""  # empty: it was accepted
    answer: Any = None


def decode_line(line: bytes, decode: Decode) -> Verdict:
    """What the decoder makes of a line, from beginning to end."""
    reply = wire.read_reply(line)
    if isinstance(reply, Malformed):
        return Verdict(reply.why)
    assert isinstance(reply, Reply)
    answer = wire.read_answer(line, reply, decode)
    return Verdict(answer.why) if isinstance(answer, Malformed) else Verdict("", json.loads(wire.encode(answer)))


@cache
def expected_decoders() -> list[Decode]:
    """Everything that may be due."""
    return [*(wire.action_decoder(type(game)) for game in GAMES), wire.acknowledgement_decoder, wire.hello_decoder]


@cache
def good_replies() -> list[Sample]:
    """Replies to questions of every game, to hello, and to everything else, with what was due."""
    due = expected_decoders()
    found: list[tuple[Any, Decode]] = [(None, due[-2]), ({"name": "ann"}, due[-1]), ({"name": "x" * 20}, due[-1])] * 10
    for game, decode in zip(GAMES, due, strict=False):
        state = game.deal(3, SEED)
        for _ in range(14):
            seat = game.turn(state)
            if seat is None:
                break
            options = list(islice(game.actions(game.view(state, seat)), 300))
            found += [(action, decode) for action in options[:: max(1, len(options) // 6)]]
            state = game.apply(state, options[len(options) // 2])
    return [(wire.encode({"nonce": NONCE, "answer": answer}), decode) for answer, decode in found]


@cache
def hostile_lines() -> list[Sample]:
    """What players send who mean no good, and what takes long to read."""
    filled = [
        template.replace(b"@", b'"%b"' % NONCE.encode()).replace(b"#", b'{"type":"pass"}')
        for _, template in BAD_REPLIES.values()
    ]
    long = [b"%b" % (b"[" * 33 + token * (8000 // len(token)))[:MAX_LINE_BYTES] for token in TOKENS]
    answers = [b'{"nonce":"x","answer":[%b' % (token * (8000 // len(token))) for token in TOKENS]
    keys = b'{"nonce":"x","answer":{%b}}' % b",".join(b'"%d":1' % number for number in range(800))
    lines = [*filled, *long, *(line[:MAX_LINE_BYTES] for line in answers), keys]
    return [(line, decode) for line, decode in zip(lines, cycle(expected_decoders()), strict=False)]


def mutate_line(line: bytes, other: bytes, lots: SeededRandom) -> bytes:
    """The line with something changed, or much."""
    start, end = sorted((lots.below(len(line) + 1), lots.below(len(line) + 1)))
    token = TOKENS[lots.below(len(TOKENS))]
    match lots.below(9):
        case 0:
            return line[:start] + bytes([lots.below(256)]) + line[start + 1 :]
        case 1:
            return line[:start] + token + line[start:]
        case 2:
            return line[:start] + token + line[end:]
        case 3:
            return line[:start] + line[end:]
        case 4:
            return line[:end] + line[start:end] + line[end:]
        case 5:
            return line[:start] + other[lots.below(len(other) + 1) :]
        case 6:
            return line[:start] + token * (1 + lots.below(max(1, MAX_LINE_BYTES // len(token)))) + line[start:]
        case 7:
            return line[:start] + line[start:end] * lots.below(40) + line[end:]
        case _:
            return line.replace(b":", b" : ").replace(b"a", b"\\u0061", 1)


def json_like_junk(lots: SeededRandom) -> bytes:
    """Something that looks like JSON from afar."""
    return b"".join(TOKENS[lots.below(len(TOKENS))] for _ in range(lots.below(60)))


def make_samples(count: int, seed: bytes = SEED) -> Iterator[Sample]:
    """So many lines, with what was due: first what is nasty as it is, then mutations of everything."""
    lots, sources = SeededRandom(seed), (good_replies(), good_replies(), hostile_lines())
    yield from islice(hostile_lines(), count)
    for _ in range(count - len(hostile_lines())):
        source = sources[lots.below(3)]
        (line, decode), (other, _) = (source[lots.below(len(source))] for _ in range(2))
        if lots.below(8) == 0:
            line = json_like_junk(lots)
        for _ in range(lots.below(4)):
            line = mutate_line(line, other, lots)
        yield line if lots.below(50) == 0 else line[:MAX_LINE_BYTES], decode  # as streams cut it


def find_problem(line: bytes, decode: Decode) -> str:
    """What is wrong with what the decoder makes of a line; empty: nothing."""
    try:
        found = decode_line(line, decode)
    except BaseException as error:  # nothing at all may come out
        return f"{type(error).__name__}: {error}"
    if found.why:
        return "" if len(found.why) < 100 and found.why.isprintable() else f"no short line: {found.why!r}"
    try:
        read = json.loads(line, object_pairs_hook=reject_duplicate_keys)
    except ValueError as error:
        return f"accepted, though others would say: {error}"
    sound = set(read) == {"nonce", "answer"} and type(read["nonce"]) is str and read["answer"] == found.answer
    return "" if sound else f"{found.answer!r} was judged"


def reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no key is twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def main(count: int) -> int:
    """Show the verdicts and the slowest lines; the exit code is 1 if anything is wrong."""
    kinds, slowest, wrong = Counter[str](), list[tuple[float, bytes]](), list[str]()
    good_replies(), hostile_lines()
    gc.collect()
    gc.freeze()
    since = time.monotonic()
    for number, (line, decode) in enumerate(make_samples(count)):
        began = time.process_time()
        try:
            kinds[decode_line(line, decode).why or "accepted"] += 1
        except BaseException as error:  # counted below
            kinds[type(error).__name__] += 1
        slowest = sorted([*slowest, (time.process_time() - began, line)], reverse=True)[:MAX_SHOWN_LINES]
        if problem := find_problem(line, decode):
            wrong.append(f"{problem} for {line[:200]!r}")
        if number % 5000 == 0:
            print(f"\r{number} of {count}, {len(wrong)} wrong", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{count} lines in {time.monotonic() - since:.0f} s")
    for why, often in kinds.most_common():
        print(f"  {often:7}  {why}")
    for seconds, line in slowest:
        print(f"  {seconds * 1000:7.2f} ms  {len(line)} bytes: {line[:60]!r}...{line[-20:]!r}")
    too_slow = slowest[0][0] > MAX_DECODE_S
    print(f"wrong: {len(wrong)}; slower than {MAX_DECODE_S * 1000:g} ms: {'some' if too_slow else 'none'}")
    for text in wrong[:MAX_SHOWN_LINES]:
        print(f"  {text}")
    return bool(wrong) or too_slow


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
