"""fairplay join: let a player of this machine take part in a match elsewhere."""

import getpass
import os
import re
import secrets
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import click
import msgspec

from fairplay.cli.client.joining import LONGEST, LONGEST_LABEL, Outcome, Report, in_words, lost_by, outcome, say
from fairplay.cli.options.match_options import (
    MOST_EVIDENCE,
    bot_logs_option,
    log_messages,
    missing_here,
    pondering_option,
    refuse_unreadable,
)
from fairplay.cli.options.seconds import A_DAY, Seconds
from fairplay.core.chance import SEED_BYTES
from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault, Receipt, Result
from fairplay.core.game import Game, Seat
from fairplay.core.messages import End, Message, Start
from fairplay.games import GAMES, rules_of, title
from fairplay.hosting.terms import terms_for
from fairplay.players.address import IN_PROCESS, AnyPlayer, open_player, split_label
from fairplay.players.location import HUMAN, Command, Invitation, far, of_the_house
from fairplay.players.serve import serve_player
from fairplay.players.visit import FIRST_PAUSE, LONGEST_PAUSE, STEADY, Visit
from fairplay.protocol import wire
from fairplay.referee.local import has_method
from fairplay.render.evidence import describe_evidence
from fairplay.render.text import printable
from fairplay.sandbox.level import Level
from fairplay.terminal.person import Heard, Left, Person, hurrying
from fairplay.transport.dial import Lost, Patience
from fairplay.transport.host_line import HostLine, line_to
from fairplay.transport.places import reason

PERHAPS_EJECTED = "the player may have been ejected: ask the host what the server printed of it, or for the journal"
OTHERS = "human, ./file.py, exec:COMMAND and py:module:Name"
TOKEN = "FAIRPLAY_TOKEN"  # the variable of the environment that may have one


class Crashed(Exception):
    """The player raised something; it has been shown."""


