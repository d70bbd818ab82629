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
from fairplay.tournament.report import plots
from fairplay.tournament.report.ejections import (
    MAX_EXPLAINED_EJECTIONS,
    ExplainedEjection,
    choose_ejections,
    find_journal,
)
from fairplay.tournament.report.figures import Ejection, ThinkingTime, head_to_head
from fairplay.tournament.report.report_page import (
    MAX_EXPLANATION_CHARS,
    render_ejection,
    render_report,
    render_standings,
    write_report,
)
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
PAGE = "html head meta title style body h1 h2 p em code div table thead tbody tr th td bdi small".split()  # noqa: SIM905
BOARD = {"a", "picture", "source", "img"}
FOLDED = "figure figcaption details summary pre".split()  # noqa: SIM905
PICTURE = "svg defs g path use rect text clippath".split()  # noqa: SIM905
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
    return render_report(TournamentResult(spec, directory, tuple(counted)))


def read(page: str) -> Reader:
    """The page, once it is seen that it holds what pages of ours hold, and nothing else."""
    reader = Reader(page)
    assert set(reader.tags) <= {*PAGE, *FOLDED, *PICTURE, *BOARD}
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
    """What stands for figures on a picture."""
    return re.findall(rf"<use[^>]*{plots.BLUE}", picture)


@pytest.fixture(scope="module")
def tournament(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TournamentSpec, list[CountedMatch]]:
    """A tournament of built-in players and bad ones with twenty matches."""
    directory = tmp_path_factory.mktemp("cup")
    (directory / "bad_ones.py").write_text(BAD_PLAYERS)
    players = [("ann", "greedy"), ("bob", "random"), ("cyd", "py:bad_ones:Cheat"), ("<eve>", "py:bad_ones:Crash")]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(directory)
        spec, counted = play_tournament(directory, *(Entrant(address, name) for name, address in players), games=24)
    return directory, spec, counted


def test_the_report_of_a_played_tournament_has_standings_and_ejections(
    tournament: tuple[Path, TournamentSpec, list[CountedMatch]],
) -> None:
    directory, spec, counted = tournament

    write_report(TournamentResult(spec, directory, tuple(counted)))

    page = read((directory / "report.html").read_text(encoding="utf-8"))
    faults = sum(fault is not None for one in counted for fault in one.faults)
    assert "Tournament of fish" in page.text
    assert "4 players, 24 matches" in page.text
    for heading in nonempty(("Ratings", "Head to head", "Seats", "Scores", "Ejections by fault")):
        assert page.texts.count(heading) == 1
    assert page.tags.count("svg") == 5, "nobody knows the times of these"
    assert page.text.count("was ejected from a match of fish") == faults == page.tags.count("pre")
    assert any(all(one.faults) for one in counted if one.faults), "and both of a match have stories of their own"
    assert len({text for text in page.texts if "was ejected from a match of fish" in text}) == faults
    assert "<eve>" in page.texts
    assert "A penguin is placed on a tile of the board" in page.text
    assert "RuntimeError: a <b>bad</b> day</pre>" in page.text
    assert "fairplay debug matches/m" in page.text


def test_faults_of_all_kinds_share_a_column_and_notes_stand_below_names(tmp_path: Path) -> None:
    spec, counted = make_spec(NAMES), random_matches(NAMES, bad="bob")
    rows, _ = compute_standings(spec, counted)
    ann, bob, cyd = sorted(rows, key=lambda row: row.name)

    table = Reader(
        render_standings(
            [replace(bob, faults={"crashed": 3, "timed_out": 1}, note="too few games", expelled=True), ann]
        )
    )

    assert table.tags.count("th") == table.tags.count("td") / 2
    assert "3 crashed, 1 timed out" in table.texts
    assert "too few games, expelled" in table.texts
    assert "ejected" in table.texts
    assert "ejected" not in Reader(render_standings([ann, cyd])).texts


def test_no_seed_and_no_path_of_this_machine_is_on_the_page(
    tournament: tuple[Path, TournamentSpec, list[CountedMatch]],
) -> None:
    directory, spec, counted = tournament

    page = page_of(directory, counted, spec)

    assert (spec.seed or b"").hex()[:12] not in page
    assert str(directory) not in re.sub(r"File &quot;.*?&quot;", "", page), "but for what a player's own traceback says"


