"""The command line."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime, timezone
from pathlib import Path

from .alarm import Watch
from .parse import STATIONS, BadLine, parse_line
from .report import monthly
from .store import Store


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tidewatch")
    parser.add_argument("--data", type=Path, default=Path("data"))
    commands = parser.add_subparsers(dest="command", required=True)
    collect = commands.add_parser("collect", help="append one reading")
    collect.add_argument("--station", choices=sorted(STATIONS.values()), required=True)
    commands.add_parser("check", help="compare the last hour with the tide table")
    report = commands.add_parser("report", help="a page for the harbour master")
    report.add_argument("month", help="such as 2026-03")
    given = parser.parse_args(argv)
    store = Store(given.data)
    if given.command == "collect":
        return run_collect(store, given.station)
    if given.command == "check":
        return run_check(store)
    month = datetime.strptime(given.month, "%Y-%m").replace(tzinfo=timezone.utc)
    sys.stdout.write(monthly(store, month))
    return 0


def run_collect(store: Store, station: str) -> int:
    for line in sys.stdin:
        try:
            reading = parse_line(line)
        except BadLine as problem:
            print(f"skipped: {problem}", file=sys.stderr)
            continue
        if reading.station == station:
            store.append(reading)
            return 0
    print(f"no reading of {station}", file=sys.stderr)
    return 1


def run_check(store: Store) -> int:
    now = datetime.now(timezone.utc)
    alarms = Watch(store).stations(sorted(STATIONS.values()), now)
    for alarm in alarms:
        print(alarm.sentence())
    return 1 if alarms else 0


if __name__ == "__main__":
    raise SystemExit(main())
