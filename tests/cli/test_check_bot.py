"""Test `fairplay check-bot` with good and bad bots: problems are explained, and nothing is left behind."""

import re
import shlex
import sys
import time
from pathlib import Path

import pytest

from fairplay.diagnosis import bot_check
from fairplay.games import GAMES, game_info
from fairplay.journal.ejection_report import clauses
from tests.built_in_players import quick_address
from tests.cli.command import (
    INSTALLED_COMMAND,
    INTERRUPTIONS,
    LEGAL_BOT,
    CommandResult,
    make_in_process_player,
    run_fairplay,
    start_process,
)
from tests.players.programs import PYTHON, becomes_true, current_holdings, is_cleaned_up, new_holdings, processes_marked

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAIN = (EXAMPLES / "bots" / "fish_plain.py").read_text().partition("\nif __name__")[0]
BUILT_IN = [(game, quick_address(game, player)) for game in GAMES for player in game_info(game).built_in]

# What bots in the protocol do instead of what is best. Only the second game is one of three on a board of five rows.
CHEAT = """
best = choose

def choose(view):
    mine = view["players"][view["seat"]]["penguins"]
    second_game = len(view["players"]) == 3 and len(view["board"]) == 5
    return bad(view) if second_game and len(mine) == 2 else best(view)
"""
ILLEGAL = f"{CHEAT}\ndef bad(view): return {{'type': 'place', 'at': [99, 99]}}"
SLOW = f"{CHEAT}\nimport time\ndef bad(view): time.sleep(SECONDS); return best(view)"
CHATTY = f"{CHEAT}\ndef bad(view): print('thinking...', flush=True); return best(view)"
NOWHERE = "{'type': 'move', 'from': [0, 0], 'to': [0, 0]}"
ODD = f"best = choose\ndef choose(view): return best(view) if len(view['board']) == 5 else {NOWHERE}"


def check(*arguments: str) -> CommandResult:
    done = run_fairplay("check-bot", *arguments)
    assert all(line.isprintable() for line in done.out.split("\n"))
    return done


def program(directory: Path, body: str, before: str = "", after: str = "") -> str:
    """The address of a program that plays Fish as the example does, but for this."""
    path = directory / "bot.py"
    path.write_text(f"{before}\n{PLAIN}\n{body}\nmain()\n{after}\n")
    return f"exec:{shlex.join([*PYTHON, str(path)])}"


def verdicts(done: CommandResult) -> list[str]:
    """The checks that were made, without what is told below them."""
    return re.findall(r"^(?:ok|no|warn) +.*", done.out, re.MULTILINE)


def wrong(done: CommandResult, *, code: int = 1) -> str:
    """The only check that failed, with all that is told below it."""
    assert done.code == code, done
    [found] = re.findall(r"^no   .*\n(?:(?: .*)?\n)*", done.out, re.MULTILINE)
    return str(found)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_an_example_bot_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_check, "BOT_EXIT_TIMEOUT_S", 60.0)  # of which it needs little, but on a busy machine
    before = current_holdings()

    done = check("fish", f"exec:{sys.executable} {EXAMPLES}/bots/fish_sdk.py")

    made = verdicts(done)
    assert done.code == 0
    assert done.out.splitlines()[-1] == "ready to play"
    assert not [line for line in made if line.startswith("no")]
    hello = r"ok   start: it said hello after [\d.]+ m?s, \d+ % of 10 s, with the name random-walk"
    assert re.fullmatch(hello, made[0])
    time = r"(ok  |warn) time: the slowest of \d+ answers took .* % of 5 s; the slowest of 3 starts "
    assert re.match(time, made[-2])
    assert re.match(r"ok   end: it ended by itself within [\d.]+ m?s, ", made[-1])
    assert is_cleaned_up(before), new_holdings(before)


