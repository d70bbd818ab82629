"""Test how replies of every kind are read: an invalid one is malformed, in one short line."""

import json
import subprocess
import sys
import time
from itertools import islice
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairplay.core import messages
from fairplay.core.events import Ejected, Fault, Receipt, Result
from fairplay.core.game import Moment
from fairplay.games.fish import Fish
from fairplay.games.q import Pass, Place, Placement, Q
from fairplay.games.tsuro import Tsuro
from fairplay.protocol import wire
from fairplay.protocol.wire import MAX_JSON_DEPTH, MAX_LINE_BYTES, Goodbye, Hello, Malformed, Reply
from fairplay.testing.hostile_replies import BAD_REPLIES
from tests.nonempty import nonempty
from tests.players.fuzz_wire import decode_line, find_problem, good_replies, make_samples

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
CASES: dict[str, list[tuple[bytes, str]]] = {
    "P1 not JSON": [
        (b"", NOT_JSON),
        (b" ", NOT_JSON),
        (b"hello", NOT_JSON),
        (PASS[:-1], NOT_JSON),
        (PASS[:-1] + b",}", NOT_JSON),
        (reply(b"[1,]"), NOT_JSON),
        (PASS + b"//", NOT_JSON),
        (b"/* */" + PASS, NOT_JSON),
        (PASS.replace(b'"', b"'"), NOT_JSON),
        (PASS + PASS, NOT_JSON),
        (PASS + b" 1", NOT_JSON),
        (b'{nonce:"n",answer:null}', NOT_JSON),
        (reply(b'"\n"'), NOT_JSON),
        (reply(b'"\\x"'), NOT_JSON),
        (reply(b"+1"), NOT_JSON),
        (reply(b"0x1"), NOT_JSON),
        (reply(b".5"), NOT_JSON),
        (reply(b"True"), NOT_JSON),
    ],
    "P2 nesting": [
        (opening * count + closing * closed, DEEP)
        for opening, closing in ((b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]"))
        for count in (100, 1000)
        for closed in (0, count)
    ]
    + [(reply(opening * 300 + b"1" + closing * 300), DEEP) for opening, closing in ((b"[", b"]"), (b'{"a":', b"}"))]
    + [(b"[" * 10**6, "more than 8192 bytes")],
    "P3 numbers": [
        *((reply(b"7" * digits), LONG) for digits in (19, 20, 4299, 4300, 4301, 8000)),
        (reply(b"-" + b"7" * 19), LONG),
        (reply(b"7" * 10**6), "more than 8192 bytes"),
        (reply(b"1e999"), NOT_WHOLE),
        (reply(b"1e-999"), NOT_WHOLE),
        (reply(b"-1E5"), NOT_WHOLE),
        (tile(b"0.1e1"), NOT_WHOLE),
        (tile(b"1" + b"0" * 18), LONG),
        (tile(b"1" + b"0" * 17), NOT_DUE),
        (tile(b"2147483648"), NOT_DUE),
    ],
    "P4 no numbers": [
        (reply(b"NaN"), "NaN, which is not JSON"),
        (reply(b"Infinity"), "Infinity, which is not JSON"),
        (reply(b"-Infinity"), "-Infinity, which is not JSON"),
        (tile(b"NaN"), "NaN, which is not JSON"),
        (reply(b"nan"), NOT_JSON),
    ],
    "P5 twice": [
        (b'{"nonce":"n","answer":{"type":"pass"},"answer":{"type":"pass"}}', TWICE),
        (b'{"nonce":"n","nonce":"n","answer":{"type":"pass"}}', TWICE),
        (b'{"nonce":"n","answer":{"type":"pass"},"n\\u006fnce":"n"}', TWICE),
        (reply(b'{"type":"pass","type":"pass"}'), TWICE),
        (reply(b'{"type":"place","tiles":[],"tiles":[]}'), TWICE),
        (reply(b'{"type":"place","tiles":[{"tile":"red star","tile":"red star","at":[0,1]}]}'), TWICE),
    ],
    "P6 other types": [
        *((tile(other), NOT_DUE) for other in (b"true", b'"1"', b"[1]", b"null", b'"1_0"', b'"\xd9\xa1"', b"{}")),
        (tile(b"1.0"), NOT_WHOLE),
        (tile(b"1_0"), NOT_JSON),
        (tile(b"01"), NOT_JSON),
        (tile("\u0661".encode()), NOT_JSON),
        (reply(b'{"type":"place","tiles":[{"tile":7,"at":[0,1]}]}'), NOT_DUE),
        (reply(b'{"type":"place","tiles":{"0":{"tile":"red star","at":[0,1]}}}'), NOT_DUE),
        (reply(b'{"type":"place","tiles":[["red star",[0,1]]]}'), NOT_DUE),
        (reply(b'{"type":"place","tiles":[{"tile":"red star","at":[0]}]}'), NOT_DUE),
        (reply(b'{"type":"place","tiles":[{"tile":"red star","at":[0,1,2]}]}'), NOT_DUE),
        (reply(b'{"type":0}'), NOT_DUE),
        (reply(b'"pass"'), NOT_DUE),
        (reply(b"null"), NOT_DUE),
        (reply(b"[]"), NOT_DUE),
    ],
    "P7 fields": [
        (b"{}", NO_REPLY),
        (b"[]", NO_REPLY),
        (b"null", NO_REPLY),
        (b'"n"', NO_REPLY),
        (b'{"nonce":"n"}', NO_REPLY),
        (b'{"answer":null}', NO_REPLY),
        (b'{"nonce":1,"answer":null}', NO_REPLY),
        (b'{"nonce":null,"answer":null}', NO_REPLY),
        (b'{"nonce":"%b","answer":null}' % (b"n" * 65), NO_REPLY),
        (b'{"Nonce":"n","answer":null}', NO_REPLY),
        *((PASS[:-1] + b',"%b":1}' % key, NO_REPLY) for key in (b"extra", b"__proto__", b"__class__", b"")),
        (b'{"type":"end","match":"m","turn":0,"nonce":"n","limit":1,"result":null}', NO_REPLY),
        (b'{"type":"goodbye","match":"m","fault":"gone","why":"","clause":""}', NO_REPLY),
        (reply(b'{"type":"pass","extra":1}'), NOT_DUE),
        (reply(b'{"type":"pass","__class__":"Place"}'), NOT_DUE),
        (reply(b'{"type":"place"}'), NOT_DUE),
        (reply(b'{"type":"win"}'), NOT_DUE),
        (reply(b'{"Type":"pass"}'), NOT_DUE),
        (reply(b"{}"), NOT_DUE),
    ],
    "P8 characters": [
        (PASS + b"\xff", NOT_UTF_8),
        (reply(b'"\xc0\xaf"'), NOT_UTF_8),
        (reply(b'"\xed\xa0\x80"'), NOT_UTF_8),
        (reply(b'"\xed\xa0\xbd\xed\xb8\x80"'), NOT_UTF_8),
        (reply(b'"\xf5\x80\x80\x80"'), NOT_UTF_8),
        (reply(b'"\xe2\x82"'), NOT_UTF_8),
        (b"\xef\xbb\xbf" + PASS, NOT_JSON),
        (PASS.decode().encode("utf-16"), NOT_UTF_8),
        (PASS.decode().encode("utf-16-le"), NOT_JSON),
        (PASS.decode().encode("utf-32-be"), NOT_JSON),
        (PASS + b"\0", NOT_JSON),
        (reply(b'"\0"'), NOT_JSON),
        (reply(b'"\\ud800"'), "half a character"),
        (reply(b'"\\udc00\\ud800"'), "half a character"),
        (b'{"nonce":"\\ud800","answer":{"type":"pass"}}', "half a character"),
        (b'{"nonce":"n","answer":{"type":"pass"},"\\udfff":1}', "half a character"),
    ],
}
ROWS = [
    pytest.param(line, why, id=f"{row}, {number}") for row, of in CASES.items() for number, (line, why) in enumerate(of)
]


def is_as_due(found: str, why: str) -> bool:
    """Is this the complaint that was due? Of an answer of another kind it is said besides what is wrong with it."""
    return found.startswith(f"{NOT_DUE}: ") if why == NOT_DUE else found == why


@pytest.mark.parametrize(("line", "why"), ROWS)
def test_an_invalid_line_is_malformed_in_one_short_line(line: bytes, why: str) -> None:
    found = decode_line(line, Q_ACTION)

    assert is_as_due(found.why, why)
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
        b'{"n\\u006fnce":"\\u006e","answer":{"type":"\\u0070ass"}}',
        PASS.ljust(MAX_LINE_BYTES),
    ],
)
def test_json_in_another_notation_is_accepted(line: bytes) -> None:
    assert decode_line(line, Q_ACTION).answer == {"type": "pass"}