class Reported:
    """A player, and a report of what it hears for the person who lets it play."""

    def __init__(self, player: AnyPlayer, report: Report) -> None:
        self._player = player
        self._report = report
        if has_method(player, "changed"):  # who has none is not told
            self.changed = lambda view: self._call("changed", view)

    def start(self, seat: Seat, names: tuple[str, ...], view: Any) -> None:
        self._report.start(seat, names)
        self._call("start", seat, names, view)

    def take_turn(self, view: Any) -> Any:
        take_turn: Any = getattr(self._player, "take_turn", self._player)
        return self._shown(lambda: msgspec.Raw(wire.encode(take_turn(view))))

    def tell(self, news: Any) -> None:
        self._call("tell", news)

    def end(self, result: Result) -> None:
        self._report.end(result)
        self._call("end", result)
        self._report.ended = True

    def closing(self, receipt: Receipt) -> None:
        self._report.closing(receipt)
        with suppress(Crashed):  # it is over
            self._call("closing", receipt)

    def ejected(self, fault: Fault, why: str) -> None:
        """Pass it on; what is wrong is said anyway, also if the player cannot take it."""
        with suppress(Crashed):
            self._call("ejected", fault, why)

    def _call(self, method: str, *arguments: Any) -> None:
        known = getattr(self._player, method, None)
        if known is not None:
            self._shown(known, *arguments)

    def _shown(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """Whatever the player raises is shown to its author, who is likely to sit here."""
        try:
            return method(*arguments)
        except Exception as error:
            traceback.print_exception(error)
            raise Crashed(f"the player raised {type(error).__name__}") from None


@click.command()
@click.argument("host", metavar="HOST:PORT")
@click.argument("player")
@click.option(
    "--name",
    metavar="NAME",
    help="What others are to call the player, if the host agrees; you are called by your name on this machine.",
)
@click.option(
    "--wait",
    type=Seconds(more_than_none=False),
    default=30.0,
    show_default=True,
    help="Seconds to try until the host is there.",
)
@click.option(
    "--patience",
    type=Seconds(),
    default=600.0,
    show_default=True,
    help="Seconds without a message after which the host is given up.",
)
@click.option(
    "--game", metavar="GAME", help="What to play at a house, if not anything; py:module:Name for a game of your own."
)
@click.option("--matches", type=click.IntRange(1), metavar="N", help="Leave a house after so many matches.")
@click.option(
    "--token-file",
    metavar="FILE",
    help=f"A file with the token of the player at a house; or put it into the environment, as {TOKEN}.",
)
@click.option(
    "--ca", metavar="FILE", help="With TLS: a file with the certificates to trust, if not those of this machine."
)
@click.option("--course", metavar="GAME", help="The host is the server of a course, which has a protocol of its own.")
@click.option(
    "--sandbox",
    type=click.Choice(["auto", *(level.value for level in Level)]),
    help="How a program is shut in; see: fairplay doctor. [default: auto]",
)
@pondering_option
@bot_logs_option
@click.option("--verbose", is_flag=True, help="Log each message, or call of a course, with its time, on stderr.")
@click.pass_context
def join(
    context: click.Context,
    host: str,
    player: str,
    name: str | None,
    wait: float,
    patience: float,
    game: str | None,
    matches: int | None,
    token_file: str | None,
    ca: str | None,
    course: str | None,
    sandbox: str | None,
    pondering: bool,
    bot_logs: str | None,
    verbose: bool,
) -> None:
    """Let PLAYER take part in matches that are hosted elsewhere.

    The host waits for it with: fairplay play GAME tcp:PORT ...; over WebSocket with ws:PORT, and then write
    ws://HOST:PORT here. People need more time than programs, so the host should give it: --limit 300

    The player is any that can play on this machine: a house player of the game, a file ./my_bot.py, py:module:Name or
    any program exec:"node bot.js", which run in a sandbox, or human: you. A program reads and writes lines as it
    does with fairplay play; it is started for each match, and ends with it. What it says on stderr is shown here.

    At a house (fairplay serve) the player signs up, with its token or as a guest, and stays until the house hangs up.
    When the line is lost, it comes back by itself; when it is ejected or crashes, it signs in again for the next match,
    unless it is you. Ctrl-C gives its seat up. Where there is a certificate, write tls://HOST:PORT or wss://HOST:PORT.

    With --course, the player signs up at the server of a course. Where names are signed up and none is given, it is
    made of what the player is called here. A program is started before it signs up, and for later matches of a
    tournament ahead of them: a server may allow a call less time than that takes.

    The exit code is 0 when the last match ended with the player in it, and 1 if it failed or was ejected, or the line
    was lost.
    """
    refuse_unreadable((host, player, name or "", game or "", token_file or "", ca or ""))
    label, address = split_label(player)
    if label != player:  # as play takes them
        if name is not None:
            raise BadRequest(f"the player is {label} by one word and {name} by --name; say one of them")
        name, player = label, address
    if course is not None:
        others = {"--game": game, "--matches": matches, "--token-file": token_file, "--ca": ca}
        for option, given in {**others, "--pondering": pondering or None, "--bot-logs": bot_logs}.items():
            if given is not None:
                raise BadRequest(f"{option} makes no sense with --course")
        ended = joined_course(
            course, host, player, name=name, wait=wait, patience=patience, sandbox=sandbox, verbose=verbose
        )
        context.exit(0 if ended else 1)
    if verbose:
        log_messages()
    where = far(player)
    if isinstance(where, Invitation):
        raise BadRequest(f"{player!r} cannot join a match: it takes a house player, {OTHERS}")
    for option, given in {"--sandbox": sandbox, "--pondering": pondering, "--bot-logs": bot_logs}.items():
        if given and not isinstance(where, Command):
            raise BadRequest(f"{option} makes no sense with {player}, which is no program")
    wire.check_name(name)
    if game is not None:
        rules_of(game)
    of_a_game = where is None and not player.startswith(IN_PROCESS)
    if of_a_game and not any(of_the_house(player, one) for one in ([game] if game else GAMES)):
        raise BadRequest(f"there is no player {player!r} of {game or 'any game'}; it takes a house player, {OTHERS}")
    person, program = player == HUMAN, isinstance(where, Command)
    name = name or own_name() if person else name

    def reach(wait: float, patience: Patience) -> AbstractContextManager[HostLine]:
        return line_to(host, wait=wait, patience=patience, ca=ca)

    @contextmanager
    def go(wait: float, patience: Patience) -> Iterator[HostLine]:
        with reach(wait, A_DAY if person or program else patience) as line:
            say(f"connected to {host}")
            yield line

    token = token_in(token_file)
    if token and name is None:
        raise BadRequest("a token is of a name: say which, with --name")
    hidden = [place for place in (token_file, bot_logs) if place]
    terms = terms_for((player,), None, sandbox, hidden, pondering=pondering)
    for missing in missing_here(terms):
        say(missing)

    def play(visit: Visit) -> Outcome:
        try:
            if isinstance(where, Command):
                from fairplay.cli.client import join_program  # which needs much that others do not

                return join_program.took_part(where, player, terms, visit, name, bot_logs)
            if person:
                return took_part(player, Heard(visit.lines(), visit.patience), visit.send, name)
            with closing(visit.lines()) as lines:
                return took_part(player, lines, visit.send, name)
        finally:
            visit.leave(reach)

    first = Visit(
        go,
        tell=say,
        wait=wait,
        patience=patience,
        name=name,
        token=token,
        game=game or "",
        person=person,
        matches=matches,
    )
    how = play(first) if person else play_on(play, first)
    context.exit(0 if how is Outcome.ENDED else 1)


def play_on(play: Callable[[Visit], Outcome], first: Visit) -> Outcome:
    """Play at a server, and sign in again when the player is put out of a match: the next one is another match.

    A player that fails in one match after the other comes back after pauses that grow.
    """
    visit, pause = first, 0.0
    while True:
        before = time.monotonic()
        try:
            ended = play(visit)
        except BadRequest as error:
            if visit is first:
                raise
            say(str(error))  # the server is gone
            return Outcome.OUT
        after = visit.next_visit() if ended is Outcome.OUT else None
        if after is None:
            return ended
        is_steady = visit.has_played or time.monotonic() - before > STEADY
        pause = 0.0 if is_steady else min(2 * pause or FIRST_PAUSE, LONGEST_PAUSE)
        say("signing in again")
        time.sleep(pause)
        visit = after


def token_in(file: str | None) -> str:
    """The token of the player, from a file or the environment; never from the command line, which everybody sees."""
    where = TOKEN if file is None else file
    try:
        token = os.environ.get(TOKEN, "") if file is None else Path(file).read_text(encoding="ascii")
    except OSError as error:
        raise BadRequest(f"{where} cannot be read: {reason(error)}") from None
    except UnicodeDecodeError:
        raise BadRequest(f"{where} holds no token") from None
    token = token.strip()
    if not token.isprintable() or len(token) > wire.LONGEST_TOKEN or " " in token or (file is not None and not token):
        raise BadRequest(f"{where} holds no token")
    return token


def joined_course(course: str, host: str, player: str, **options: Any) -> bool:
    """Take part in whatever the server of a course plays, and say how it went; was the player there to the end?"""
    from fairplay.hosting.course_guest import visit_course  # which needs much that others do not
    from fairplay.players.course_client import PlayerFailed

    scheme, slashes, place = host.partition("://")
    if slashes and scheme != "tcp":
        raise BadRequest(f"{host!r} is no server of a course; write HOST:PORT")
    seat: Seat = 0
    playing = False

    def hear(message: Message) -> None:
        nonlocal seat, playing
        playing = True
        match message:
            case Start(seat, names, _):
                say(f"playing {course} as {printable(names[seat], LONGEST_LABEL)}")
            case End(result):
                say("won" if seat in result.ranking[0] else "did not win")

    try:
        ended = visit_course(
            course,
            place if slashes else host,
            player,
            connected=lambda: say(f"connected to {host}"),
            hear=hear,
            tell=say,
            **options,
        )
    except PlayerFailed as error:
        say(f"the player failed, {in_words(error.failed.fault)}: {printable(error.failed.why, LONGEST)}")
        for line in describe_evidence(error.failed.evidence)[-MOST_EVIDENCE:]:
            say(f"    {printable(line, LONGEST)}")
        return False
    except Lost as error:
        say(lost_by(error))
        return False
    if not ended:
        say(f"the server hung up before the end; {PERHAPS_EJECTED}")
    elif not playing:
        say("it is over, and there was no match for the player")
    return ended


def took_part(address: str, lines: Iterable[bytes], send: Callable[[bytes], None], name: str | None) -> Outcome:
    """Play what comes, and say how it went."""
    table: list[Report] = []
    people: list[Person] = []

    def make(game: Game[Any, Any, Any]) -> Reported:
        player: AnyPlayer
        if address == HUMAN:
            player = Person(game)
            people.append(player)
            if isinstance(lines, Heard):
                lines.interrupt = player.keyboard.interrupted_by(signal.SIGUSR1)
        else:
            player = open_player(address, title(game.name), secrets.token_bytes(SEED_BYTES), OTHERS)
        table.append(Report(game.name))
        return Reported(player, table[-1])

    goodbye, lost = None, ""
    try:
        goodbye = serve_player(make, hurrying(lines, lambda: people[-1] if people else None), send, name=name)
    except Left:
        say("left the table")
        return Outcome.LOST
    except Crashed as crashed:
        say(str(crashed))
        return Outcome.OUT
    except Lost as error:
        lost = lost_by(error)
    return outcome(table[-1] if table else None, goodbye if isinstance(goodbye, wire.Goodbye) else None, lost)


def own_name() -> str | None:
    """What whoever sits here is called on this machine, as far as it is a name here; None: not at all."""
    try:
        return re.sub(r"[^A-Za-z0-9_-]+", "-", getpass.getuser()).strip("-")[: wire.LONGEST_NAME] or None
    except (KeyError, OSError, ImportError):  # nobody has heard of them
        return None
