from fairplay.tournament.counted_match import Format
from fairplay.tournament.courses import FishCourse, TsuroCourse
from fairplay.tournament.formats.courses import fish_course, tsuro_course
from fairplay.tournament.formats.duplicate import duplicate
from fairplay.tournament.formats.knock_out import knock_out
from fairplay.tournament.formats.ladder import ladder
from fairplay.tournament.formats.round_robin import round_robin
from fairplay.tournament.formats.swiss import swiss
from fairplay.tournament.formats.versus import versus
from fairplay.tournament.settings import Duplicate, KnockOut, Ladder, RoundRobin, Swiss, Versus
from fairplay.tournament.spec import TournamentSpec


def start_format(spec: TournamentSpec) -> Format:
    """The format that a tournament asks for, about to begin."""
    match spec.format:
        case RoundRobin() as settings:
            return round_robin(spec, settings)
        case Duplicate() as settings:
            return duplicate(spec, settings)
        case Swiss() as settings:
            return swiss(spec, settings)
        case KnockOut() as settings:
            return knock_out(spec, settings)
        case FishCourse() as settings:
            return fish_course(spec, settings)
        case TsuroCourse() as settings:
            return tsuro_course(spec, settings)
        case Ladder() as settings:
            return ladder(spec, settings)
        case Versus() as settings:
            return versus(spec, settings)
