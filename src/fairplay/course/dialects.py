"""List the dialects of the courses, by game."""

from fairplay.course import fish_calls, q_calls, tsuro_calls
from fairplay.course.dialect import Dialect

DIALECTS: dict[str, Dialect] = {one.game: one for one in (fish_calls.DIALECT, tsuro_calls.DIALECT, q_calls.DIALECT)}
