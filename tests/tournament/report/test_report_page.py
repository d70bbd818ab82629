"""Test the report of a tournament as a browser reads it."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace

from fairplay import Entrant
from fairplay.core.events import Fault
from fairplay.journal.replay import RecordedMatch, parse_journal
from fairplay.render.text import printable
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.report import ejections, plots, report_page
from fairplay.tournament.report.figures import Ejection, ThinkingTime, head_to_head
from fairplay.tournament.result import TournamentResult
from fairplay.tournament.spec import TournamentSpec
from tests.journal.forging import forge_journal, rewrite_opening
from tests.nonempty import nonempty
from tests.tournament.example_tournaments import (
    BAD_PLAYERS,
    HOSTILE,
    compute_standings,
    make_spec,
    play_tournament,
    random_matches,
)

NAMES = ["ann", "bob", "cyd"]
EMPTY = {"meta", "source", "img"}  # elements that have no end
TAGS = (
    "html head meta title style body h1 h2 p em code div table thead tbody tr th td bdi small a picture source img "
    "figure figcaption details summary pre svg defs g path use rect text clippath"
)
LOADING = re.compile(r"(?:https?|ftp|file|data|javascript):|//|@import|url\((?!#)", re.IGNORECASE)
LINK = re.compile(r"#.*|replays/[\w-]+\.html#\d+")
INSIDE = re.compile(r"data:image/svg\+xml;base64,[\w+/]+=*")


class Reader(HTMLParser):
    """What is on a page; elements have to end where they should."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.styles = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["style"]:
            self.styles += data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def page_of(directory: Path, counted: list[CountedMatch], spec: TournamentSpec) -> str:
    return report_page.render_report(TournamentResult(spec, directory, tuple(counted)))


