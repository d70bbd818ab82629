"""Let a person play at the keyboard: show the board, read actions, and send only legal ones.

`python -m fairplay.terminal.person FD [--shared] [--game py:module:Name]` does this for the match behind a socket.
"""

import os
import re
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from queue import SimpleQueue
from textwrap import wrap
from typing import Any

from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.core.game import Game, Seat
from fairplay.games import game_info, take_game_options
from fairplay.journal.ejection_report import clauses
from fairplay.players.player_loop import serve_player
from fairplay.protocol.limits import UNLIMITED_S
from fairplay.protocol.player_side import read_message
from fairplay.render.formatting import format_json
from fairplay.render.text import printable
from fairplay.terminal.keyboard import Interrupted, Keyboard
from fairplay.terminal.output import supports_colour, use_safe_output

MAX_COMPLETED_ACTIONS = 3000  # for completion; Q can have far more
MAX_MOVE_LINES = 12  # lines of moves
ELLIPSIS = "..."  # after the first words of longer moves
RESERVED_LINES = 3  # lines of a window besides the board: one above it, one below, and the prompt
MAX_MESSAGE_CHARS = 600  # characters of a message
DEFAULT_TERMINAL_SIZE = (80, 24)  # columns and lines, if the output is not a terminal
COMMANDS = ("help", "moves", "board", "resign")
COMMAND_HELP = """\
moves                   what you may do; moves {beginning} all that begins so
board                   show the board again, all of it, however high it is
resign                  leave the table: you are out, and the others play on
Tab completes what you type. Nothing is sent before you say so, by Enter."""
HELP_HEADING = re.compile(r"\S.*?\s{3,}")  # the first column of the help
YES = ("y", "yes")


class LeftTable(BaseException):
    """The person has left the table, which is not a failure."""


