"""Split a stream of bytes into JSON values, with or without white space between them.

Every byte is read once. The values of a course are strings, lists or objects, so any other value is refused at its
first byte; the end of a bare number would be unknown. Invalid JSON is noticed at the first invalid byte; what JSON
parsers disagree about (wire.find_strict_json_error), when the value is complete.
"""

import codecs
import re
from typing import Any

import msgspec

from fairplay.core.events import Fault
from fairplay.protocol import wire
from fairplay.transport.connection import ConnectionClosed, TooMuchData

MAX_BLANK_BYTES = 64 * 1024  # between two values; some clients send 5,000
WHITE_SPACE = b" \t\n\r"
BLANKS = re.compile(rb"[ \t\n\r]*")
IN_STRING = re.compile(rb'[^"\\\x00-\x1f]*')
JSON_WORD = re.compile(rb"[-+.\w]*")
JSON_WORDS = (b"true", b"false", b"null")
NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)")
NOT_WHOLE = re.compile(rb"-?(?:0|[1-9][0-9]*)[.eE]")
ZEROS = bytes.maketrans(b"123456789", b"000000000")
TOO_MANY_DIGITS = b"0" * (wire.MAX_NUMBER_DIGITS + 1)  # compared after all digits became zeros
MAX_WORD_BYTES = wire.MAX_NUMBER_DIGITS + 1  # one more for a minus
HEX = frozenset(b"0123456789abcdefABCDEF")
ESCAPED = frozenset(b'"\\/bfnrt')
QUOTE, BACKSLASH, UNICODE, COLON, COMMA = b'"\\u:,'
CLOSED_BY = dict(zip(b"[{", b"]}", strict=True))
VALUE_STARTS = frozenset(b'"[{')
JSON_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"')
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
NOT_JSON = "not JSON"
NO_REPLY = "not a JSON string, list or object"

# What may come next inside a value.
VALUE, FIRST, KEY, FIRST_KEY, AFTER_KEY, AFTER = range(6)


class IllFormed(ConnectionClosed):
    """The received text is not a valid value. Nothing after it is read."""

    def __init__(self, why: str, text: bytes) -> None:
        super().__init__(Fault.MALFORMED, why)
        self.text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.text), self.__dict__