def test_a_journal_that_is_missing_or_damaged_is_said_to_be_so(
    tournament: tuple[Path, TournamentSpec, list[CountedMatch]], tmp_path: Path
) -> None:
    directory, spec, counted = tournament
    guilty = [one for one in counted if any(one.faults)]
    (tmp_path / "matches").mkdir()
    for one in guilty[1:]:
        name = f"matches/{one.match}.jsonl"
        (tmp_path / name).write_bytes((directory / name).read_bytes())
    damaged = tmp_path / f"matches/{guilty[1].match}.jsonl"
    damaged.write_bytes(damaged.read_bytes().replace(b'"seat":', b'"seat": ', 1))
    forge_journal(tmp_path / f"matches/{guilty[2].match}.jsonl", rewrite_opening(seed="00" * 32))

    page = read(page_of(tmp_path, counted, spec))

    told = sum(fault is not None for one in guilty[3:] for fault in one.faults)
    assert f"there is no journal matches/{guilty[0].match}.jsonl" in page.text
    assert f"matches/{guilty[1].match}.jsonl: line" in page.text
    assert f"matches/{guilty[2].match}.jsonl: line" in page.text
    assert page.tags.count("pre") == told > 5


def test_only_what_is_not_the_journal_of_its_receipt_is_refereed_again(
    tournament: tuple[Path, TournamentSpec, list[CountedMatch]], tmp_path: Path
) -> None:
    directory, _, counted = tournament
    guilty = next(one for one in counted if any(one.faults))
    path = tmp_path / "matches" / f"{guilty.match}.jsonl"
    path.parent.mkdir()
    path.write_bytes((directory / "matches" / path.name).read_bytes())
    forge_journal(path, rewrite_opening(seed="00" * 32))
    heads = parse_journal(path.read_bytes()).heads

    forged = find_journal(tmp_path, guilty.match, guilty.receipt)
    vouched_for = find_journal(tmp_path, guilty.match, f"{len(heads) - 1}:{heads[-1]}")

    assert isinstance(forged, str)
    assert isinstance(vouched_for, RecordedMatch)


def test_a_match_is_no_way_out_of_the_directory(
    tournament: tuple[Path, TournamentSpec, list[CountedMatch]], tmp_path: Path
) -> None:
    directory, spec, counted = tournament
    guilty = next(one for one in counted if any(one.faults))
    elsewhere = CountedMatch(
        match="x",
        attempt=f"../../{directory.name}/matches/{guilty.match}",
        deal=0,
        names=guilty.names,
        places=guilty.places,
        faults=guilty.faults,
    )
    (directory.parent / "other" / "matches").mkdir(parents=True, exist_ok=True)

    page = read(page_of(directory.parent / "other", [elsewhere], spec))

    assert "there is no journal" in page.text
    assert "pre" not in page.tags


def test_an_ejection_is_explained_by_the_attempt_that_counts(
    tournament: tuple[Path, TournamentSpec, list[CountedMatch]],
) -> None:
    directory, spec, counted = tournament
    guilty = next(one for one in counted if any(one.faults))
    again = CountedMatch(
        match="first", attempt=guilty.match, deal=0, names=guilty.names, places=guilty.places, faults=guilty.faults
    )

    assert "pre" in read(page_of(directory, [again], spec)).tags


def test_hostile_names_are_nothing_but_names(tmp_path: Path) -> None:
    page = read(page_of(tmp_path, random_matches(HOSTILE, 200, 3, bad=HOSTILE[1]), make_spec(HOSTILE)))

    for name in nonempty(HOSTILE):
        assert printable(name, 60) in page.texts
        assert page.texts.count(printable(name, 16)) >= 3, "and on the pictures"


@pytest.mark.parametrize("count", [2, 40])
def test_there_may_be_few_players_or_many(tmp_path: Path, count: int) -> None:
    names = [f"player {number}" for number in range(count)]

    page = read(page_of(tmp_path, random_matches(names, 120), make_spec(names)))

    assert page.texts.count("player 0") == 1 + 1 + 2 + 1 + 1, "table, ratings, meetings, scores, times"
    assert page.tags.count("tr") == count + 1
    assert "No player was ejected." in page.text


def test_a_report_can_be_written_before_the_first_match(tmp_path: Path) -> None:
    page = read(page_of(tmp_path, [], make_spec(NAMES)))

    assert "svg" not in page.tags
    assert "0 matches" in page.text


def test_nothing_is_said_of_how_likely_an_unrated_player_is_the_best(tmp_path: Path) -> None:
    names = [*NAMES, "dan"]

    page = read(page_of(tmp_path, random_matches(NAMES, 90), make_spec(names)))

    row = page.text.partition("dan ./bots/3.py")[2].partition("Ratings are")[0]
    assert "never played" in row
    assert "%" not in row


def test_matches_that_do_not_count_are_said_with_the_reason(tmp_path: Path) -> None:
    void = [CountedMatch(match=f"v{it}", deal=0, names=("ann", "bob"), void="the <disk> was full") for it in range(3)]

    page = read(page_of(tmp_path, [*random_matches(NAMES, 40), *void], make_spec(NAMES)))

    assert "40 matches." in page.text
    assert "3 matches do not count: the <disk> was full (3)" in page.text