@pytest.mark.parametrize(("game", "player"), BUILT_IN)
def test_the_built_in_players_are_ready_but_for_the_one_that_does_not_care(game: str, player: str) -> None:
    done = check(game, player)

    assert done.err == ""
    assert verdicts(done)[0] == "ok   start: loaded in this process, where no limits are enforced"
    if player == "first":
        assert done.code == 1
        assert f"rule 4.4  {clauses('tsuro')['4.4']}\n" in done.out
    else:
        assert (done.code, done.out.splitlines()[-1]) == (0, "ready to play")


@pytest.mark.parametrize("game", GAMES)
def test_there_are_games_of_the_fewest_and_of_the_most_and_every_position_with_something_to_do(game: str) -> None:
    made = verdicts(check(game, "random"))

    rules, examples = game_info(game).rules(), game_info(game).examples
    on_turn = {name: rules.turn(state) for name, state in examples.items()}
    views = {name: rules.view(examples[name], seat) for name, seat in on_turn.items() if seat is not None}
    least, most = rules.seats[0], rules.seats[-1]
    assert re.match(rf"ok   game 1.*, seat 0 of {least}, with ", made[1])
    assert re.match(rf"ok   game 2.*, seat [1-{least}] of {least + 1}, with ", made[2])
    assert re.match(rf"ok   game 3.*, seat {most - 1} of {most}, with ", made[3])
    assert made[4].startswith("ok   alone: all other players are out: ")
    assert [line.split("'")[1] for line in made[5:-1]] == [name for name in views if any(rules.actions(views[name]))]


def test_parameters_are_taken_and_only_as_many_sit_down_as_they_allow() -> None:
    made = verdicts(check("fish", "random", "--set", "rows=1", "--set", "columns=8"))

    assert [line.partition(", with")[0] for line in made[1:4]] == [
        f"ok   game {number} (rows=1, columns=8), seat {seat}"
        for number, seat in ((1, "0 of 2"), (2, "2 of 4"), (3, "3 of 4"))
    ]


def test_a_player_in_this_process_may_print_and_is_not_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = make_in_process_player(LEGAL_BOT.replace("    return", "    print('hm')\n    return"), tmp_path, monkeypatch)

    done = check("fish", f"ann={bot}", "--limit", "0.000001")

    assert done.code == 0
    assert set(done.err.split()) == {"hm"}
    assert "hm" not in done.out
    assert verdicts(done)[-1].endswith("; no limits are enforced in this process")

    again = check("fish", make_in_process_player("def take_turn(view): raise ValueError('no')", tmp_path, monkeypatch))
    assert again.out.endswith("not ready: 9 of 11 checks failed\n")
    assert again.out.count("evidence  ValueError: no") == 1  # and once is enough
    assert again.out.count("this was explained above\n") == 8


def test_a_cheat_in_the_second_game_alone_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = check("fish", f"ann={program(tmp_path, ILLEGAL)}")

    told = wrong(done)
    assert told.startswith("no   game 2 (rows=5, columns=5), seat 1 of 3, with random, lookahead: illegal, rule 3.2: ")
    assert re.search(r"\n +when +on turn 3 of its own; it took .*\n +after fact 7: random places a penguin at ", told)
    assert "fault     illegal: an action that breaks a rule\n" in told
    assert f"rule 3.2  {clauses('fish')['3.2']}\n" in told
    assert 'answer    ann places a penguin at [99, 99]\n                 {"type":"place","at":[99,99]}\n' in told
    assert "legal     18 answers, such as: ann places a penguin at " in told
    assert re.search(r"What ann was shown:\n\n(.*\n)+ +W  white  ann +0 fish  to place\n", told)
    assert done.out.splitlines()[-1] == "not ready: 1 of 12 checks failed"

    monkeypatch.chdir(tmp_path)
    [again] = re.findall(r"^ +fairplay (play .* --journal games)$", told, re.MULTILINE)
    assert run_fairplay(*shlex.split(again)).code == 0
    [journal] = Path("games").glob("*.jsonl")
    when = "\n  when      on turn 3 of its own\n            after fact 7: random "
    assert when in run_fairplay("why", str(journal)).out