def test_minus_zero_is_zero() -> None:
    line = tile(b"-0")

    found = wire.read_reply(line)

    assert isinstance(found, Reply)
    assert wire.read_answer(line, found, Q_ACTION) == Place((Placement("red star", (0, 0)),))


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


@pytest.mark.parametrize(
    ("answer", "taken"),
    [
        (b"null", None),
        (b'{"name":"ann"}', {"name": "ann"}),
        (b'{"name":"A"}', {"name": "A"}),
        (b'{"name":"-_0-the-20-best_z"}', {"name": "-_0-the-20-best_z"}),
        (b'{"name":"%b"}' % (b"x" * 20), {"name": "x" * 20}),
    ],
)
def test_hello_is_answered_by_null_or_an_introduction(answer: bytes, taken: Any) -> None:
    found = decode_line(reply(answer), wire.hello_decoder)

    assert (found.why, found.answer) == ("", taken)


@pytest.mark.parametrize(
    "answer",
    [
        *(b'""', b'{"name":""}', b'{"name":7}', b'{"name":"a","x":1}', b'{"name":null}', b"1"),
        *(b'{"name":"%b"}' % (b"x" * 21), b'{"name":"ann b"}', b'{"name":"ann\\n"}', b'{"name":"\\nann"}'),
        *('{"name":"Zo\u00eb"}'.encode(), '{"name":"\u0661"}'.encode(), b'{"name":"\\u001b[2J"}', b'{"name":"../x"}'),
    ],
)
def test_other_answers_to_hello_are_malformed(answer: bytes) -> None:
    assert decode_line(reply(answer), wire.hello_decoder).why.startswith(NOT_DUE)


