"""Test docs/protocol.md against the code: its transcript, messages and their fields, faults and numbers."""

import re
from typing import get_args

import msgspec
import pytest

from fairplay import Ejected, Fault, Moment
from fairplay.games import GAMES
from fairplay.players.player_loop import serve_player
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.protocol.replies import MAX_STALE_REPLIES
from tests.examples.transcript import PAGE, rewrite_page
from tests.nonempty import nonempty
from tools.schema import definitions

TEXT = PAGE.read_text()
FLOWING = " ".join(TEXT.split())  # wherever the lines end


def test_the_transcript_is_what_a_bot_and_the_referee_say() -> None:
    assert rewrite_page() == TEXT, "run python -m tests.examples.transcript"


def test_every_message_is_described_with_all_its_fields() -> None:
    for kind in nonempty(get_args(wire.WireMessage)):
        fields = {field.name for field in msgspec.structs.fields(kind)} - {"match", "turn", "nonce", "limit"}
        (row,) = re.findall(rf"^\| `{kind.__struct_config__.tag}` .*$", TEXT, re.MULTILINE)

        assert all(f"`{field}`" in row for field in fields)


def test_every_fault_is_described() -> None:
    table = TEXT.partition("## Who is ejected")[2].partition("|---|---|\n")[2]

    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [fault.value for fault in Fault]


def test_the_goodbye_is_what_the_referee_says() -> None:
    ejected = Ejected(0, Fault.ILLEGAL, Moment.TURN, "rule 3.2: there is no tile at [9, 9]", "3.2")

    assert f"```json\n{wire.encode_goodbye('m1', ejected).decode()}```" in TEXT


def test_what_is_said_at_a_server_is_what_a_server_says_and_a_player_answers() -> None:
    lines = re.findall(r"^(server|bot) +(\{.*\})$", TEXT, re.MULTILINE)
    spoken = [text.encode() for by, text in lines if by == "server"]
    answers: list[bytes] = []

    assert serve_player(lambda game: never, spoken, answers.append, name="ann", game="fish") is None

    assert [type(wire.decode_line(text)) for text in spoken] == [wire.Hello, wire.Welcome]
    assert [wire.encode(wire.decode_line(text)) for text in spoken] == spoken
    assert answers == [text.encode() + b"\n" for by, text in lines if by == "bot" and '"game"' in text]
    assert len(answers) == 1


def never(view: object) -> None:
    raise AssertionError("nobody plays here")


def test_an_introduction_is_described_with_all_its_fields() -> None:
    table = TEXT.partition("## Introductions")[2].partition("\n## ")[0]

    fields = [field.name for field in msgspec.structs.fields(wire.Introduction)]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == fields


@pytest.mark.parametrize("game", GAMES)
def test_every_view_is_described_with_all_its_fields(game: str) -> None:
    view = definitions()[definitions()[f"{game}.view"]["$ref"].rpartition("/")[2]]
    _, row = re.findall(rf"^\| {game} \| .*$", TEXT, re.MULTILINE)

    assert all(f"`{field}`" in row for field in view["properties"] if field != "seat")


@pytest.mark.parametrize(
    "sentence",
    [
        f"`protocol` ({wire.PROTOCOL_VERSION})",
        f"1 to {wire.MAX_NAME_CHARS} of `A-Z`, `a-z`, `0-9`, `_` and `-`",
        f"at most {wire.MAX_LINE_BYTES} bytes, without its end",
        f"at most {wire.MAX_NUMBER_DIGITS} digits",
        f"nested more than {wire.MAX_JSON_DEPTH} deep",
        f"more than {wire.MAX_LINE_BYTES} bytes without an end",
        f"more than {MAX_STALE_REPLIES} replies to questions that were answered before",
        f"{Limits().start_up:g} seconds for `hello`",
        f"{Limits().move:g} seconds for everything else",
        f"within {Limits().goodbye:g} seconds",
    ],
)
def test_the_numbers_are_those_of_the_code(sentence: str) -> None:
    assert sentence in FLOWING
