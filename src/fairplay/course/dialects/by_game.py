"""List the dialects of the courses, by game."""

from fairplay.course.dialects import fish, q, tsuro
from fairplay.course.dialects.dialect import Dialect

DIALECTS: dict[str, Dialect] = {one.game: one for one in (fish.DIALECT, tsuro.DIALECT, q.DIALECT)}