def test_the_match_that_shows_a_fault_again_has_the_limit_and_the_sandbox_of_the_check(tmp_path: Path) -> None:
    told = wrong(check("fish", program(tmp_path, ILLEGAL), "--limit", "7", "--sandbox", "none"))

    [again] = re.findall(r"^ +fairplay play (.*) --journal games$", told, re.MULTILINE)
    assert " --limit 7 --sandbox none " in again


@pytest.mark.parametrize(
    ("body", "said", "advice"),
    [
        ("raise ValueError('no idea')", "ValueError: no idea", ""),
        ("sys.exit(0)", "ended with exit code 0", "read stdin until it ends; "),
    ],
)
def test_a_bot_that_crashes_at_the_start_is_not_tested_further(
    tmp_path: Path, body: str, said: str, advice: str
) -> None:
    done = check("fish", program(tmp_path, f"for n in range(40): print('thinking', n, file=sys.stderr)\n{body}"))

    told = wrong(done)
    assert told.startswith("no   start: crashed, the program ")
    assert re.search(r"\n +when +at hello; it took .*\n +fault +crashed: the player's program failed\n", told)
    assert said in told
    assert "its stderr ends with:\n" in told and "lines left out)\n" in told
    assert "thinking 39\n" in told and "thinking 20\n" not in told
    assert ("advice" in told) == bool(advice)
    assert advice in flat(told)
    assert done.out.endswith("\nnot ready: 1 of 12 checks failed, and 11 were skipped\n")


def test_a_check_says_by_how_much_a_bot_was_too_late(tmp_path: Path) -> None:
    done = check("fish", program(tmp_path, SLOW.replace("SECONDS", "60")), "--limit", "2")

    told = wrong(done)
    assert told.startswith("no   game 2 ")
    assert ": timed out, no answer within 2 s\n" in told
    assert re.search(r"evidence  limit 2.000 s, taken 2.\d+ s, ", told)
    assert " --limit 2 --" in told
    assert "--sandbox" not in told  # which was not asked for
    assert re.search(r"^warn time: the slowest of \d+ answers took 2.\d+ s, 1\d\d % of 2 s; ", done.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("body", "before", "failed", "advice"),
    [
        (CHATTY, "", "game 2", "stdout got something other than a reply: 'thinking...'; print to stderr instead"),
        ("", "print('x' * 10000)", "start", "stdout got something other than a reply: 'xxx"),
        ("", "print('{}', flush=True)", "start", 'a reply is {"nonce": "...", "answer": ...} on one line, with the '),
        ("", "import time; time.sleep(60)", "start", "end each reply with a newline and flush stdout"),
    ],
    ids=["chats", "floods", "forgets the nonce", "never answers hello"],
)
def test_a_check_gives_advice(tmp_path: Path, body: str, before: str, failed: str, advice: str) -> None:
    told = wrong(check("fish", program(tmp_path, body, before), "--limit", "start=2"))

    assert told.startswith(f"no   {failed}")
    assert f"advice {advice}" in flat(told)