def test_open_intervals_are_arrows(tmp_path: Path) -> None:
    rows, _ = compute_standings(make_spec(NAMES), random_matches(NAMES, 90, bad="cyd"))

    page = read(page_of(tmp_path, random_matches(NAMES, 90, bad="cyd"), make_spec(NAMES)))

    assert rows[2].rating_low is None
    assert len(marks(plots.ratings_plot(rows))) == 4, "a dot for each, and an arrow"
    assert len(marks(plots.ratings_plot(rows[:2]))) == 2
    assert "may be arbitrarily weak" in page.text


def test_what_is_not_the_case_is_not_explained(tmp_path: Path) -> None:
    page = read(page_of(tmp_path, random_matches(NAMES, 200), make_spec(NAMES)))

    assert "arbitrarily" not in page.text
    assert "Too few games" not in page.text


def test_a_matrix_shows_the_share_of_the_row() -> None:
    counted = [
        CountedMatch(match="", deal=0, names=("ann", "bob"), places=places)
        for places in [(1, 2), (1, 2), (1, 2), (2, 1)]
    ]

    picture = Reader(plots.head_to_head_plot(head_to_head(["ann", "bob", "cyd"], counted), 9))

    numbers = [text for text in picture.texts if text.strip().isdigit()]
    assert numbers == ["75", "25"]


def test_players_that_took_no_time_are_drawn_too() -> None:
    slow, quick = ThinkingTime("ann", 3, 0.5, 0.9), ThinkingTime("bob", 3, 0.0, 0.0)

    assert len(marks(plots.thinking_time_plot([slow, quick]))) == len(marks(plots.thinking_time_plot([slow, slow])))


def test_bars_of_faults_begin_where_others_end() -> None:
    row = replace(compute_standings(make_spec(["ann"]), [])[0][0], faults={"crashed": 3, "illegal": 2, "timed_out": 1})

    bars = re.findall(r'<path d="M ([\d.]+) [^"]*?L ([\d.]+) [^"]*" clip-path[^>]*fill: #', plots.faults_plot([row]))

    assert len(bars) == 3
    assert [begin for begin, _ in bars[1:]] == [end for _, end in bars[:-1]]


def test_a_matrix_has_an_end() -> None:
    names = [f"player {number}" for number in range(9)]

    picture = Reader(plots.head_to_head_plot(head_to_head(names, random_matches(names, 300)), 4))

    assert [text for text in picture.texts if text.startswith("player")] == names[:4] * 2


def test_a_very_long_story_is_cut(tmp_path: Path) -> None:
    ejection = Ejection("m1", 0, "ann", Fault.CRASHED)

    told = Reader(render_ejection(ExplainedEjection(ejection, "raised", ("<b>" * 9000, "the end"))))

    assert told.text.endswith("For all of it: fairplay why matches/m1.jsonl")
    assert len(told.text) < MAX_EXPLANATION_CHARS + 100


def test_the_same_tournament_has_the_same_page(tournament: tuple[Path, TournamentSpec, list[CountedMatch]]) -> None:
    directory, spec, counted = tournament

    assert page_of(directory, counted, spec) == page_of(directory, counted, spec)


def test_a_player_that_fails_often_hides_no_other_ejections() -> None:
    often = [Ejection(f"m{it}", 0, "bob", Fault.CRASHED) for it in range(5000)]
    rarely = [Ejection(f"n{it}", 1, "bob", Fault.ILLEGAL) for it in range(3)]
    once = Ejection("last", 0, "ann", Fault.GONE)

    some_of_them = choose_ejections([*often, *rarely, once])

    assert len(some_of_them) == MAX_EXPLAINED_EJECTIONS
    assert some_of_them == [once, *often[: MAX_EXPLAINED_EJECTIONS - 4], *rarely]


def test_ejections_that_are_left_out_are_counted(tmp_path: Path) -> None:
    page = read(page_of(tmp_path, random_matches(NAMES, 900, bad="cyd"), make_spec(NAMES)))

    assert f"Here are {MAX_EXPLAINED_EJECTIONS} of them" in page.text
    assert page.text.count("there is no journal") == MAX_EXPLAINED_EJECTIONS


def test_all_ejections_of_a_player_are_counted_above_those_that_are_shown(tmp_path: Path) -> None:
    counted = random_matches(NAMES, 900, bad="cyd")
    ejections = sum("cyd" in one.names for one in counted)

    page = read(page_of(tmp_path, counted, make_spec(NAMES)))

    assert ejections > MAX_EXPLAINED_EJECTIONS
    assert f"cyd : {ejections} crashed" in page.text


def test_only_the_report_needs_the_library_for_plots() -> None:
    modules = "fairplay.tournament.report.table, fairplay.tournament.report.results"
    loads = f"import sys, {modules}; print('matplotlib' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
