"""Test that each command refuses what makes no sense in one line, before it writes, starts or connects to anything."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from fairplay.journal.index import INDEX_FILE
from tests.cli.command import LEGAL_BOT, damage_journal, record_journal, refusal_line, run_fairplay, run_script
from tests.cli.tournament_files import write_tournament_file

CHESS = "there is no game 'chess'; there is fish, tsuro, q; name your own game with --game py:module:Name"
NO_TEXT = "'\\udcff' is not valid UTF-8"
NAME_RULE = "is not a valid name: a name is 1 to 20 of A-Z, a-z, 0-9, _ and -"
RECEIPT_RULE = "is not a receipt: expected a number, a colon and 64 hex digits"
NAME_AND_VALUE = "expected NAME=VALUE, each NAME once"
TABLE = "play fish greedy random"
GAMES = f"{TABLE} --games 2"
DEBUG = "debug match.jsonl --seat 0"
SET = "why-not fish --view view.json 'null' --set"
WITH_GAMES = "cannot be used with --games; see: fairplay play --help"
ZEROS = "0" * 64
ODD_PROGRAM = shlex.quote("exec:node './a $b.js'")

# A command line, and what is said of it; the sign … stands for any words.
REFUSED = [
    ("fly", "No such command 'fly'."),
    ("--fly", "No such option '--fly'."),
    ("games fish", "…unexpected extra argument…"),
    ("doctor --sandbox landlock", "--sandbox is for --attack"),
    ("doctor --attack --sandbox none", "…'none' is not one of 'strict', 'landlock'…"),
    ("players", "Missing argument 'GAME'. Choose from fish, tsuro, q"),
    ("players chess", "there is no game 'chess'; there is …"),
    ("players fish q", "…unexpected extra argument…"),
    ("rules", "Missing argument 'GAME'. Choose from fish, tsuro, q"),
    ("rules chess", CHESS),
    ("rules ../fish", "there is no game '../fish': did you mean 'fish'?"),
    # One match.
    ("play", "Missing argument 'GAME'. Choose from fish, tsuro, q"),
    ("play fish", "Missing argument 'PLAYERS...'. Choose from random, …, human, exec:, tcp:, ws:, py:, ./file.py"),
    ("play chess random greedy", "there is no game 'chess'; there is …"),
    ("play fish '<b></b>=random' greedy", "there is no program '<b></b>=random'; if a label stands before the =, it …"),
    (
        "play fish rando greedy --journal new",
        "fish has no player 'rando'; it has random, greedy, lookahead, sampler, territory, "
        "and takes human, ./file.py, exec:COMMAND, tcp:PORT, ws:PORT and py:module:Name",
    ),
    ("play fish '\x1b[2J\n' greedy", "fish has no player…"),
    ("play fish random:1 greedy", "random takes no parameter, not even '1'"),
    ("play fish ann= greedy", "'ann=' names no player; write NAME=PLAYER"),
    ("play fish '\udcff=random' greedy", "'\\udcff=random' is not valid UTF-8"),
    ("play fish py:nobody_there:Bot greedy", "…No module named 'nobody_there'…"),
    (f"{TABLE} --set depth=3", "fish has no parameter 'depth'; it has rows, columns, fish, holes, colours, cramped"),
    (f"{TABLE} --set rows", f"--set rows: {NAME_AND_VALUE}"),
    (f"{TABLE} --set rows=5 --set rows=6", f"--set rows=6: {NAME_AND_VALUE}"),
    (f"{TABLE} --set rows=many", "…rows…"),
    (f"{TABLE} --set rows={'9' * 5000}", "…rows…"),
    (f"{TABLE} --set fish=\udcff", "'fish=\\udcff' is not valid UTF-8"),
    (f"{TABLE} --set cramped=perhaps", "…cramped…"),
    (
        f"{TABLE} --set rows=2 --set columns=3 --journal new",
        "a board of 2 x 3 with 0 holes is too small for 2 players…",
    ),
    ("play fish random --journal new", "fish is for 2 to 4 players, not for 1"),
    (f"{TABLE} greedy random random", "fish is for 2 to 4 players, not for 5"),
    (f"{TABLE} --ages 20", "there are 2 players, but 1 ages"),
    (f"{TABLE} --ages young,old", "--ages young,old: expected whole numbers with commas between them"),
    (f"{TABLE} --ages ''", "…expected whole numbers with commas between them"),
    (f"{TABLE} --quiet --events", "--quiet and --events cannot go together…"),
    (f"{TABLE} --fast", "No such option '--fast'.…"),
    (f"{TABLE} --seed", "Option '--seed' requires an argument."),
    (f"{TABLE} --seed \udcff", NO_TEXT),
    (f"{TABLE} --journal", "Option '--journal' requires an argument."),
    (f"{TABLE} --journal file", "…is a file…"),
    (f"{TABLE} --pictures file", "Invalid value for '--pictures': Directory 'file' is a file."),
    (f"{TABLE} --pictures file/pictures", "file/pictures cannot be created: Not a directory"),
    (f"{TABLE} --bot-logs file", "…is a file…"),
    (f"{TABLE} --bot-logs file/below", "…Not a directory…"),
    (f"{TABLE} --limit soon", "'soon' is not a time limit…"),
    (f"{TABLE} --sandbox loose", "Invalid value for '--sandbox': 'loose' is not one of 'auto', 'strict', …"),
    # Programs, and listeners for players.
    ("play fish greedy ./nobody --journal games", "there is no program './nobody'"),
    ("play fish greedy ./nobody.py", "there is no Python file ./nobody.py"),
    ("play fish greedy ./games.py", "there is no Python file ./games.py"),
    ("play fish greedy ./games.py/", "there is neither a program bot nor a file bot.py in ./games.py/"),
    ("play fish greedy ./plain", "./plain may not be executed; to make it a program: chmod +x ./plain"),
    ("play fish greedy ./plain.js", './plain.js may not be executed; write exec:"node ./plain.js"'),
    ("play fish greedy 'exec:./plain.py --f'", './plain.py may not be executed; write exec:"python3 ./plain.py --f"'),
    ("""play fish greedy "exec:'./a $b.js'" """, "./a $b.js may not be executed; write " + ODD_PROGRAM),
    ("play fish greedy exec:", "exec: names no program; write exec:./bot or exec:'./bot --flag'"),
    ("""play fish greedy "exec:''" """, "there is no program ''"),
    ("""play fish greedy "exec:'./bot" """, "exec:'./bot is not a command line: No closing quotation"),
    ("play fish greedy tcp: --journal new", "…"),
    ("play fish greedy tcp:no.such.host.invalid:0 --journal new", "…"),
    # Several matches.
    (f"{TABLE} --games 0", "Invalid value for '--games': 0 is not in the range 1<=x<=1000000."),
    ("play fish greedy --games 2", "fish is for 2 to 4 players, not for 1"),
    (f"{GAMES} greedy random random", "fish is for 2 to 4 players, not for 5"),
    ("play fish gredy random --games 2", "fish has no player 'gredy'; it has random, greedy, lookahead, sampler, …"),
    ("play fish human greedy --games 2", "human plays single matches at a terminal, and no…"),
    (f"{GAMES} --journal x", f"--journal {WITH_GAMES}"),
    (f"{GAMES} --ages 1,2", f"--ages {WITH_GAMES}"),
    (f"{GAMES} --lines", f"--lines {WITH_GAMES}"),
    (f"{GAMES} --pace 1", f"--pace {WITH_GAMES}"),
    (f"{GAMES} --pace 0", f"--pace {WITH_GAMES}"),
    (f"{GAMES} --events", f"--events {WITH_GAMES}"),
    (f"{GAMES} --sync always", f"--sync always {WITH_GAMES}"),
    (f"{GAMES} --verbose", f"--verbose {WITH_GAMES}"),
    (f"{GAMES} --pictures new", "--pictures cannot be used with --games…"),
    (f"{GAMES} --out ''", "Invalid value for '--out': the name of the directory is empty"),
    (f"{TABLE} --jobs 2", "--jobs cannot be used with a single match; see: fairplay play --help"),
    (f"{TABLE} --out new", "--out cannot be used with a single match; see: fairplay play --help"),
    ("tournament", "missing FILE.toml; to create one: fairplay tournament --init GAME > my.toml"),
    ("tournament no.toml", "no.toml: cannot be read: No such file or directory"),
    ("tournament games", "games: not a file"),
    ("tournament cup.toml --init fish", "--init takes no FILE.toml: it prints one"),
    ("tournament --init chess", CHESS),
    ("tournament cup.toml --jobs 0", "Invalid value for '--jobs': 0 is not in the range 1<=x<=1024."),
    ("tournament cup.toml --executor poll", "--executor poll: there is here, pool, dask and dask:ADDRESS"),
    ("tournament cup.toml --executor dask:", "--executor dask:: there is here, pool, dask and dask:ADDRESS"),
    ("tournament cup.toml --out ''", "Invalid value for '--out': the name of the directory is empty"),
    ("tournament cup.toml --out cup.toml", "Invalid value for '--out': Directory 'cup.toml' is a file."),
    ("tournament cup.toml --out cup.toml/x/y", "…cup.toml is not a directory"),
    ("standings nowhere", "Invalid value for 'DIR': Directory 'nowhere' does not exist."),
    ("standings", "Missing argument 'DIR'."),
    # Bots.
    ("new-bot", "Missing argument 'GAME'. Choose from fish, tsuro, q"),
    ("new-bot chess", CHESS),
    ("new-bot fish --language rust", "Invalid value for '--language': 'rust' is not one of 'python', 'js', …"),
    ("new-bot fish my_bot", "my_bot: the suffix must be .py, .js, .java, .c, .go, as it tells the …"),
    ("new-bot q bot.rs", "bot.rs: the suffix must be .py, .js, .java, .c, .go, as it tells the …"),
    ("new-bot q new.py --language go", "new.py would be in python, not in go: leave out --language …"),
    ("new-bot fish 'a\n.py'", "a�.py: use only letters, …"),
    ("new-bot fish --lang c", "No such option '--lang'.…"),
    ("new-bot fish a.py b.py", "…Got unexpected extra argument…"),
    ("new-bot fish nowhere/bot.py", "nowhere/bot.py cannot be written: No such file or directory"),
    (f"new-bot fish {'x' * 300}.py", "…cannot be written: File name too long"),
    ("check-bot fish", "Missing argument 'PLAYER'…"),
    ("check-bot chess random", CHESS),
    ("check-bot fish rando", "fish has no player 'rando'; it has random, …"),
    ("check-bot fish tcp:4000", "tcp:4000 cannot be checked: name a program…"),
    ("check-bot fish human", "human cannot be checked: name a program…"),
    ("check-bot fish random --limit soon", "'soon' is not a time limit…"),
    ("check-bot fish random --set fish=\udcff", "'fish=\\udcff' is not valid UTF-8"),
    ("check-bot fish greedy --bot-logs file", "…is a file…"),
    # Servers.
    ("join nowhere greedy", "'nowhere' is not an endpoint; write PORT or HOST:PORT"),
    ("join 'ws://[::1:4' greedy", "'[::1:4' is not an endpoint; write PORT or HOST:PORT"),
    (
        "join http://host:1 greedy",
        "'http://host:1' is not the address of a host; write HOST:PORT, or tcp://HOST:PORT, …",
    ),
    *((f"join 127.0.0.1:1 greedy --name '{name}'", f"{name!r} {NAME_RULE}") for name in ("", "x" * 21, "ann\n", "Zoë")),
    (
        "join 127.0.0.1:1 survivors",
        "… of any game; use a built-in player, human, ./file.py, exec:COMMAND and py:module:N…",
    ),
    ("join 127.0.0.1:1 survivor --game fish", "… of fish; use a built-in player, human, ./file.py, exec:COMMAND and …"),
    ("join 1 tcp:4000", "'tcp:4000' cannot join a match; use a built-in player, human, ./file.py, exec:…"),
    ("join 127.0.0.1:1 exec:./nothing_there", "there is no program './nothing_there'"),
    ("join 127.0.0.1:1 exec:", "exec: names no program…"),
    ("join 127.0.0.1:1 ann=greedy --name bob", "the player has two names, ann and (by --name) bob; use one of them"),
    ("join 127.0.0.1:1 greedy --game chess", "there is no game 'chess'…"),
    ("join 127.0.0.1:1 greedy --ca x --wait 0", "a file of certificates needs TLS…"),
    ("join 127.0.0.1:1 greedy --pondering", "--pondering cannot be used with greedy, which is not a program"),
    ("join 127.0.0.1:1 greedy --sandbox none", "--sandbox cannot be used with greedy, which is not a program"),
    ("join 127.0.0.1:1 greedy --bot-logs /tmp", "--bot-logs cannot be used with greedy, which is not a program"),
    ("join 127.0.0.1:1 greedy --wait nan", "Invalid value for '--wait': …"),
    ("join 127.0.0.1:1 greedy --idle-timeout inf", "Invalid value for '--idle-timeout': …"),
    ("join 127.0.0.1:1 greedy --token-file good.token", "a token belongs to a name: add --name NAME"),
    ("join 127.0.0.1:1 greedy --token-file no.token", "no.token cannot be read: No such file or directory"),
    ("join tls://127.0.0.1:1 greedy --ca no.pem", "no.pem holds no certificates: No such file or directory…"),
    ("join tls://127.0.0.1:1 greedy --ca file", "file holds no certificates: …"),
    ("watch tls://127.0.0.1:1 --ca file --wait 0.01", "file holds no certificates: …"),
    ("watch 127.0.0.1:1 \udcff --wait 0.01", NO_TEXT),
    ("status nowhere", "…is not an endpoint…"),
    ("status 127.0.0.1:1 --wait 0.01", "cannot connect…"),
    ("serve --port 0", "missing GAME, --config or --tournament; see: fairplay serve --help"),
    ("serve fish --tournament q", "GAME and --tournament cannot be used together; see: fairplay serve --help"),
    ("serve --config no.toml --wait 1", "--wait cannot be used with --config; see: fairplay serve --help"),
    ("serve --tournament no.toml --name x", "--name cannot be used with --tournament; see: …"),
    ("serve --tournament no.toml --guests", "--guests cannot be used with --tournament; see: …"),
    ("serve --tournament no.toml --no-guests", "--guests cannot be used with --tournament; see: …"),
    ("serve fish --set rows=\udcff", "'rows=\\udcff' is not valid UTF-8"),
    ("serve fisch", "there is no game 'fisch': did you mean 'fish'?…"),
    ("serve fish --fill ./bot", "'./bot' is no built-in player of fish…"),
    ("serve fish --tls no where", "cannot use no and where for TLS: …"),
    ("serve --tournament no.toml", "no.toml: cannot be read: …"),
    ("serve --config no.toml", "no.toml: cannot be read: …"),
    ("serve fish --connection-limit idel_timeout=1", "--connection-limit: …: did you mean 'idle_timeout'?…"),
    ("serve fish --connection-limit spectators=0", "--connection-limit: spectators: expected int >= 1…"),
    ("serve fish --connection-limit spectators", f"--connection-limit spectators: {NAME_AND_VALUE}"),
    ("serve fish --port 0 --dir file", "cannot write to file: File exists"),
    # The directory named server has one token, that of ann.
    ("token --dir server", "missing NAME of a player, or --list…"),
    ("token ann --list --dir server", "--list takes no NAME and no --revoke…"),
    ("token --list -o new --dir server", "-o is for a new token; it cannot be used with --revoke or --list…"),
    ("token ann --revoke -o new --dir server", "-o is for a new token; it cannot be used with --revoke or --list…"),
    ("token cyd --revoke --dir server", "cyd has no token…"),
    ("token ann --dir server", "ann has a token already: revoke it if it is lost…"),
    ("token ann --dir server -o new", "ann has a token already: revoke it if it is lost…"),
    ("token ANN --dir server", "ANN looks like ann, which has a token: choose another name…"),
    *(
        (f"token '{name}' --dir server", f"{name!r} is not a valid name: …")
        for name in ("", "x" * 21, "../ann", "ann\n")
    ),
    ("token bob -o 'a\0b' --dir server", "a�b cannot be written: …"),
    ("token ann -o nowhere/x --dir new", "nowhere/x cannot be written: …"),
    ("token ann --dir file", "…file…"),
    ("token ann --dir /proc/server", "cannot write tokens to /proc/server…"),
    ("token ann --tournament cup.toml --dir server", "--dir and --tournament cannot be used together…"),
    ("token ann --tournament none.toml", "none.toml…"),
    # Journals.
    ("replay", "Missing argument 'FILE'."),
    ("replay a.jsonl b", "…unexpected extra argument…"),
    ("replay match.jsonl --at -1", "there is no position after -1 facts: the match has …"),
    ("replay match.jsonl --at 10000", "there is no position after 10000 facts: the match has …"),
    (f"replay match.jsonl --at {'9' * 5000}", "Invalid value for '--at': '999…"),
    ("replay match.jsonl --at last", "Invalid value for '--at': 'last' is not a valid integer."),
    ("replay match.jsonl -o match.mp4", "match.mp4: the suffix for replays must be .html or .gif"),
    ("replay match.jsonl -o nowhere/x.gif", "nowhere/x.gif cannot be written: No such file or directory"),
    ("replay match.jsonl -o x/dir.gif", "Invalid value for '-o' / '--output': File 'x/dir.gif' is a directory."),
    ("replay match.jsonl -o x.gif --seconds 0", "a picture can be shown for 0.02 to 60 seconds, not 0.0…"),
    ("replay match.jsonl -o x.gif --seconds 1e9", "a picture can be shown for 0.02 to 60 seconds, not 1000000000.0…"),
    ("replay match.jsonl -o x.gif --width 20000", "…pixels are too many; choose a smaller width"),
    ("replay match.jsonl -o x.gif --seat nobody", "…nobody…"),
    ("replay match.jsonl -o x.gif --at 0", "--at is for a position on the terminal; a file shows all positions"),
    ("replay match.jsonl -o x.html --at 3", "--at is for a position on the terminal; a file shows all positions"),
    ("replay match.jsonl -o x.html --width 300", "…are for a GIF; a page has buttons for these, and fits its window"),
    ("replay match.jsonl -o x.html --dark", "--width, --seconds, --seat and --dark are for a GIF; a page has buttons…"),
    ("replay match.jsonl --width 300", "--width, --seconds and --dark are for a GIF: add -o FILE.gif"),
    ("replay unfinished.jsonl -o x.html", "unfinished.jsonl: this match is unfinished"),
    ("draw", "Missing argument 'FILE'."),
    ("draw match.jsonl", "Missing option '-o' / '--output'."),
    ("draw match.jsonl -o", "Option '-o' requires an argument."),
    ("draw match.jsonl -o x.gif", "x.gif: the suffix for pictures must be .svg or .png"),
    ("draw match.jsonl -o nowhere/x.png", "nowhere/x.png cannot be written: No such file or directory"),
    ("draw match.jsonl -o full.png", "full.png cannot be written: No space left on device"),
    ("draw match.jsonl -o directory.svg", "Invalid value for '-o' / '--output': File 'directory.svg' is a directory."),
    ("draw match.jsonl -o x.svg --seat 2", "there is no seat '2'; there are 0 (ann), 1 (bob)"),
    ("draw match.jsonl -o x.svg --width 19", "Invalid value for '--width': 19 is not in the range 20<=x<=30000."),
    ("draw match.jsonl -o x.png --width 30000", "…pixels are too many; choose a smaller width"),
    ("draw match.jsonl -o x.svg --at -1", "there is no position after -1 facts…"),
    ("draw match.jsonl -o x.svg --size 3", "No such option '--size'.…"),
    ("verify", "Missing argument 'FILE...'."),
    ("verify unfinished.jsonl", "unfinished.jsonl: unfinished after fact 5"),
    (f"verify match.jsonl match.jsonl --receipt 1:{ZEROS}", "a receipt is for one match…"),
    *(
        (f"verify match.jsonl --receipt '{receipt}'", f"{receipt!r} {RECEIPT_RULE}")
        for receipt in ("", "7:abc", f"-1:{ZEROS}", f"{'9' * 30}:{ZEROS}")
    ),
    ("resume match.jsonl '\udcff=random' random", "… is not valid UTF-8"),
    ("resume match.jsonl random", "expected 2 players, one for each seat that was not ejected, not 1"),
    ("resume match.jsonl --at 1000 random random", "there is no position after 1000 facts…"),
    ("resume match.jsonl --at 3 --limit inf --journal new", "'inf' is not a time limit…"),
    ("resume match.jsonl greedy random --sandbox loose", "Invalid value for '--sandbox': 'loose' is not one of …"),
    ("resume unfinished.jsonl greedy ./nobody --journal games", "there is no program './nobody'"),
    ("resume unfinished.jsonl greedy exec:nobody-there", "there is no program 'nobody-there'"),
    ("resume unfinished.jsonl --journal new", "--journal is for a branch…"),
    ("why match.jsonl --seat 3", "there is no seat …"),
    ("why-not", "Missing argument 'GAME'. Choose from fish, tsuro, q"),
    ("why-not fish --view x", "Missing argument 'ACTION'."),
    ("why-not fish null", "Missing option '--view'."),
    ("why-not chess --view x null", CHESS),
    ("why-not fish --view /nowhere null", "/nowhere cannot be read: No such file or directory"),
    ("why-not fish --view / null", "/ cannot be read: Is a directory"),
    ("why-not fish --view 'a\0b' null", "a�b cannot be read: embedded null byte"),
    ("why-not fish --view - -", "only one of the view and the action can come from standard input"),
    (f"{SET} rows", f"--set rows: {NAME_AND_VALUE}"),
    (f"{SET} rows=0", "fish cannot be played with rows=0 (rows: of the board, 1 to 100)"),
    (f"{SET} x=1", "fish has no parameter 'x'; it has rows, columns, fish, holes, colours, cramped"),
    ("why-not fish --view match.jsonl null --set rows=4", "--set cannot be used with a journal, which has the …"),
    *(
        (f"why-not fish --view view.json --at {at} null", "--at is for a journal, and view.json is not one")
        for at in (0, 1)
    ),
    ("why-not fish --view match.jsonl --at -1 null", "there is no position after -1 facts: the match has …"),
    ("why-not fish --view match.jsonl --at 10000 null", "there is no position after 10000 facts: the match has …"),
    ("why-not q --view match.jsonl null", "match.jsonl is the journal of a match of fish, not of q"),
    ("debug match.jsonl greedy", "Missing option '--seat'."),
    (DEBUG, "Missing argument 'PLAYER'…"),
    ("debug match.jsonl --seat 2 greedy", "there is no seat '2'; there are 0 (ann), 1 (bob)"),
    (f"{DEBUG} --turn 0 greedy", "turns are counted from 1, so there is no turn 0…"),
    (f"{DEBUG} --turn 1 greed", "fish has no player 'greed'; it has …"),
    (f"{DEBUG} \udcff", NO_TEXT),
    (f"{DEBUG} greedy --sandbox x", "Invalid value for '--sandbox': 'x' is not one of …"),
    (f"{DEBUG} greedy --limit x", "'x' is not a time limit…"),
    (f"{DEBUG} greedy --in-process", "greedy cannot be loaded in this process; use ./file.py or py:…"),
    (f"{DEBUG} 'exec:./bot.py x' --in-process", "exec:./bot.py x cannot be loaded in this process; use …"),
    (f"{DEBUG} ./bot --in-process", "./bot cannot be loaded in this process; use ./file.py or py:…"),
    (f"{DEBUG} tcp:4000", "tcp:4000 cannot be debugged: name a program that can be started here…"),
    (f"{DEBUG} greedy random", "other players need --play-on: add it, or leave them out…"),
    (f"{DEBUG} greedy --play-on", "--play-on needs a turn: add --turn N…"),
    (f"{DEBUG} --turn 1 greedy --play-on =x", "'=x' names no player; write NAME=PLAYER…"),
    (f"{DEBUG} --turn 1 greedy --play-on \udcff", NO_TEXT),
    (f"{DEBUG} --turn 1 greedy --play-on ws:4000", "ws:4000 cannot be debugged: name a program that can be started …"),
    (
        f"{DEBUG} --turn 1 greedy --play-on random random",
        "expected 1 players after PLAYER, one for each other seat, not 2",
    ),
    (f"{DEBUG} --turn 1 ./bot.py --in-process --play-on in-process:a:B", "in-process:a:B would be loaded into this …"),
    (f"{DEBUG} --turn 1 ./bot.py --in-process --play-on tcp:4000", "tcp:4000 cannot be debugged…"),
    (f"{DEBUG} --turn 1 ./bot.py --in-process --play-on human", "human cannot be debugged…"),
    # A directory of three matches.
    ("library list", "Missing argument 'DIR'…"),
    ("library list games ann", "…unexpected extra argument…"),
    *((f"library {verb} nowhere", "…does not exist…") for verb in ("list", "find", "show")),
    *((f"library {verb} file", "…is a file…") for verb in ("list", "find", "show")),
    (
        "library find games --since tomorrow",
        "--since tomorrow: expected a date such as 2026-11-16 or 2026-11-16T08:30…",
    ),
    ("library find games --until 2026-02-30", "--until 2026-02-30: expected a date such as…"),
    ("library find games --since '2026-11-16 08:30'", "…expected a date such as…"),
    ("library find games --since \u0662026-11-16", "…expected a date such as…"),
    ("library find games --since '\x1b[2J\n'", "…expected a date such as…"),
    ("library find games --game chess", CHESS),
    ("library find games --fault rude", "Invalid value for '--fault': 'rude' is not one of 'illegal', …"),
    ("library find games --status good", "Invalid value for '--status': 'good' is not one of 'finished', …"),
    ("library find games --with rows", f"--with rows: {NAME_AND_VALUE}"),
    ("library find games --with rows=4 --with rows=5", f"--with rows=5: {NAME_AND_VALUE}"),
    ("library find games --limit 0", "Invalid value for '--limit': 0 is not in the range x>=1."),
    ("library find games --player \udcff", "…is not valid UTF-8"),
    ("library show games", "Missing argument 'ID'."),
    ("library show games zzz", "…has an id that begins with 'zzz'…"),
    ("library show games ''", "3 matches in …"),
    ("library show games \udcff", "…is not valid UTF-8"),
    ("library show games '\x1b[2J'", "…has an id that begins with '\\x1b[2J'…"),
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with all files that the commands name."""
    directory = tmp_path_factory.mktemp("refusals")
    match = record_journal(directory / "games")
    for copy in (directory / "match.jsonl", directory / "unfinished.jsonl", match.with_name("b"), match.with_name("c")):
        shutil.copy(match, copy.with_suffix(".jsonl"))
    damage_journal(directory / "unfinished.jsonl", "unfinished")
    write_tournament_file(directory)
    for name, text in {"file": "junk", "good.token": "t" * 32, "view.json": "null", "bot.py": LEGAL_BOT}.items():
        (directory / name).write_text(text)
    for name in ("plain", "plain.js", "plain.py", "a $b.js"):
        (directory / name).write_text("#!/bin/sh\n")
    for name in ("games.py", "directory.svg", "x/dir.gif"):
        (directory / name).mkdir(parents=True)
    (directory / "full.png").symlink_to("/dev/full")
    assert run_fairplay("token", "ann", "--dir", str(directory / "server")).code == 0
    return directory


def contents(directory: Path) -> dict[Path, bytes]:
    """The files in a directory and what they hold, but for the index that a library may write."""
    files = (path for path in directory.rglob("*") if path.is_file() and path.name != INDEX_FILE)
    return {path: path.read_bytes() for path in files}


@pytest.mark.parametrize(("command", "why"), REFUSED, ids=[command[:60] for command, _ in REFUSED])
def test_a_bad_command_is_refused_in_one_line(
    command: str, why: str, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(directory)
    before = contents(directory)

    line = refusal_line(run_fairplay(*shlex.split(command)))

    assert re.fullmatch(".*".join(map(re.escape, why.split("…"))), line), line
    assert contents(directory) == before


@pytest.mark.parametrize("command", ["fly", "play chess random greedy", f"{TABLE} --seed \udcff", f"{TABLE} --fast"])
def test_the_script_refuses_in_one_line_too(command: str) -> None:
    words = shlex.split(command)

    assert refusal_line(run_script(*words)) == refusal_line(run_fairplay(*words))