class Scanner:
    """Finds values up to a maximum size. After an error it finds no more."""

    def __init__(self, most: int = wire.MAX_LINE_BYTES) -> None:
        self.wrong: IllFormed | TooMuchData | None = None
        self._most = most
        self._blanks = 0  # bytes of white space since the last value
        self._pieces: list[bytes] = []  # of an incomplete value
        self._size = 0  # of all of them
        self._start_value()

    @property
    def unfinished(self) -> bytes:
        """The received part of a value."""
        return b"".join(self._pieces) if self._size else b""

    def feed(self, piece: bytes) -> list[bytes]:
        """The values that this piece completes, in order."""
        if self.wrong is not None:
            return []
        bare = piece.strip(WHITE_SPACE)
        blanks = self._blanks + len(piece) - len(bare)
        if not self._size and bare and len(bare) <= self._most and blanks <= MAX_BLANK_BYTES and is_plain(bare):
            self._blanks = len(piece) - len(piece.rstrip(WHITE_SPACE))
            return [bare]
        found: list[bytes] = []
        at = 0
        while at < len(piece) and self.wrong is None:
            if not self._size:
                at = self._skip_blanks(piece, at)
                if at == len(piece) or self.wrong is not None:
                    break
            stop = min(len(piece), at + self._most - self._size)
            end = self._scan(piece, at, stop)
            self._append(piece[at:end])
            if self.wrong is not None:
                self.wrong.text = self.unfinished + piece[end:stop]
            elif self._is_whole():
                found += self._take()
            elif stop < len(piece):
                self.wrong = TooMuchData(self.unfinished)
            at = end
        return found

    def _start_value(self) -> None:
        self._expected = VALUE
        self._nested = bytearray()  # the closing brackets of open lists and objects, outermost first
        self._in_string = False
        self._escape = 0  # -1: after a backslash; otherwise the number of hexadecimal digits to follow
        self._word = b""  # an unfinished number or JSON word
        self._utf8 = codecs.getincrementaldecoder("utf-8")()

    def _append(self, part: bytes) -> None:
        self._pieces.append(part)
        self._size += len(part)
        try:
            self._utf8.decode(part)
        except UnicodeDecodeError:
            self._refuse("not UTF-8", 0)

    def _is_whole(self) -> bool:
        return self._expected == AFTER and not (self._nested or self._in_string)

    def _take(self) -> list[bytes]:
        """The complete value, unless JSON parsers disagree about it."""
        value = self.unfinished
        self._pieces.clear()
        self._size = self._blanks = 0
        self._start_value()
        odd = wire.find_strict_json_error(value)
        if odd is None:
            return [value]
        self.wrong = IllFormed(odd, value)
        return []

    def _skip_blanks(self, piece: bytes, at: int) -> int:
        """The end of the white space."""
        end = run_end(BLANKS, piece, at, len(piece))
        self._blanks += end - at
        if self._blanks > MAX_BLANK_BYTES:
            self.wrong = TooMuchData(b"")
        return end

    def _scan(self, piece: bytes, at: int, stop: int) -> int:
        """Scan to the end of a value or of the piece, or to the first invalid byte."""
        if not self._size and piece[at] not in VALUE_STARTS:
            return self._refuse(NO_REPLY, at + 1)
        while at < stop and self.wrong is None:
            if self._escape:
                at = self._scan_escape(piece[at], at)
            elif self._in_string:
                at = self._scan_string(piece, at, stop)
            elif self._word:
                at = self._scan_word(piece, at, stop)
            else:
                at = run_end(BLANKS, piece, at, stop)
                if at < stop:
                    at = self._scan_byte(piece[at], at)
            if self._is_whole():
                break
        return at

    def _scan_byte(self, sign: int, at: int) -> int:
        """Scan the first byte of the next token; return the next position."""
        due, nested = self._expected, self._nested
        if sign == QUOTE and due not in (AFTER, AFTER_KEY):
            self._in_string = True
        elif due in (AFTER, FIRST, FIRST_KEY) and nested and sign == nested[-1]:
            nested.pop()
            self._expected = AFTER
        elif due == AFTER and sign == COMMA:
            self._expected = KEY if nested[-1] == CLOSED_BY[b"{"[0]] else VALUE
        elif due == AFTER_KEY and sign == COLON:
            self._expected = VALUE
        elif due in (VALUE, FIRST) and sign in CLOSED_BY:
            nested.append(CLOSED_BY[sign])
            self._expected = FIRST if sign == b"["[0] else FIRST_KEY
            if len(nested) > wire.MAX_JSON_DEPTH:
                return self._refuse(f"nested more than {wire.MAX_JSON_DEPTH} deep", at + 1)
        elif due in (VALUE, FIRST) and JSON_WORD.fullmatch(bytes([sign])):
            self._word = bytes([sign])
            self._check_word(whole=False)
        else:
            return self._refuse(NOT_JSON, at + 1)
        return at + 1

    def _scan_string(self, piece: bytes, at: int, stop: int) -> int:
        at = run_end(IN_STRING, piece, at, stop)
        if at == stop:
            return at
        if piece[at] == QUOTE:
            self._in_string = False
            self._expected = AFTER_KEY if self._expected in (KEY, FIRST_KEY) else AFTER
        elif piece[at] == BACKSLASH:
            self._escape = -1
        else:
            return self._refuse(NOT_JSON, at + 1)
        return at + 1

    def _scan_escape(self, sign: int, at: int) -> int:
        if self._escape > 0 and sign in HEX:
            self._escape -= 1
        elif self._escape < 0 and sign in ESCAPED:
            self._escape = 0
        elif self._escape < 0 and sign == UNICODE:
            self._escape = 4
        else:
            return self._refuse(NOT_JSON, at + 1)
        return at + 1

    def _scan_word(self, piece: bytes, at: int, stop: int) -> int:
        end = run_end(JSON_WORD, piece, at, min(stop, at + MAX_WORD_BYTES))
        self._word += piece[at:end]
        self._check_word(whole=end < stop)
        if end < stop:
            self._word = b""
            self._expected = AFTER
        return end

    def _check_word(self, whole: bool) -> None:
        """Refuse an invalid number or JSON word, or one that cannot become valid."""
        word = self._word
        if TOO_MANY_DIGITS in word.translate(ZEROS) and NUMBER.match(word):
            self._refuse(f"a number of more than {wire.MAX_NUMBER_DIGITS} digits", 0)
        elif NOT_WHOLE.match(word):
            self._refuse("a number that is not an integer", 0)
        elif not (NUMBER.fullmatch(word) or word in JSON_WORDS) and (
            whole or not (word == b"-" or any(name.startswith(word) for name in JSON_WORDS))
        ):
            self._refuse(NOT_JSON, 0)

    def _refuse(self, why: str, end: int) -> int:
        self.wrong = IllFormed(why, b"")
        return end


def run_end(run: re.Pattern[bytes], piece: bytes, at: int, stop: int) -> int:
    """The end of a run of such bytes."""
    found = run.match(piece, at, stop)
    return at if found is None else found.end()


def refuse_float(digits: str) -> float:
    """Refuse a float: all numbers of the courses are integers."""
    raise ValueError


decode = msgspec.json.Decoder(float_hook=refuse_float).decode


def is_plain(text: bytes) -> bool:
    """Is this a complete value in our own formatting, about which all JSON parsers agree?"""
    if text[0] not in VALUE_STARTS or TOO_MANY_DIGITS in text.translate(ZEROS):
        return False
    try:
        plain = wire.encode(decode(text)) == text
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OverflowError):
        return False
    return plain and not (text.count(b"[") + text.count(b"{") > wire.MAX_JSON_DEPTH and is_too_deep(text))


def is_too_deep(text: bytes) -> bool:
    """Is a complete value nested too deep?"""
    level = 0
    for bracket in JSON_STRINGS.sub(b"", text).translate(None, NO_BRACKETS):
        level += 1 if bracket in CLOSED_BY else -1
        if level > wire.MAX_JSON_DEPTH:
            return True
    return False
