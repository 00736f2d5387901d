"""Decides whether the water rises faster than the tide explains."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from . import tide
from .parse import Reading
from .store import Store

# How far back the alarm looks.
LOOK_BACK = timedelta(minutes=60)
# Fewer readings than this say nothing.
ENOUGH = 4
# The surplus in metres per hour above which somebody is woken.
THRESHOLD = 0.35
# After an alarm, a station is quiet for this long.
QUIET = timedelta(hours=2)


@dataclass(frozen=True)
class Alarm:
    station: str
    time: datetime
    measured: float
    expected: float

    @property
    def surplus(self) -> float:
        return self.measured - self.expected

    def sentence(self) -> str:
        return (
            f"{self.station}: the water rises by {self.measured:.2f} m/h, the tide explains "
            f"{self.expected:.2f} m/h ({self.time:%H:%M} UTC)"
        )


def slope(readings: list[Reading]) -> float:
    """The rise in metres per hour, by least squares."""
    origin = readings[0].time
    hours = [(reading.time - origin).total_seconds() / 3600.0 for reading in readings]
    heights = [reading.height for reading in readings]
    mean_hour = sum(hours) / len(hours)
    mean_height = sum(heights) / len(heights)
    spread = sum((hour - mean_hour) ** 2 for hour in hours)
    if spread == 0:
        return 0.0
    common = sum(
        (hour - mean_hour) * (height - mean_height) for hour, height in zip(hours, heights)
    )
    return common / spread


def check(store: Store, station: str, now: datetime) -> Alarm | None:
    """The alarm for a station, if there is reason for one."""
    readings = store.since(now - LOOK_BACK, station)
    readings = [reading for reading in readings if reading.is_plausible()]
    if len(readings) < ENOUGH:
        return None
    measured = slope(readings)
    expected = tide.rate(readings[0].time, readings[-1].time)
    alarm = Alarm(station, now, measured, expected)
    return alarm if alarm.surplus > THRESHOLD else None


class Watch:
    """Raises alarms, but not the same one again and again."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.last: dict[str, datetime] = {}

    def stations(self, stations: list[str], now: datetime) -> list[Alarm]:
        raised = []
        for station in stations:
            alarm = check(self.store, station, now)
            if alarm is None:
                continue
            before = self.last.get(station)
            # A gap of the clock must not keep a station quiet for ever.
            if before is not None and timedelta(0) <= now - before < QUIET:
                continue
            self.last[station] = now
            raised.append(alarm)
        return raised
