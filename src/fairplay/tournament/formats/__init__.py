from fairplay.tournament.counted import Format
from fairplay.tournament.courses import FishCourse, TsuroCourse
from fairplay.tournament.formats.courses import fish_course, tsuro_course
from fairplay.tournament.formats.duplicate import duplicate
from fairplay.tournament.formats.knock_out import knock_out
from fairplay.tournament.formats.ladder import ladder
from fairplay.tournament.formats.round_robin import round_robin
from fairplay.tournament.formats.swiss import swiss
from fairplay.tournament.formats.versus import versus
from fairplay.tournament.settings import Duplicate, KnockOut, Ladder, RoundRobin, Swiss, Versus
from fairplay.tournament.spec import Cup


def format_of(cup: Cup) -> Format:
    """The format that a tournament asks for, about to begin."""
    match cup.format:
        case RoundRobin() as settings:
            return round_robin(cup, settings)
        case Duplicate() as settings:
            return duplicate(cup, settings)
        case Swiss() as settings:
            return swiss(cup, settings)
        case KnockOut() as settings:
            return knock_out(cup, settings)
        case FishCourse() as settings:
            return fish_course(cup, settings)
        case TsuroCourse() as settings:
            return tsuro_course(cup, settings)
        case Ladder() as settings:
            return ladder(cup, settings)
        case Versus() as settings:
            return versus(cup, settings)
