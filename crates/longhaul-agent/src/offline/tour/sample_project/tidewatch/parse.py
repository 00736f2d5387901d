"""Turns one line of a gauge into a reading.

A line looks like this, with a checksum of all bytes before the star:

    NP 2026-03-11T02:40:00Z 3.412 12.1*5F

The station is two letters, the height is in metres above chart datum, the last number is the battery in volts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

STATIONS = {"NP": "north-pier", "LK": "lock", "OB": "outer-buoy"}

# A height outside of this range is a broken cable, not a flood.
LOWEST, HIGHEST = -1.5, 8.0


class BadLine(ValueError):
    """A line that is no reading; the text says why."""


@dataclass(frozen=True)
class Reading:
    station: str
    time: datetime
    height: float
    battery: float

    def is_plausible(self) -> bool:
        return LOWEST <= self.height <= HIGHEST and self.battery > 9.0


def checksum(text: str) -> int:
    value = 0
    for byte in text.encode("ascii"):
        value ^= byte
    return value


def parse_line(line: str) -> Reading:
    """The reading in a line; raises BadLine if there is none."""
    line = line.strip()
    body, star, given = line.partition("*")
    if not star:
        raise BadLine(f"no checksum: {line!r}")
    try:
        expected = int(given, 16)
    except ValueError:
        raise BadLine(f"unreadable checksum: {given!r}") from None
    if checksum(body) != expected:
        raise BadLine(f"checksum {given} does not match {checksum(body):02X}")
    fields = body.split()
    if len(fields) != 4:
        raise BadLine(f"{len(fields)} fields in place of 4: {body!r}")
    code, time, height, battery = fields
    if code not in STATIONS:
        raise BadLine(f"unknown station: {code!r}")
    return Reading(
        station=STATIONS[code],
        time=parse_time(time),
        height=parse_number(height, "height"),
        battery=parse_number(battery, "battery"),
    )


def parse_time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise BadLine(f"unreadable time: {text!r}") from None
    # The outer buoy sends local time in summer and does not say so.
    if time.tzinfo is None:
        time = time.replace(tzinfo=timezone.utc)
    return time.astimezone(timezone.utc)


def parse_number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadLine(f"unreadable {what}: {text!r}") from None
