"""Load what holds for all tests: a limit of time, a room of their own for some, and a word on what took longest."""

pytest_plugins = ("tests.running.alone", "tests.running.parts", "tests.running.time_limit")
