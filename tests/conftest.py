"""Set up all tests: time limits, interrupts, a key of their own, tests that run alone, and tables at the end."""

pytest_plugins = (
    "tests.running.alone",
    "tests.running.busy",
    "tests.running.coroutines",
    "tests.running.long",
    "tests.running.skips",
    "tests.running.state",
    "tests.running.time_limit",
)