@pytest.mark.parametrize("answer", [b"false", b"0", b'""', b"[]", b"{}", b'{"type":"pass"}', b'"null"'])
def test_messages_other_than_turns_are_answered_by_null_only(answer: bytes) -> None:
    assert decode_line(reply(answer), wire.acknowledgement_decoder).why.startswith(NOT_DUE)
    assert decode_line(reply(b"null"), wire.acknowledgement_decoder).why == ""


# What is accepted is what was judged, whatever is sent.


def spaced(text: bytes, blanks: list[bytes]) -> bytes:
    """JSON without texts that hold signs of JSON, with blanks around its signs."""
    for sign, blank in zip((b"{", b"}", b"[", b"]", b",", b":"), blanks, strict=True):
        text = text.replace(sign, blank + sign + blank)
    return text


blank = st.sampled_from([b"", b" ", b"\t", b"\n ", b"\r\n"])


@given(st.integers(0, len(good_replies()) - 1), st.lists(blank, min_size=6, max_size=6))
def test_a_valid_reply_is_accepted_in_any_json_notation(index: int, blanks: list[bytes]) -> None:
    line, decode = good_replies()[index]

    found = decode_line(spaced(line, blanks), decode)

    assert found == decode_line(line, decode)
    assert found.answer == json.loads(line)["answer"]


