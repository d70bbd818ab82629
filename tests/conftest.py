"""Load what holds for all tests: limits of time, interrupts, a key of their own, a room for some, tables at the end."""

pytest_plugins = (
    "tests.running.alone",
    "tests.running.busy",
    "tests.running.interrupts",
    "tests.running.long",
    "tests.running.parts",
    "tests.running.skips",
    "tests.running.state",
    "tests.running.time_limit",
)