class Person:
    """A player who asks the person at the keyboard."""

    def __init__(self, game: Game[Any, Any, Any], *, shared: bool = False) -> None:
        self.turn_limit_s = UNLIMITED_S  # seconds for the next turn
        self.keyboard = Keyboard(self._completions)
        self._game = game
        self._game_info = game_info(game.name)
        self._is_private = shared and bool(game.hidden)  # from other people at this keyboard
        self._name = ""
        self._names: tuple[str, ...] = ()
        self._view: Any = None
        self._last_view: Any = None  # the view of the turn before
        self._news: list[str] = []
        self._known_actions: list[list[str]] | None = None  # actions in words, for completion
        self._deadline = 0.0

    def start(self, seat: Seat, names: tuple[str, ...], view: Any) -> None:
        """Print the game and the seat."""
        self._names, self._name, self._last_view = names, printable(names[seat], 40), view
        say(f"You play {self._game.name} as {self._name}, in seat {seat}. For help, type: help")

    def tell(self, news: Any) -> None:
        """Keep the news for the next turn."""
        self._news.append(", ".join(news) if isinstance(news, tuple) else format_json(news))

    def take_turn(self, view: Any) -> Any:
        """Ask until the person sends a legal action, or the match no longer waits for one."""
        try:
            return self._turn(view)
        except Interrupted:
            return None

    def _turn(self, view: Any) -> Any:
        self._deadline = time.monotonic() + self.turn_limit_s
        self._view, self._known_actions = view, None
        if self._is_private:
            self._clear()
            self.keyboard.discard_input()
            self._ask(f"{self._name}, it is your turn. Press Enter when no one else can see the screen. ")
        try:
            self._show()
            action = self._choose_action()
        finally:
            if self._is_private:
                self._clear()
        self._last_view = view
        return action

    def _choose_action(self) -> Any:
        while True:
            words = self._ask(self._prompt(f"{self._name}> "))
            self.keyboard.add_to_history(words)
            action = self._handle_input(words)
            while action is not None:
                say(f"{self._name} {action}.")
                reply = self._ask(self._prompt("Enter: send it, b: see it, u: take it back> "))
                if not reply:
                    return action
                if reply in ("b", "board"):
                    self._draw(self._game_info.preview(self._view, action), self._view)
                else:
                    action = None if reply in ("u", "undo", "back") else self._handle_input(reply)

    def _handle_input(self, words: str) -> Any:
        """The legal action that was typed; None: it was something else, which was handled."""
        command, _, rest = words.partition(" ")
        match command.lower():
            case "":
                say("Type what you want to do, or: help")
            case "help" | "h" | "?":
                first = next(iter(self._actions()), [""])
                beginning = " ".join(first[: (len(first) + 1) // 2])
                say(f"{self._game_info.help}\n\n{COMMAND_HELP.format(beginning=beginning)}")
            case "moves" | "m":
                self._list_moves(rest.lower().split())
            case "board" | "b":
                self._draw(self._view, self._last_view, whole=True)
            case "u" | "undo" | "back":
                say("There is nothing to take back: what was sent is played.")
            case "resign" | "quit" | "exit":
                self._leave("Resign?")
            case _:
                return self._parse_legal_action(words)
        return None

    def _parse_legal_action(self, words: str) -> Any:
        """The action, if it is legal; else print why it is not."""
        try:
            action = self._game_info.parse_action(self._view, words)
        except BadRequest as error:
            say(f"Not understood: {printable(str(error), MAX_MESSAGE_CHARS)}.")
            return None
        try:
            self._game.check(self._view, action)
        except IllegalAction as illegal:
            text = clauses(self._game.name).get(illegal.clause, "")
            say(f"Illegal, by rule {illegal.clause}: {illegal.why}.", *([f'"{text}"'] if text else []))
            return None
        return action

    def _list_moves(self, beginning: Sequence[str]) -> None:
        """Print all moves with this beginning; or, if there are too many, only their first words."""
        found = [words for words in self._actions() if matches_prefix(words, beginning)]
        if not found:
            say("There is no such move." if beginning else "There is nothing that you may do.")
            return
        for length in range(max(map(len, found)), 0, -1):
            shown = move_prefixes(found, length)
            widest = max(map(len, shown)) + 3
            across = max(1, shutil.get_terminal_size(DEFAULT_TERMINAL_SIZE).columns // widest)
            if len(shown) <= across * MAX_MOVE_LINES or length <= len(beginning):
                break
        listed = shown[: across * MAX_MOVE_LINES]
        for start in range(0, len(listed), across):
            print("".join(f"{move:{widest}}" for move in listed[start : start + across]).rstrip())
        if left := len(shown) - len(listed):
            say(f"{ELLIPSIS} and {left} more")
        if more := next((move for move in shown if move.endswith(ELLIPSIS)), ""):
            least = "at least " if len(self._actions()) == MAX_COMPLETED_ACTIONS else ""
            say(f"{ELLIPSIS} for {least}{len(found)} moves; try: moves {more.removesuffix(ELLIPSIS).strip()}")

    def _show(self) -> None:
        """Print the board and the news."""
        self._draw(self._view, self._last_view)
        if self._news:
            say(f"You got: {printable('; '.join(self._news), MAX_MESSAGE_CHARS)}", "")
            self._news = []

    def _draw(self, view: Any, before: Any, *, whole: bool = False) -> None:
        """Print the part of the board that fits the window, or the whole board."""
        width, height = None, None
        if self.keyboard.is_terminal:
            width, lines = shutil.get_terminal_size(DEFAULT_TERMINAL_SIZE)
            height = None if whole else max(1, lines - RESERVED_LINES - 2 * bool(self._news))
        board = self._game_info.text(
            view, self._names, colour=supports_colour(sys.stdout), width=width, height=height, before=before
        )
        print(f"\n{board}\n", flush=True)

    def _prompt(self, words: str) -> str:
        left = self._deadline - time.monotonic()
        return words if left > UNLIMITED_S / 2 else f"({max(0.0, left):.0f} s left) {words}"

    def _ask(self, prompt: str) -> str:
        """Read a line. Raises LeftTable if the input has ended and the person leaves."""
        line = self.keyboard.ask(prompt)
        while line is None:
            if not self.keyboard.is_terminal:
                say("", f"Nothing more can be read, so {self._name} leaves the table.")
                raise LeftTable
            self._leave("Leave the table?")
            line = self.keyboard.ask(prompt)
        return " ".join(line.split())

    def _leave(self, question: str) -> None:
        answer = self.keyboard.ask(f"{question} You are out then, and the others play on. y or n> ")
        if answer is None or answer.strip().lower() in YES:
            raise LeftTable

    def _clear(self) -> None:
        """Clear the screen, so that the next person does not see it."""
        if self.keyboard.is_terminal and os.environ.get("TERM") != "dumb":
            print("\x1b[2J\x1b[3J\x1b[H", end="", flush=True)
        else:
            print("\n" * shutil.get_terminal_size().lines, flush=True)

    def _actions(self) -> list[list[str]]:
        """The legal actions as words, up to a limit."""
        if self._known_actions is None:
            found = islice(self._game.actions(self._view), MAX_COMPLETED_ACTIONS)
            self._known_actions = [self._game_info.format_action(action).split() for action in found]
        return self._known_actions

    def _completions(self, words: list[str], beginning: str) -> list[str]:
        """The possible next words; a verb at the front may be left out."""
        typed = [word.lower() for word in (*words, beginning)]
        found = [command for command in COMMANDS if not words and command.startswith(beginning)]
        for action in self._actions():
            for words_of in (action, action[1:] if action[0].isalpha() else []):
                if len(words_of) >= len(typed) and matches_prefix(words_of, typed):
                    found.append(words_of[len(typed) - 1])
        return list(dict.fromkeys(found))


def move_prefixes(moves: Iterable[Sequence[str]], length: int) -> list[str]:
    """The first words of moves, as many as `length`.

    >>> move_prefixes([["12", "90"], ["12", "180"], ["pass"]], 1)
    ['12 ...', 'pass']
    """
    return list(
        dict.fromkeys(" ".join([*words[:length], *([ELLIPSIS] if len(words) > length else [])]) for words in moves)
    )


def matches_prefix(words: Sequence[str], typed: Sequence[str]) -> bool:
    """Does each word begin with the typed one? Numbers must be complete, except the last."""
    if len(typed) > len(words):
        return False
    *whole, last = typed or [""]
    return all(
        word.lower().startswith(part) if part.isalpha() else word.lower() == part
        for word, part in zip(words, whole, strict=False)
    ) and words[len(whole)].lower().startswith(last)


def say(*lines: str) -> None:
    """Print lines for the person, wrapped to the terminal."""
    width = shutil.get_terminal_size(DEFAULT_TERMINAL_SIZE).columns - 1
    for text in lines:
        for line in text.split("\n"):
            indent = len(heading[0]) if (heading := HELP_HEADING.match(line)) else 4
            print("\n".join(wrap(line, width, subsequent_indent=" " * indent)) if len(line) > width else line)
    sys.stdout.flush()


def with_turn_limits(lines: Iterable[bytes], get_person: Callable[[], Person | None]) -> Iterator[bytes]:
    """Pass messages on, and tell the person the time limit of each."""
    for text in lines:
        if (person := get_person()) is not None:
            person.turn_limit_s = getattr(read_message(text), "limit", UNLIMITED_S)
        yield text


# The process at the terminal.


class MatchConnection:
    """The connection to the match, read by another thread: the match may end while the person types."""

    def __init__(self, line: socket.socket) -> None:
        self.person: Person | None = None
        self._socket = line
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        threading.Thread(target=self._read_lines, daemon=True).start()

    def lines(self) -> Iterator[bytes]:
        """The messages to the person; they end with the process."""
        while True:
            yield self._lines.get()

    def _read_lines(self) -> None:
        """Read all messages; at the end, restore the terminal, even while the person types, and exit."""
        with self._socket.makefile("rb") as messages:
            for text in messages:
                self._lines.put(text)
        if self.person is not None:
            self.person.keyboard.restore_terminal()
        os._exit(0)


def main() -> None:
    """Let the person at this terminal play a match."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it is for the match, which ends this process, too
    with socket.socket(fileno=int(sys.argv[1])) as line, use_safe_output():
        wire = MatchConnection(line)
        take_game_options(sys.argv)

        def make(game: Game[Any, Any, Any]) -> Person:
            wire.person = Person(game, shared="--shared" in sys.argv)
            return wire.person

        try:
            serve_player(make, with_turn_limits(wire.lines(), lambda: wire.person), line.sendall)
        except LeftTable:
            pass
        except ConnectionError:  # the match is over
            pass


if __name__ == "__main__":
    main()
