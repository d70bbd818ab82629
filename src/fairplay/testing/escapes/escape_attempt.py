"""Define escape attempts: programs that try to get out of their sandbox, each with the end that it must have.

They are honest until it is their turn. What they know about their targets is in `outside`: addresses of listeners, the
referee's process, files to read. One that gets out reports how, and exits with ESCAPED_EXIT_CODE.
"""

from enum import Enum
from textwrap import indent

import msgspec

from fairplay.core.events import Fault

REFUSED_EXIT_CODE, ESCAPED_EXIT_CODE = 7, 42
ESCAPED_PREFIX = "this worked: "  # on stderr, before what worked


class Language(Enum):
    """The language of an attempt."""

    PYTHON = "Python"
    C = "C"


class EscapeAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """A program that misbehaves in a match, and its expected end; for CRASHED, a kill by a signal is fine too."""

    name: str
    tries: str  # in one line
    turn: str  # what it does on its turn
    start: str = ""  # what it does when the match begins; in C, turn and start are functions
    fault: Fault = Fault.CRASHED
    code: int | None = REFUSED_EXIT_CODE  # its exit code if it crashes; None: any but ESCAPED_EXIT_CODE
    says: str = ""  # what must stand at the end of its stderr
    ally: str = ""  # what a second program does on its turn, which comes first; "": there is none
    ally_start: str = ""
    language: Language = Language.PYTHON
    program: str = "den/bot"  # where it is started; link leads to den, and self to its own directory
    journal: str = "journal"  # where the match is recorded
    alone: bool = False  # does it use so much of the machine that it has to run alone?
    held_by_group: bool = False  # can only the memory limit of a control group hold it?
    starts_processes: bool = False  # without end: only where their number is limited
    beyond_landlock: str = ""  # why that level does not claim to hold it
    first_line: str = ""  # of a script; {other} is the program of another player

    @property
    def is_unusual_request(self) -> bool:
        """Is the start itself odd, so that it may be refused?"""
        return (self.program, self.journal, self.first_line) != ("den/bot", "journal", "")

    def program_text(self) -> str:
        """The text of the program."""
        if self.language is Language.C:
            return f"{C_PRELUDE}{self.turn}{C_MAIN}"
        return python_program(self.start, self.turn, self.first_line)

    def ally_text(self) -> str:
        """The text of the second program."""
        return python_program(self.ally_start, self.ally)


def python_program(start: str, turn: str, first_line: str = "") -> str:
    """A player in Python that does this at its greeting and that on its turn."""
    bodies = {"start": start.strip() or "pass", "turn": turn.strip()}
    functions = [f"def {name}():\n{indent(body, '    ')}" for name, body in bodies.items()]
    return "\n\n".join([first_line, PYTHON_PRELUDE.strip(), *functions, PYTHON_LOOP.strip()]).lstrip() + "\n"


PYTHON_PRELUDE = """
import ctypes, json, linecache, mmap, os, signal, socket, struct, sys, time

outside = json.loads(sys.argv[1])
own = os.environ.get("TMPDIR", "/tmp")  # where it may write
libc = ctypes.CDLL(None, use_errno=True)

def attempt(*works):
    for work in works:
        try:
            if work() is not False:
                line = linecache.getline(sys.argv[0], work.__code__.co_firstlineno).strip()
                got_out(f"{line} {work.__defaults__ or ''}")
        except (OSError, ValueError) as error:  # any other exception is a mistake of the attempt
            print(type(error).__name__, error, file=sys.stderr, flush=True)
    os._exit(7)

def got_out(how):
    print("this worked:", how, file=sys.stderr, flush=True)
    os._exit(42)

def wait():
    while True:
        time.sleep(60)

def call(number, *arguments):
    return libc.syscall(ctypes.c_long(number), *(ctypes.c_long(it) if isinstance(it, int) else it for it in arguments))

def libcall(function, *arguments):
    done = getattr(libc, function)(*(ctypes.c_long(it) if isinstance(it, int) else it for it in arguments))
    if done == -1:
        raise OSError(ctypes.get_errno(), f"{function}: {os.strerror(ctypes.get_errno())}")
    return done

# How much was computed, and when: every process that burns writes it to a board that all of them share.
STEPS, STEP, PROCESSES = 3000, 0.01, 64
board = mmap.mmap(-1, STEPS * 4 * PROCESSES)
began = time.monotonic()

def burn(place=0):
    spent = time.thread_time()
    while True:
        for _ in range(500):
            pass
        now = time.thread_time()
        step = int((time.monotonic() - began) / STEP)
        if step < STEPS:
            at = 4 * (place * STEPS + step)
            known, = struct.unpack_from("I", board, at)
            struct.pack_into("I", board, at, known + int((now - spent) * 1e6))
        spent = now

def rested_or_out(until=0.6):
    # The other player's turn takes 0.8 s, in which a program that is not asked must compute nothing.
    first, last = (int((greeted + it - began) / STEP) for it in (0.1, until))
    burned = sum(sum(struct.unpack_from(f"{last - first}I", board, 4 * (place * STEPS + first)))
                 for place in range(PROCESSES))
    print(f"computed for {burned / 1e3:.1f} ms while not asked", file=sys.stderr, flush=True)
    if burned >= 25_000:
        got_out(f"computed for {burned / 1e3:.0f} ms while not asked")
    os._exit(7)
"""

PYTHON_LOOP = """
greeted = began
for text in sys.stdin.buffer:
    line = json.loads(text)
    if line["type"] == "goodbye":
        continue
    if line["type"] == "start":
        start()
        greeted = time.monotonic()
    if line["type"] == "take_turn":
        turn()
    os.write(1, json.dumps({"nonce": line["nonce"], "answer": None}).encode() + b"\\n")
"""

SLEEP_THEN_EXIT = "time.sleep(0.8)\nos._exit(7)"  # the turn of an ally, in which the other should rest

C_PRELUDE = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *outside;
static int reached(const char *what, long done) {
    if (done < 0) { fprintf(stderr, "%s: %s\n", what, strerror(errno)); return 0; }
    fprintf(stderr, "this worked: %s\n", what);
    _exit(42);
}
static int in_child(int (*work)(void)) {  /* its exit code; -1: it was killed */
    int status = 0;
    pid_t child = fork();
    if (child == 0) _exit(work());
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}
static long number(const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *found = strstr(outside, key);
    return found ? atol(found + strlen(key)) : -1;
}
#define TRY(call) (errno = 0, reached(#call, (long)(call)))
"""

C_MAIN = r"""
int main(int count, char **words) {
    static char line[1 << 20];
    outside = count > 1 ? words[1] : "";
    while (fgets(line, sizeof line, stdin)) {
        char *nonce = strstr(line, "\"nonce\":\"");
        if (strstr(line, "\"type\":\"take_turn\"")) { turn(); _exit(7); }
        if (!nonce) continue;
        nonce += 9;
        *strchr(nonce, '"') = 0;
        printf("{\"nonce\":\"%s\",\"answer\":null}\n", nonce);
        fflush(stdout);
    }
}
"""