def read(page: str) -> Reader:
    """The page, once it is seen that it holds what pages of ours hold, and nothing else."""
    reader = Reader(page)
    assert set(reader.tags) <= set(TAGS.split())
    assert {name for name, _ in reader.attributes if name.startswith("on") or name == "action"} == set()
    assert all(LINK.fullmatch(value) for name, value in reader.attributes if name.endswith("href"))
    assert all(INSIDE.fullmatch(value) for name, value in reader.attributes if name in ("src", "srcset"))
    others = [value for name, value in reader.attributes if name not in ("src", "srcset", "content")]
    assert not any(LOADING.search(value) for value in others)
    assert not LOADING.search(reader.styles)
    ids = [value for name, value in reader.attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    return reader


def marks(picture: str) -> list[str]:
    return re.findall(rf"<use[^>]*{plots.BLUE}", picture)


Played = tuple[Path, TournamentSpec, list[CountedMatch]]


@pytest.fixture(scope="module")
def tournament(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A tournament of built-in players and bad ones with 24 matches."""
    directory = tmp_path_factory.mktemp("cup")
    (directory / "bad_ones.py").write_text(BAD_PLAYERS)
    players = [("ann", "greedy"), ("bob", "random"), ("cyd", "py:bad_ones:Cheat"), ("<eve>", "py:bad_ones:Crash")]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(directory)
        spec, counted = play_tournament(directory, *(Entrant(address, name) for name, address in players), games=24)
    return directory, spec, counted


def ejection_of(counted: list[CountedMatch], match: str, attempt: str = "") -> CountedMatch:
    """The first match with an ejection, under another id."""
    return replace(next(one for one in counted if any(one.faults)), match=match, attempt=attempt, receipt="")


def test_the_report_of_a_played_tournament_has_standings_and_ejections(tournament: Played) -> None:
    directory, spec, counted = tournament

    report_page.write_report(TournamentResult(spec, directory, tuple(counted)))

    text = (directory / "report.html").read_text(encoding="utf-8")
    page = read(text)
    faults = sum(fault is not None for one in counted for fault in one.faults)
    assert "Tournament of fish" in page.text
    assert "4 players, 24 matches" in page.text
    for heading in nonempty(("Ratings", "Head to head", "Seats", "Scores", "Ejections by fault")):
        assert page.texts.count(heading) == 1
    assert page.tags.count("svg") == 6
    assert page.text.count("was ejected from a match of fish") == faults == page.tags.count("pre")
    assert any(all(one.faults) for one in counted if one.faults), "and both of a match have stories of their own"
    assert len({text for text in page.texts if "was ejected from a match of fish" in text}) == faults
    assert "<eve>" in page.texts
    assert "A penguin is placed on a tile of the board" in page.text
    assert "RuntimeError: a <b>bad</b> day</pre>" in page.text
    assert "fairplay debug matches/m" in page.text
    report_page.write_report(TournamentResult(spec, directory, tuple(counted)))
    assert (directory / "report.html").read_text(encoding="utf-8") == text, "the same each time"
    assert (spec.seed or b"").hex()[:12] not in text
    assert str(directory) not in re.sub(r"File &quot;.*?&quot;", "", text), "but for what a player's own traceback says"


def test_faults_of_all_kinds_share_a_column_and_notes_stand_below_names() -> None:
    rows, _ = compute_standings(make_spec(NAMES), random_matches(NAMES, bad="bob"))
    ann, bob, cyd = sorted(rows, key=lambda row: row.name)
    bad = replace(bob, faults={"crashed": 3, "timed_out": 1}, note="too few games", expelled=True)

    table = Reader(report_page.render_standings([bad, ann]))

    assert table.tags.count("th") == table.tags.count("td") / 2
    assert {"3 crashed, 1 timed out", "too few games, expelled", "ejected"} <= set(table.texts)
    assert "ejected" not in Reader(report_page.render_standings([ann, cyd])).texts


def test_a_journal_that_is_missing_or_damaged_is_said_to_be_so(tournament: Played, tmp_path: Path) -> None:
    directory, spec, counted = tournament
    guilty = [one for one in counted if any(one.faults)]
    missing, damaged, forged, *others = (tmp_path / "matches" / f"{one.match}.jsonl" for one in guilty)
    (tmp_path / "matches").mkdir()
    for path in (damaged, forged, *others):
        path.write_bytes((directory / "matches" / path.name).read_bytes())
    damaged.write_bytes(damaged.read_bytes().replace(b'"seat":', b'"seat": ', 1))
    forge_journal(forged, rewrite_opening(seed="00" * 32))

    page = read(page_of(tmp_path, counted, spec))

    told = sum(fault is not None for one in guilty[3:] for fault in one.faults)
    assert f"there is no journal matches/{missing.name}" in page.text
    assert f"matches/{damaged.name}: line" in page.text
    assert f"matches/{forged.name}: line" in page.text
    assert page.tags.count("pre") == told > 5


def test_only_what_is_not_the_journal_of_its_receipt_is_refereed_again(tournament: Played, tmp_path: Path) -> None:
    directory, _, counted = tournament
    guilty = next(one for one in counted if any(one.faults))
    path = tmp_path / "matches" / f"{guilty.match}.jsonl"
    path.parent.mkdir()
    path.write_bytes((directory / "matches" / path.name).read_bytes())
    forge_journal(path, rewrite_opening(seed="00" * 32))
    heads = parse_journal(path.read_bytes()).heads

    assert isinstance(ejections.find_journal(tmp_path, guilty.match, guilty.receipt), str)  # why it is not believed
    assert isinstance(ejections.find_journal(tmp_path, guilty.match, f"{len(heads) - 1}:{heads[-1]}"), RecordedMatch)


def test_an_ejection_is_explained_by_the_attempt_that_counts(tournament: Played) -> None:
    directory, spec, counted = tournament
    guilty, elsewhere = next(one.match for one in counted if any(one.faults)), directory.parent / "other"
    (elsewhere / "matches").mkdir(parents=True, exist_ok=True)

    inside = read(page_of(directory, [ejection_of(counted, "first", guilty)], spec))
    outside = read(page_of(elsewhere, [ejection_of(counted, "x", f"../../{directory.name}/matches/{guilty}")], spec))

    assert "pre" in inside.tags
    assert "there is no journal" in outside.text
    assert "pre" not in outside.tags


def test_hostile_names_are_nothing_but_names(tmp_path: Path) -> None:
    page = read(page_of(tmp_path, random_matches(HOSTILE, 200, 3, bad=HOSTILE[1]), make_spec(HOSTILE)))

    for name in nonempty(HOSTILE):
        assert printable(name, 60) in page.texts
        assert page.texts.count(printable(name, 16)) >= 3, "and on the pictures"


def test_matches_that_do_not_count_are_said_with_the_reason(tmp_path: Path) -> None:
    void = [CountedMatch(match=f"v{it}", deal=0, names=("ann", "bob"), void="the <disk> was full") for it in range(3)]

    page = read(page_of(tmp_path, [*random_matches(NAMES, 200), *void], make_spec([*NAMES, "dan"])))
    empty = read(page_of(tmp_path, [], make_spec(NAMES)))

    assert "200 matches." in page.text
    assert "3 matches do not count: the <disk> was full (3)" in page.text
    row = page.text.partition("dan ./bots/3.py")[2].partition("Ratings are")[0]
    assert "never played" in row
    assert "%" not in row
    assert "arbitrarily" not in page.text and "Too few games" not in page.text, "as that is not the case"
    assert "0 matches" in empty.text and "No player was ejected." in empty.text
    assert "svg" not in empty.tags


def test_open_intervals_are_arrows(tmp_path: Path) -> None:
    counted = random_matches(NAMES, 90, bad="cyd")
    rows, _ = compute_standings(make_spec(NAMES), counted)

    assert rows[2].rating_low is None
    assert len(marks(plots.ratings_plot(rows))) == 4, "a dot for each, and an arrow"
    assert len(marks(plots.ratings_plot(rows[:2]))) == 2
    assert "may be arbitrarily weak" in read(page_of(tmp_path, counted, make_spec(NAMES))).text


def test_players_that_took_no_time_are_drawn_too() -> None:
    slow, quick = ThinkingTime("ann", 3, 0.5, 0.9), ThinkingTime("bob", 3, 0.0, 0.0)

    assert len(marks(plots.thinking_time_plot([slow, quick]))) == len(marks(plots.thinking_time_plot([slow, slow])))


def test_bars_of_faults_begin_where_others_end() -> None:
    row = replace(compute_standings(make_spec(["ann"]), [])[0][0], faults={"crashed": 3, "illegal": 2, "timed_out": 1})

    bars = re.findall(r'<path d="M ([\d.]+) [^"]*?L ([\d.]+) [^"]*" clip-path[^>]*fill: #', plots.faults_plot([row]))

    assert len(bars) == 3
    assert [begin for begin, _ in bars[1:]] == [end for _, end in bars[:-1]]


def test_a_matrix_shows_the_share_of_the_row_and_has_an_end() -> None:
    counted = [
        CountedMatch(match="", deal=0, names=("ann", "bob"), places=places)
        for places in [(1, 2), (1, 2), (1, 2), (2, 1)]
    ]
    names = [f"player {number}" for number in range(9)]

    small = Reader(plots.head_to_head_plot(head_to_head(NAMES, counted), 9))
    large = Reader(plots.head_to_head_plot(head_to_head(names, random_matches(names, 300)), 4))

    assert [text for text in small.texts if text.strip().isdigit()] == ["75", "25"]
    assert [text for text in large.texts if text.startswith("player")] == names[:4] * 2


def test_a_very_long_story_is_cut(tmp_path: Path) -> None:
    ejection = Ejection("m1", 0, "ann", Fault.CRASHED)

    told = Reader(
        report_page.render_ejection(ejections.ExplainedEjection(ejection, "raised", ("<b>" * 9000, "the end")))
    )

    assert told.text.endswith("For all of it: fairplay why matches/m1.jsonl")
    assert len(told.text) < report_page.MAX_EXPLANATION_CHARS + 100


def test_a_player_that_fails_often_hides_no_other_ejections() -> None:
    often = [Ejection(f"m{it}", 0, "bob", Fault.CRASHED) for it in range(5000)]
    rarely = [Ejection(f"n{it}", 1, "bob", Fault.ILLEGAL) for it in range(3)]
    once = Ejection("last", 0, "ann", Fault.GONE)

    some_of_them = ejections.choose_ejections([*often, *rarely, once])

    assert len(some_of_them) == ejections.MAX_EXPLAINED_EJECTIONS
    assert some_of_them == [once, *often[: ejections.MAX_EXPLAINED_EJECTIONS - 4], *rarely]


def test_all_ejections_of_a_player_are_counted_above_those_that_are_shown(tmp_path: Path) -> None:
    counted = random_matches(NAMES, 900, bad="cyd")
    total = sum("cyd" in one.names for one in counted)

    page = read(page_of(tmp_path, counted, make_spec(NAMES)))

    assert total > ejections.MAX_EXPLAINED_EJECTIONS
    assert f"cyd : {total} crashed" in page.text
    assert f"Here are {ejections.MAX_EXPLAINED_EJECTIONS} of them" in page.text
    assert page.text.count("there is no journal") == ejections.MAX_EXPLAINED_EJECTIONS


def test_only_the_report_needs_the_library_for_plots() -> None:
    modules = "fairplay.tournament.report.table, fairplay.tournament.report.results"
    loads = f"import sys, {modules}; print('matplotlib' in sys.modules)"

    assert subprocess.check_output([sys.executable, "-c", loads], text=True) == "False\n"
