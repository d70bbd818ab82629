"""List malformed replies, as templates: @ stands for the nonce, and # for a good answer."""

import sys

from fairplay.testing import hostile_programs
from fairplay.testing.hostile_programs import (
    ALL_MESSAGES,
    EJECTION_MOMENTS,
    END,
    GOOD_REPLY,
    HELLO,
    REMOTE_DISTANCES,
    START,
    TELL,
    TURN,
    Misbehaviour,
    Words,
    send_template,
)

PLACE_REPLY = (
    b'{"nonce":@,"answer":{"type":"place","tiles":[{"tile":"red circle","at":[0,%b]}]}}'  # in Q; 1 would be fine
)
BAD_REPLIES_ANY_TIME = {
    "junk": b"hello?",
    "an empty line": b"",
    "blanks": b"   \t",
    "half an object": b'{"nonce":@,"answer":',
    "a comma too many": b'{"nonce":@,"answer":#,}',
    "a comment": GOOD_REPLY + b" // there you are",
    "single quotes": b"{'nonce':'x','answer':null}",
    "two values": GOOD_REPLY + GOOD_REPLY,
    "a list": b"[@,#]",
    "a bare answer": b"#",
    "a request of HTTP": b"GET / HTTP/1.1",
    "a hundred brackets": b'{"nonce":@,"answer":' + b"[" * 100 + b"]" * 100 + b"}",
    "brackets without end": b"[" * 8000,
    "a thousand objects": b'{"nonce":@,"answer":' + b'{"a":' * 1000 + b"1" + b"}" * 1000 + b"}",
    "a number of 4301 digits": b'{"nonce":@,"answer":' + b"7" * 4301 + b"}",
    "a number out of range": b'{"nonce":@,"answer":1e999}',
    "NaN": b'{"nonce":@,"answer":NaN}',
    "Infinity": b'{"nonce":@,"answer":-Infinity}',
    "two nonces": b'{"nonce":@,"nonce":@,"answer":#}',
    "two answers": b'{"nonce":@,"answer":#,"answer":#}',
    "bytes that are no UTF-8": GOOD_REPLY + b"\xff",
    "overlong UTF-8": b'{"nonce":@,\xc0\xa2answer\xc0\xa2:#}',
    "a surrogate in UTF-8": b'{"nonce":@,"answer":"\xed\xa0\x80"}',
    "half a character": b'{"nonce":@,"answer":"\\ud800"}',
    "a byte order mark": b"\xef\xbb\xbf" + GOOD_REPLY,
    "a NUL": GOOD_REPLY + b"\0",
    "one field more": b'{"nonce":@,"answer":#,"__proto__":1}',
    "no nonce": b'{"answer":#}',
    "no answer": b'{"nonce":@}',
    "capitals": b'{"Nonce":@,"Answer":#}',
    "a number as the nonce": b'{"nonce":1,"answer":#}',
    "a list as the nonce": b'{"nonce":[@],"answer":#}',
    "a nonce of its own": b'{"nonce":"0123456789abcdef-1","answer":#}',
}
BAD_REPLIES_BY_MESSAGE: dict[str, tuple[Words, bytes]] = {
    "thanks": ((HELLO, START, TELL, END), b'{"nonce":@,"answer":"thanks"}'),
    "an action": ((HELLO, START, TELL, END), b'{"nonce":@,"answer":{"type":"pass"}}'),
    "false": ((HELLO, START, TELL, END), b'{"nonce":@,"answer":false}'),
    "no name": ((HELLO,), b'{"nonce":@,"answer":{"name":""}}'),
    "a number as its name": ((HELLO,), b'{"nonce":@,"answer":{"name":7}}'),
    "a very long name": ((HELLO,), b'{"nonce":@,"answer":{"name":"%b"}}' % (b"x" * 65)),
    "two names": ((HELLO,), b'{"nonce":@,"answer":{"name":"a","name":"b"}}'),
    "true for 1": ((TURN,), PLACE_REPLY % b"true"),
    "1.0 for 1": ((TURN,), PLACE_REPLY % b"1.0"),
    "1e0 for 1": ((TURN,), PLACE_REPLY % b"1e0"),
    '"1" for 1': ((TURN,), PLACE_REPLY % b'"1"'),
    "[1] for 1": ((TURN,), PLACE_REPLY % b"[1]"),
    "null for 1": ((TURN,), PLACE_REPLY % b"null"),
    "01 for 1": ((TURN,), PLACE_REPLY % b"01"),
    "an Arabic 1": ((TURN,), PLACE_REPLY % "\u0661".encode()),
    "a number too large": ((TURN,), PLACE_REPLY % b"2147483648"),
    "two actions": (
        (TURN,),
        b'{"nonce":@,"answer":{"type":"place","tiles":[],"tiles":[{"tile":"red circle","at":[0,1]}]}}',
    ),
    "an action of no game": ((TURN,), b'{"nonce":@,"answer":{"type":"win"}}'),
    "a field too many": ((TURN,), b'{"nonce":@,"answer":{"type":"pass","__class__":"Place"}}'),
    "a field too few": ((TURN,), b'{"nonce":@,"answer":{"type":"place"}}'),
    "no action": ((TURN,), b'{"nonce":@,"answer":null}'),
}


BAD_REPLIES = {
    **{what: (ALL_MESSAGES, template) for what, template in BAD_REPLIES_ANY_TIME.items()},
    **BAD_REPLIES_BY_MESSAGE,
}


def reply_misbehaviour(what: str, at: Words, template: bytes) -> Misbehaviour:
    """The misbehaviour of replying with this."""
    name, moments = f"replies with {what}", {message: EJECTION_MOMENTS[message] for message in at}
    return Misbehaviour(name, name, "malformed", send_template(template), at, REMOTE_DISTANCES, moments)


MISBEHAVIOURS: dict[str, Misbehaviour] = {
    it.name: it for it in (reply_misbehaviour(what, at, template) for what, (at, template) in BAD_REPLIES.items())
}


def program_command(misbehaviour: Misbehaviour, at: str) -> list[str]:
    """The command line of a program that misbehaves at this message."""
    _, template = BAD_REPLIES.get(misbehaviour.name.removeprefix("replies with "), ((), b""))
    word = f"={template.hex()}" if misbehaviour.name in MISBEHAVIOURS else misbehaviour.name
    return [sys.executable, "-I", hostile_programs.__file__, word, at]
