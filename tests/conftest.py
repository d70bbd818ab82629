"""Load what holds for all tests: a limit of time, a key of their own, a room for some, a word on what took longest."""

pytest_plugins = (
    "tests.running.alone",
    "tests.running.long",
    "tests.running.parts",
    "tests.running.state",
    "tests.running.time_limit",
)
