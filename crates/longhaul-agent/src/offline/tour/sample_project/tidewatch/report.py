"""The page for the harbour master: a month in twenty lines."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from statistics import mean

from . import tide
from .parse import Reading
from .store import Store


def monthly(store: Store, month: datetime) -> str:
    by_station: dict[str, list[Reading]] = defaultdict(list)
    for reading in store.month(month):
        by_station[reading.station].append(reading)
    lines = [f"Saltmarsh harbour, {month:%B %Y}", ""]
    for station, readings in sorted(by_station.items()):
        lines.extend(section(station, readings))
    if len(lines) == 2:
        lines.append("No readings.")
    return "\n".join(lines) + "\n"


def section(station: str, readings: list[Reading]) -> list[str]:
    highest = max(readings, key=lambda reading: reading.height)
    lowest = min(readings, key=lambda reading: reading.height)
    surplus = [reading.height - tide.height(reading.time) for reading in readings]
    days = {reading.time.date() for reading in readings}
    return [
        station,
        f"  readings   {len(readings)} on {len(days)} days",
        f"  highest    {highest.height:.2f} m on {highest.time:%d %B at %H:%M} UTC",
        f"  lowest     {lowest.height:.2f} m on {lowest.time:%d %B at %H:%M} UTC",
        f"  surplus    {mean(surplus):+.2f} m on average, {max(surplus):+.2f} m at most",
        "",
    ]
