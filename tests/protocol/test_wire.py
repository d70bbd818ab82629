"""Test how replies of every kind are read: an invalid one is malformed, in one short line."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle, islice
from typing import Any

import msgspec
import pytest

from fairplay.core import messages
from fairplay.core.chance import SeededRandom, seed_from_text
from fairplay.core.events import Ejected, Fault, Receipt, Result
from fairplay.core.game import Game, Moment
from fairplay.games.fish import Fish
from fairplay.games.q import Q
from fairplay.games.tsuro import Tsuro
from fairplay.protocol import wire
from fairplay.protocol.wire import MAX_JSON_DEPTH, MAX_LINE_BYTES, Goodbye, Hello, Malformed, Reply
from fairplay.testing.hostile_replies import BAD_REPLIES

Decode = Callable[[msgspec.Raw], Any]
Sample = tuple[bytes, Decode]  # a line, and what reads the answer that was due
GAMES: tuple[Game[Any, Any, Any], ...] = (Fish(rows=5, columns=5), Tsuro(size=4), Q())
DUE = [*(wire.action_decoder(type(game)) for game in GAMES), wire.acknowledgement_decoder, wire.hello_decoder]
NONCE = "0123456789abcdef-7"
SEED = seed_from_text("wire")
Q_ACTION = wire.action_decoder(Q)
NOT_JSON, NOT_UTF_8, TWICE = "not JSON", "not UTF-8", "a key occurs twice"
NOT_WHOLE, LONG, DEEP = "a number that is not an integer", "a number of more than 18 digits", "nested more than 32 deep"
NO_REPLY = "an object with a nonce and an answer, and nothing else, was expected"
NOT_DUE = "the answer is not what was asked for"


def reply(answer: bytes) -> bytes:
    return b'{"nonce":"n","answer":%b}' % answer


def tile(at: bytes) -> bytes:
    return reply(b'{"type":"place","tiles":[{"tile":"red star","at":[0,%b]}]}' % at)


PASS = reply(b'{"type":"pass"}')


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


PAIRS = ((b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]"))
INVALID: dict[str, list[bytes]] = {
    NOT_JSON: [
        *(b"", b" ", b"hello", PASS[:-1], PASS[:-1] + b",}", PASS + b"//", b"/* */" + PASS, PASS.replace(b'"', b"'")),
        *(PASS + PASS, PASS + b" 1", b'{nonce:"n",answer:null}', b"\xef\xbb\xbf" + PASS, PASS + b"\0"),
        *map(reply, (b"[1,]", b'"\n"', b'"\\x"', b"+1", b"0x1", b".5", b"True", b"nan", b'"\0"')),
        *(tile(b"1_0"), tile(b"01"), tile("\u0661".encode())),
        *(PASS.decode().encode("utf-16-le"), PASS.decode().encode("utf-32-be")),
    ],
    NOT_UTF_8: [
        *(PASS + b"\xff", PASS.decode().encode("utf-16")),
        *map(
            reply,
            (b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\xed\xa0\xbd\xed\xb8\x80"', b'"\xf5\x80\x80\x80"', b'"\xe2\x82"'),
        ),
    ],
    "half a character": [
        *(reply(b'"\\ud800"'), reply(b'"\\udc00\\ud800"')),
        b'{"nonce":"\\ud800","answer":{"type":"pass"}}',
        b'{"nonce":"n","answer":{"type":"pass"},"\\udfff":1}',
    ],
    DEEP: [
        *(
            opening * count + closing * closed
            for opening, closing in PAIRS
            for count in (100, 1000)
            for closed in (0, count)
        ),
        *(reply(opening * 300 + b"1" + closing * 300) for opening, closing in PAIRS[:2]),
    ],
    "more than 8192 bytes": [b"[" * 10**6, reply(b"7" * 10**6)],
    LONG: [
        *(reply(b"7" * digits) for digits in (19, 20, 4299, 4300, 4301, 8000)),
        *(reply(b"-" + b"7" * 19), tile(b"1" + b"0" * 18)),
    ],
    NOT_WHOLE: [reply(b"1e999"), reply(b"1e-999"), reply(b"-1E5"), tile(b"0.1e1"), tile(b"1.0")],
    "NaN, which is not JSON": [reply(b"NaN"), tile(b"NaN")],
    "Infinity, which is not JSON": [reply(b"Infinity")],
    "-Infinity, which is not JSON": [reply(b"-Infinity")],
    TWICE: [
        b'{"nonce":"n","answer":{"type":"pass"},"answer":{"type":"pass"}}',
        b'{"nonce":"n","nonce":"n","answer":{"type":"pass"}}',
        b'{"nonce":"n","answer":{"type":"pass"},"n\\u006fnce":"n"}',
        reply(b'{"type":"pass","type":"pass"}'),
        reply(b'{"type":"place","tiles":[],"tiles":[]}'),
        reply(b'{"type":"place","tiles":[{"tile":"red star","tile":"red star","at":[0,1]}]}'),
    ],
    NO_REPLY: [
        *(b"{}", b"[]", b"null", b'"n"', b'{"nonce":"n"}', b'{"answer":null}', b'{"nonce":1,"answer":null}'),
        *(
            b'{"nonce":null,"answer":null}',
            b'{"nonce":"%b","answer":null}' % (b"n" * 65),
            b'{"Nonce":"n","answer":null}',
        ),
        *(PASS[:-1] + b',"%b":1}' % key for key in (b"extra", b"__proto__", b"__class__", b"")),
        b'{"type":"end","match":"m","turn":0,"nonce":"n","limit":1,"result":null}',
        b'{"type":"goodbye","match":"m","fault":"gone","why":"","clause":""}',
    ],
    NOT_DUE: [
        *map(tile, (b"true", b'"1"', b"[1]", b"null", b'"1_0"', b'"\xd9\xa1"', b"{}", b"1" + b"0" * 17, b"2147483648")),
        *map(reply, (b'{"type":0}', b'"pass"', b"null", b"[]", b"{}", b'{"type":"place"}', b'{"type":"win"}')),
        *map(reply, (b'{"Type":"pass"}', b'{"type":"pass","extra":1}', b'{"type":"pass","__class__":"Place"}')),
        reply(b'{"type":"place","tiles":[{"tile":7,"at":[0,1]}]}'),
        reply(b'{"type":"place","tiles":{"0":{"tile":"red star","at":[0,1]}}}'),
        reply(b'{"type":"place","tiles":[["red star",[0,1]]]}'),
        reply(b'{"type":"place","tiles":[{"tile":"red star","at":[0]}]}'),
        reply(b'{"type":"place","tiles":[{"tile":"red star","at":[0,1,2]}]}'),
    ],
}
LINES = [(line, why) for why, lines in INVALID.items() for line in lines]


@pytest.mark.parametrize(("line", "why"), LINES, ids=[f"{why} {line[:40]!r}" for line, why in LINES])
def test_an_invalid_line_is_malformed_in_one_short_line(line: bytes, why: str) -> None:
    found = decode_line(line, Q_ACTION)

    assert found.why.startswith(f"{NOT_DUE}: ") if why == NOT_DUE else found.why == why
    assert len(found.why) < 100
    assert found.why.isprintable()


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (b"null", "Expected `object`, got `null`"),
        (b'{"type":"pass","extra":1}', "Object contains unknown field `extra`"),
        (b'{"type":"\\u001b[2J"}', "Invalid value '\ufffd[2J' - at `$.type`"),
    ],
)
def test_the_error_of_an_answer_is_described(answer: bytes, what: str) -> None:
    assert decode_line(reply(answer), Q_ACTION).why == f"{NOT_DUE}: {what}"


@pytest.mark.parametrize("what", BAD_REPLIES)
def test_no_line_of_the_hostile_players_is_a_valid_answer(what: str) -> None:
    times, template = BAD_REPLIES[what]
    line = template.replace(b"@", b'"n"').replace(b"#", b'{"type":"pass"}' if "take_turn" in times else b"null")
    decode = Q_ACTION if "take_turn" in times else wire.hello_decoder

    found = decode_line(line, decode)

    assert found.why or json.loads(line)["nonce"] != "n"


# What is taken.


@pytest.mark.parametrize(
    "line",
    [
        PASS,
        PASS + b"\r",
        b"  " + PASS + b"\t ",
        b'{"answer":{"type":"pass"},"nonce":"n"}',
        b'{ "nonce" : "n" , "answer" : { "type" : "pass" } }',
        b'\t{\n"nonce"\r\n:"n",\n "answer":\t{"type"\n:\r"pass"}\n}\n',
        b'{"n\\u006fnce":"\\u006e","answer":{"type":"\\u0070ass"}}',
        PASS.ljust(MAX_LINE_BYTES),
    ],
)
def test_json_in_another_notation_is_accepted(line: bytes) -> None:
    assert decode_line(line, Q_ACTION).answer == {"type": "pass"}


def test_minus_zero_is_zero() -> None:
    assert decode_line(tile(b"-0"), Q_ACTION).answer["tiles"][0]["at"] == [0, 0]


def test_the_deepest_answer_is_read_and_one_deeper_is_not() -> None:
    def nested(levels: int) -> str:
        return decode_line(reply(b"[" * levels + b"]" * levels), Q_ACTION).why

    assert nested(MAX_JSON_DEPTH - 1).startswith(NOT_DUE)
    assert nested(MAX_JSON_DEPTH) == DEEP


def test_brackets_in_texts_do_not_count() -> None:
    text = msgspec.json.Decoder(str).decode

    assert decode_line(reply(b'"%b"' % (b"[" * 60)), text).answer == "[" * 60
    assert decode_line(reply(b'"%b"' % (b'\\"[' * 30)), text).answer == '"[' * 30


def test_the_longest_line_is_read_and_one_longer_is_not() -> None:
    assert decode_line(PASS.ljust(MAX_LINE_BYTES), Q_ACTION).why == ""
    assert decode_line(PASS.ljust(MAX_LINE_BYTES + 1), Q_ACTION).why == "more than 8192 bytes"


GOOD_NAMES = ("ann", "A", "-_0-the-20-best_z", "x" * 20)
BAD_NAMES = ("", "x" * 21, "ann b", "ann\\n", "\\nann", "Zo\u00eb", "\u0661", "\\u001b[2J", "../x")


@pytest.mark.parametrize("answer", ["null", *(f'{{"name":"{name}"}}' for name in GOOD_NAMES)])
def test_hello_is_answered_by_null_or_an_introduction(answer: str) -> None:
    assert decode_line(reply(answer.encode()), wire.hello_decoder) == Verdict("", json.loads(answer))


OTHERS = ('""', '{"name":7}', '{"name":"a","x":1}', '{"name":null}', "1")


@pytest.mark.parametrize("answer", [*OTHERS, *(f'{{"name":"{name}"}}' for name in BAD_NAMES)])
def test_other_answers_to_hello_are_malformed(answer: str) -> None:
    assert decode_line(reply(answer.encode()), wire.hello_decoder).why.startswith(NOT_DUE)


def test_messages_other_than_turns_are_answered_by_null_only() -> None:
    assert decode_line(reply(b"null"), wire.acknowledgement_decoder).why == ""
    for answer in (b"false", b"0", b'""', b"[]", b"{}", b'{"type":"pass"}', b'"null"'):
        assert decode_line(reply(answer), wire.acknowledgement_decoder).why.startswith(NOT_DUE)


# What is accepted is what was judged, whatever is sent.

# What readers of JSON stumble over, to be put anywhere, once or many times.
TOKENS = (
    *(b"[", b"]", b"{", b"}", b'"', b"\\", b'\\"', b",", b":", b"0", b"-", b".", b"e9", b"1e999", b"-0", b"NaN"),
    *(b"Infinity", b"true", b"null", b"\\u", b"\\ud800", b"\\udfff", b"\\u0000", b"\x00", b"\xff", b"\xc0\xaf"),
    *(b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf0\x9f\x90\xa7", b"\r", b"\n", b" ", b"//", b"/*", b"'", b'{"a":', b'"a"'),
    *(b'"nonce":', b'"answer":', b'"type":', b"9" * 19, b"9" * 4301, b"[[", b"]]", b'["', b'"]', b'":"', b'","', b"{}"),
    *(b"[],", b'{"a":[', b"]}", b"2305843009213693951", b"0.1", b"\\\\", b'\\\\"', b"\t"),
)


@cache
def good_replies() -> list[Sample]:
    """Replies to questions of every game, to hello, and to everything else, with what was due."""
    found: list[tuple[Any, Decode]] = [(None, DUE[-2]), ({"name": "ann"}, DUE[-1]), ({"name": "x" * 20}, DUE[-1])] * 10
    for game, decode in zip(GAMES, DUE, strict=False):
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
    return [(line, decode) for line, decode in zip(lines, cycle(DUE), strict=False)]


def mutate_line(line: bytes, other: bytes, lots: SeededRandom) -> bytes:
    """The line with something put in, taken out, repeated or replaced."""
    start, end = sorted((lots.below(len(line) + 1), lots.below(len(line) + 1)))
    token = TOKENS[lots.below(len(TOKENS))]
    many = token * (1 + lots.below(max(1, MAX_LINE_BYTES // len(token))))
    rest = other[lots.below(len(other) + 1) :]
    new = (b"", token, many, bytes([lots.below(256)]), line[start:end] * lots.below(40), rest)[lots.below(6)]
    return line[:start] + new + line[(start, end)[lots.below(2)] :]


def make_samples(count: int) -> Iterator[Sample]:
    """So many lines, with what was due: first what is nasty as it is, then mutations of everything."""
    lots, sources = SeededRandom(SEED), (good_replies(), good_replies(), hostile_lines())
    yield from hostile_lines()
    for _ in range(count - len(hostile_lines())):
        source = sources[lots.below(3)]
        (line, decode), (other, _) = (source[lots.below(len(source))] for _ in range(2))
        if lots.below(8) == 0:
            line = b"".join(TOKENS[lots.below(len(TOKENS))] for _ in range(lots.below(60)))
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


@pytest.mark.parametrize(
    "count", [5000, pytest.param(100_000, marks=[pytest.mark.nightly, pytest.mark.time_limit(600)])]
)
def test_mutated_lines_are_answers_or_malformed(count: int) -> None:
    samples = list(make_samples(count))

    assert [problem for line, decode in samples if (problem := find_problem(line, decode))] == []
    found = [decode_line(line, decode).why for line, decode in samples[400:1500]]
    assert found.count("") > 50  # many are still good,
    assert len(set(found)) > 8  # and many are bad in many ways


# The same on every machine, and always soon.

LIMITED = "import sys; from tests.protocol import test_wire; sys.setrecursionlimit(int(sys.argv[1])); test_wire.judge()"
NESTED = [reply(b"[" * count + b"]" * count) for count in (31, 33, 100, 190, 300, 900, 1100, 4000)]
NESTED += [reply(b'{"a":' * count + b"1" + b"}" * count) for count in (31, 33, 100, 190, 300, 900)]


def judge() -> None:
    lines = [*NESTED, *(line for line, _ in LINES if len(line) < 10_000)]
    print([(decode_line(line, Q_ACTION).why, type(wire.read_reply(line)).__name__) for line in lines])


def test_the_verdict_does_not_depend_on_how_deep_python_may_recurse() -> None:
    commands = [[sys.executable, "-c", LIMITED, limit] for limit in ("200", "10000")]

    low, high = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for command in commands)

    assert len(low) > 1000
    assert low == high


@pytest.mark.alone
@pytest.mark.parametrize("head", [b"[" * 33, reply(b"[" * 40 + b'"')[:-1]], ids=["brackets", "a reply"])
def test_brackets_and_escaped_quotes_are_read_in_linear_time(head: bytes) -> None:
    line = head + b'\\"' * 4000

    assert min(seconds(line) for _ in range(3)) < 0.05  # a hundredth of that would do


def seconds(line: bytes) -> float:
    began = time.process_time()
    decode_line(line[:MAX_LINE_BYTES], Q_ACTION)
    return time.process_time() - began


# What is said.


Q_VIEW = Q().view(Q().deal(2, bytes(32)), 0)
RECORDED = Result((frozenset({0}),), (), receipt=Receipt(1, "0" * 64))


@pytest.mark.parametrize(
    ("message", "tag", "field"),
    [
        (messages.Start(0, ("a\nb", "c"), Q_VIEW), "start", "view"),
        (messages.TakeTurn(Q_VIEW), "take_turn", "view"),
        (messages.Tell(("red star",)), "tell", "news"),
        (messages.End(RECORDED), "end", "result"),
    ],
)
def test_a_question_is_one_line_of_json_with_the_common_fields(message: Any, tag: str, field: str) -> None:
    line = wire.encode_question(message, Q(), match_id="m", turn=3, nonce="n", limit=2.5)

    plain = json.loads(line)
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert plain[field] is not None
    assert [plain[name] for name in ("type", "match", "turn", "nonce", "limit")] == [tag, "m", 3, "n", 2.5]
    assert wire.decode_line(line).nonce == "n"


@pytest.mark.parametrize("game", [Fish(rows=3, columns=3), Tsuro(tiles=(1, 2, 3)), Q()], ids=lambda game: game.name)
def test_hello_names_the_game_and_keeps_its_secrets(game: Any) -> None:
    line = wire.decode_line(wire.encode_hello(game, match_id="m", nonce="n", limit=10.0))

    assert isinstance(line, Hello)
    assert (line.protocol, line.game, line.turn) == (wire.PROTOCOL_VERSION, game.name, 0)
    assert line.parameters == game.public_parameters()
    assert b"[1,2,3]" not in wire.encode_hello(game, match_id="m", nonce="n", limit=10.0)


def test_goodbye_says_what_was_wrong() -> None:
    ejected = Ejected(1, Fault.ILLEGAL, Moment.TURN, "rule 3.2: no", "3.2")

    line = wire.decode_line(wire.encode_goodbye("m", ejected))

    assert line == Goodbye(match="m", fault=Fault.ILLEGAL, why="rule 3.2: no", clause="3.2")
