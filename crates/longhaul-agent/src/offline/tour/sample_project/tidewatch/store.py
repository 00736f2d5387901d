"""Keeps readings in one file per month. Lines are appended and never rewritten."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from .parse import Reading

HEADER = ["time", "station", "height_m", "battery_v"]


class Store:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, time: datetime) -> Path:
        return self.folder / f"readings-{time:%Y-%m}.csv"

    def append(self, reading: Reading) -> None:
        """Appends a reading and returns when it is on the disk."""
        path = self.path(reading.time)
        fresh = not path.exists()
        with path.open("a", newline="", encoding="ascii") as file:
            writer = csv.writer(file)
            if fresh:
                writer.writerow(HEADER)
            writer.writerow(
                [
                    reading.time.strftime("%Y-%m-%dT%H:%MZ"),
                    reading.station,
                    f"{reading.height:.3f}",
                    f"{reading.battery:.1f}",
                ]
            )
            file.flush()
            os.fsync(file.fileno())

    def month(self, month: datetime) -> Iterator[Reading]:
        path = self.path(month)
        if not path.exists():
            return
        with path.open(newline="", encoding="ascii") as file:
            for row in csv.DictReader(file):
                yield Reading(
                    station=row["station"],
                    time=datetime.fromisoformat(row["time"].replace("Z", "+00:00")),
                    height=float(row["height_m"]),
                    battery=float(row["battery_v"]),
                )

    def since(self, time: datetime, station: str) -> list[Reading]:
        """The readings of a station from this time on, oldest first."""
        months = {time.replace(day=1), (time + timedelta(days=1)).replace(day=1)}
        found = [
            reading
            for month in sorted(months)
            for reading in self.month(month)
            if reading.station == station and reading.time >= time
        ]
        # Readings of a gauge that was offline arrive late and out of order.
        return sorted(found, key=lambda reading: reading.time)