def test_a_program_of_its_own_is_told_to_name_its_interpreter(tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_text(PLAIN)

    told = flat(wrong(check("fish", str(path))))

    assert "defines no player: neither a class Player nor a function take_turn" in told
    assert f'advice name a program that speaks the protocol itself exec:"python3 {path}"' in told


def test_a_bot_that_relies_on_others_fails_the_check(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(LEGAL_BOT.replace("    return", "    _ = view.opponents[0]\n    return"))

    done = check("fish", str(tmp_path / "bot.py"))

    refused = [line for line in verdicts(done) if line.startswith("no")]
    assert refused[0] == "no   alone: all other players are out: crashed, the program ended with exit code 1"
    assert {line.partition(":")[0].split("'")[0] for line in refused[1:]} <= {"no   position "}
    assert "IndexError" in done.out


def test_an_illegal_action_in_an_unusual_position_is_shown_with_its_view(tmp_path: Path) -> None:
    done = check("fish", program(tmp_path, ODD))

    refused = [line for line in verdicts(done) if line.startswith("no")]
    assert done.out.endswith("not ready: 4 of 12 checks failed\n")
    assert [line.split("'")[1] for line in refused] == ["placing", "star", "stuck", "freed by an ejection"]
    assert "no   position 'star': illegal, rule 4.1: " in done.out
    assert '\n       as JSON   {"seat":0,"stage":"playing","order":[0,1],' in done.out


def test_a_slow_bot_and_one_that_ignores_eof_are_only_warned(tmp_path: Path) -> None:
    before = current_holdings()

    done = check("fish", program(tmp_path, SLOW.replace("SECONDS", "2.4"), after="time.sleep(60)"), "--limit", "4")

    assert (done.code, done.out.splitlines()[-1]) == (0, "ready to play")
    assert re.search(r"^warn time: .*\n +advice +stay below 50 % of each limit", done.out, re.MULTILINE)
    assert re.search(r"^warn end: it was killed, as it still ran 1 s after .*\n +advice ", done.out, re.MULTILINE)
    assert is_cleaned_up(before), new_holdings(before)
    assert becomes_true(lambda: not processes_marked(str(tmp_path)))


@pytest.mark.alone
def test_a_bot_with_a_slow_start_is_warned_despite_quick_turns(tmp_path: Path) -> None:
    once = f"""
from pathlib import Path
import time
if not Path({str(tmp_path / "started")!r}).exists():
    Path({str(tmp_path / "started")!r}).touch()
    time.sleep(2.2)
"""

    done = check("fish", program(tmp_path, once), "--limit", "30,start=4", "--sandbox", "none")

    assert (done.code, done.out.splitlines()[-1]) == (0, "ready to play")
    assert re.search(r"^warn time: .*; the slowest of 3 starts 2\.\d\d s, \d\d % of 4 s$", done.out, re.MULTILINE)
    assert "stay below 50 % of each limit" in done.out


@pytest.mark.parametrize(
    ("method", "when", "shown"),
    [
        ("start(self, *_)", "at the greeting, after 0 turns of its own", r"shown:\n(.*\n)+ +>  seat 0  ann "),
        ("tell(self, news)", "at the news, after 1 turn of its own", r'told:\n\n +\["'),
        ("end(self, result)", "at the end, after ", r"told:\n\n +1\. "),
    ],
)
def test_failures_at_other_moments_are_explained_too(
    method: str, when: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = "from fairplay.games.q.strategies import RECIPES\n    take_turn = staticmethod(RECIPES['dag'])"
    source = f"class Player:\n    {turn}\n    def {method}: return 'thanks'"

    done = check("q", f"ann={make_in_process_player(source, tmp_path, monkeypatch)}")

    assert done.code == 1
    assert re.search(rf"no   game 1.*: malformed, .*\n +when +{when}", done.out)
    assert 'evidence  answered "thanks"\n' in done.out
    assert re.search(f"What ann was {shown}", done.out)


@pytest.mark.parametrize(
    ("moment", "sandbox", "how"),
    [("at hello", "auto", "SIGTERM in the background"), ("on a turn", "none", "Ctrl-C")],
)
def test_an_interrupted_check_leaves_no_process_behind(moment: str, sandbox: str, how: str, tmp_path: Path) -> None:
    start, number = INTERRUPTIONS[how]
    on_turn, asked = moment == "on a turn", tmp_path / "asked"
    pause = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"
    body = f"def choose(view): open({str(asked)!r}, 'w').close(); {pause}" if on_turn else pause
    arguments = ["check-bot", "fish", program(tmp_path, body), "--limit", "60", "--sandbox", sandbox]
    command = start_process([INSTALLED_COMMAND, *arguments], start=start)

    while not (asked.exists() if on_turn else len(processes_marked(str(tmp_path))) > 1):
        assert command.poll() is None
        time.sleep(0.01)
    command.send_signal(number)
    out, err = command.communicate(timeout=20)

    assert out.startswith("ok   start: ") == on_turn
    assert (command.returncode, err.splitlines()[-1]) == (130, "fairplay: interrupted")
    assert becomes_true(lambda: not processes_marked(str(tmp_path)))
