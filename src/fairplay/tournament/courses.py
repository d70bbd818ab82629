"""Define the formats of the two courses that have tournaments."""

from fairplay.tournament.settings import Settings


class FishCourse(Settings, frozen=True, tag="fish-course"):
    """The knock-out of the Fish course."""


class TsuroCourse(Settings, frozen=True, tag="tsuro-course"):
    """The knock-out of the Tsuro course."""


Course = FishCourse | TsuroCourse
COURSES: dict[str, Course] = {"fish": FishCourse(), "tsuro": TsuroCourse()}  # by game
