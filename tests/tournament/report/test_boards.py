"""Check the boards in the report of a tournament, and follow their links."""

import re
from base64 import b64decode
from pathlib import Path

import pytest
from msgspec.structs import replace

from fairplay import Entrant
from fairplay.core.errors import HostFault
from fairplay.journal.pictures import picture_at
from fairplay.journal.replay import read_journal
from fairplay.page.replay import render_replay
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.report import boards
from fairplay.tournament.report.boards import notable_matches, render_boards, write_replay_pages
from tests.nonempty import nonempty
from tests.tournament.example_tournaments import BAD_PLAYERS, play_tournament, random_matches

Played = tuple[Path, list[CountedMatch]]


@pytest.fixture(scope="module")
def tournament(tmp_path_factory: pytest.TempPathFactory) -> Played:
    directory = tmp_path_factory.mktemp("cup")
    (directory / "bad_bot.py").write_text(BAD_PLAYERS)
    players = [("ann", "greedy"), ("<bob>", "random"), ("eve", "py:bad_bot:Crash")]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(directory)
        _, counted = play_tournament(directory, *(Entrant(address, name) for name, address in players), games=12)
    return directory, counted


def ended(match: str, *scores: int | None, attempt: str = "") -> CountedMatch:
    return CountedMatch(match=match, deal=0, names=("a", "b"), places=(1, 2), scores=scores, attempt=attempt)


LAST, EJECTION, HIGHEST = "The last match", "The last ejection", "The highest score"


@pytest.mark.parametrize(
    ("counted", "notable"),
    [
        (
            [
                ended("m1", 9, 99),
                *random_matches(["ann", "bob"], 1, bad="bob"),
                ended("m2", 3, 4),
                *random_matches(["ann", "bob"], 5),
            ],
            {"m4": LAST, "m0": EJECTION, "m1": HIGHEST},
        ),
        ([ended("m1", 3, None), ended("m2", 9, None), ended("m3", 4, 5)], {"m3": LAST, "m2": HIGHEST}),
        ([ended("m1", 9, 99, attempt="m1-2")], {"m1-2": LAST}),
        ([CountedMatch(match="m1", deal=0, names=("a", "b"), void="the disk was full")], {}),
    ],
    ids=["all", "forfeited scores", "the attempt that counts", "nothing that counts"],
)
def test_the_last_match_the_last_ejection_and_the_highest_score_are_worth_a_look(
    counted: list[CountedMatch], notable: dict[str, str]
) -> None:
    assert list(notable_matches(counted).items()) == list(notable.items())


def test_the_boards_are_the_last_pictures_and_lead_to_replays(tournament: Played) -> None:
    directory, counted = tournament

    page = "\n".join(render_boards(write_replay_pages(directory, counted)))

    links = dict(re.findall(r'<a href="(replays/m\d+\.html)#(\d+)">', page))
    assert 2 <= len(links) <= 3
    assert {f"replays/{path.name}" for path in (directory / "replays").iterdir()} == set(links)
    sources = re.findall(r'base64,([^"]+)"', page)
    for (link, at), dark, light in zip(nonempty(links.items()), sources[::2], sources[1::2], strict=True):
        journal = directory / "matches" / f"{Path(link).stem}.jsonl"
        recorded = read_journal(journal)
        assert (directory / link).read_text(encoding="utf-8") == render_replay(journal)
        assert b64decode(light).decode() == picture_at(recorded, None, dark=False, small=True)
        assert b64decode(dark).decode() == picture_at(recorded, None, dark=True, small=True)
        assert 0 < int(at) <= len(recorded.facts)
    assert "&lt;bob&gt;" in page
    assert "fairplay replay matches/MATCH.jsonl" in page, "any other, and none of these"


def test_the_last_ejection_is_where_its_link_leads(tournament: Played) -> None:
    directory, counted = tournament
    guilty = [one for one in counted if any(one.faults)]
    quiet = [one for one in counted if not any(one.faults)]

    (board,) = [it for it in write_replay_pages(directory, [*guilty, *quiet]) if it.why == "The last ejection"]

    facts = read_journal(directory / "matches" / f"{board.match}.jsonl").facts
    assert type(facts[int(board.link.partition("#")[2]) - 1]).__name__ == "Ejected"


@pytest.mark.parametrize("harm", ["missing", "damaged", "unfinished", "elsewhere"])
def test_a_match_without_a_sound_journal_is_left_out(tournament: Played, harm: str, tmp_path: Path) -> None:
    directory, (*_, last) = tournament
    text = (directory / "matches" / f"{last.match}.jsonl").read_bytes()
    (tmp_path / "matches").mkdir()
    file = tmp_path / "matches" / f"{last.match}.jsonl"
    if harm == "damaged":
        file.write_bytes(text.replace(b'"seat":', b'"seat": ', 1))
    elif harm == "unfinished":
        file.write_bytes(b"".join(text.splitlines(keepends=True)[:-1]))
    elif harm == "elsewhere":
        (tmp_path / last.match).with_suffix(".jsonl").write_bytes(text)
        last = replace(last, attempt=f"../{last.match}")

    assert write_replay_pages(tmp_path, [last]) == []
    assert not (tmp_path / "replays").exists()


def test_what_is_too_large_is_linked_to_or_left_out(tournament: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    directory, counted = tournament
    monkeypatch.setattr(boards, "MAX_PICTURE_CHARS", 100)
    page = "\n".join(render_boards(write_replay_pages(directory, counted)))
    monkeypatch.undo()
    monkeypatch.setattr(boards, "MAX_REPLAY_PICTURE_CHARS", 100)
    long = write_replay_pages(directory, counted)

    assert "<img" not in page
    assert '<a href="replays/' in page
    assert {board.link for board in long} == {""}
    assert "<a " not in "".join(render_boards(long))
    assert "which is long: use that command" in "".join(render_boards(long))


def test_a_directory_in_which_nothing_can_be_made_is_a_fault_of_the_host(tournament: Played, tmp_path: Path) -> None:
    directory, counted = tournament
    (tmp_path / "matches").symlink_to(directory / "matches")
    (tmp_path / "replays").write_text("in the way")

    with pytest.raises(HostFault, match="replays: cannot be created: File exists"):
        write_replay_pages(tmp_path, counted)