@settings(max_examples=300)
@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode(errors="surrogatepass")))
def test_any_bytes_are_a_reply_or_malformed(line: bytes) -> None:
    for decode in (Q_ACTION, wire.acknowledgement_decoder, wire.hello_decoder):
        assert find_problem(line, decode) == ""


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.sampled_from(["pass", "place"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "tiles", "tile", "at", "name", "from", "to", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(json_values)
def test_any_json_values_are_an_answer_or_malformed(value: Any) -> None:
    line = json.dumps({"nonce": "n", "answer": value}).encode()

    for decode in (Q_ACTION, wire.acknowledgement_decoder, wire.hello_decoder):
        assert find_problem(line, decode) == ""


def test_five_thousand_mutated_lines_are_answers_or_malformed() -> None:
    wrong = [find_problem(line, decode) for line, decode in make_samples(5000)]

    assert [problem for problem in wrong if problem] == []


def test_many_of_the_mutated_lines_are_still_good_and_many_are_not() -> None:
    found = [decode_line(line, decode).why for line, decode in islice(make_samples(1500), 400, None)]

    assert found.count("") > 50
    assert len(set(found)) > 8


# The same on every machine, and always soon.

LIMITED = """
import json, sys
from fairplay.games.q import Q
from fairplay.protocol import wire
from tests.players.fuzz_wire import decode_line
lines = [bytes.fromhex(text) for text in json.load(sys.stdin)]
decode = wire.action_decoder(Q)
sys.setrecursionlimit(int(sys.argv[1]))
whole = [decode_line(line, decode).why for line in lines]
first = [type(wire.read_reply(line)).__name__ for line in lines]
print(json.dumps([whole, first]))
"""
NESTED = [reply(b"[" * count + b"]" * count) for count in (31, 33, 100, 190, 300, 900, 1100, 4000)]
NESTED += [reply(b'{"a":' * count + b"1" + b"}" * count) for count in (31, 33, 100, 190, 300, 900)]


def judged_at(limit: int) -> list[list[str]]:
    lines = [*NESTED, *(line for of in CASES.values() for line, _ in of if len(line) < 10_000)]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit)],
        input=json.dumps([line.hex() for line in lines]),
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[list[str]] = json.loads(done.stdout)
    return found


def test_the_verdict_does_not_depend_on_how_deep_python_may_recurse() -> None:
    low, high = judged_at(200), judged_at(10_000)

    assert low[0] == high[0]


def test_reading_a_reply_does_not_depend_on_how_deep_python_may_recurse() -> None:
    low, high = judged_at(200), judged_at(10_000)

    assert low[1] == high[1]


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


def test_a_question_is_one_line_of_json_with_the_common_fields() -> None:
    game = Q()
    view = game.view(game.deal(2, bytes(32)), 0)
    result = Result((frozenset({0}),), (), receipt=Receipt(1, "0" * 64))
    said: list[tuple[messages.Message, str, str]] = [
        (messages.Start(0, ("a\nb", "c"), view), "start", "view"),
        (messages.TakeTurn(view), "take_turn", "view"),
        (messages.Tell(("red star",)), "tell", "news"),
        (messages.End(result), "end", "result"),
    ]

    for message, tag, field in nonempty(said):
        line = wire.encode_question(message, game, match_id="m", turn=3, nonce="n", limit=2.5)
        plain = json.loads(line)
        assert line.count(b"\n") == 1 and line.endswith(b"\n")
        assert (plain["type"], plain["match"], plain["turn"], plain["nonce"], plain["limit"]) == (tag, "m", 3, "n", 2.5)
        assert field in plain
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


# A meter that cannot fail is no meter.


def failing() -> list[str]:
    """The rows of the table that are not as they should be."""
    return [row for row, of in CASES.items() for line, why in of if not is_as_due(decode_line(line, Q_ACTION).why, why)]


def test_the_table_of_bad_lines_detects_a_decoder_that_accepts_duplicate_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "reject_duplicate_keys", dict)

    assert set(failing()) == {"P5 twice"}


@pytest.mark.parametrize(
    ("name", "lax", "row"),
    [
        ("reject_float", float, "P3 numbers"),
        ("reject_constant", float, "P4 no numbers"),
        ("parse_bounded_int", int, "P3 numbers"),
        ("is_too_deep", lambda text: False, "P2 nesting"),
    ],
)
def test_the_table_of_bad_lines_detects_a_lax_decoder(
    name: str, lax: Any, row: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, name, lax)

    assert row in failing()


def test_the_mutation_test_detects_a_decoder_that_judges_another_line(monkeypatch: pytest.MonkeyPatch) -> None:
    line = reply(b'{"type":"exchange"}')

    monkeypatch.setattr(wire, "read_answer", lambda *_: Pass())

    assert "was judged" in find_problem(line, Q_ACTION)


def test_the_mutation_test_detects_a_decoder_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def read_answer(*_: Any) -> Malformed:
        raise RecursionError("too deep")

    monkeypatch.setattr(wire, "read_answer", read_answer)

    assert find_problem(PASS, Q_ACTION) == "RecursionError: too deep"
