"""Inform observers of events, and drop observers that raise."""

from collections.abc import Callable, Iterable

from fairplay.core.events import Event
from fairplay.core.roles import Observer
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.local_channel import describe_exception

NAME_OF = type.__dict__["__name__"].__get__  # which a third-party metaclass cannot override
Report = Callable[[str], None]


class Observers:
    """The observers of one match."""

    def __init__(self, observers: Iterable[Observer], report: Report) -> None:
        self._observers = tuple(observers)
        self._report = report

    def notify(self, event: Event, match: AnyMatch) -> None:
        """Inform every observer; one that raises is reported and dropped."""
        for observer in self._observers:
            try:
                observer.observe(event, match)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self._observers = tuple(other for other in self._observers if other is not observer)
                self._report(f"observer {NAME_OF(type(observer))} was dropped: {describe_exception(error)[1]}")
