from datetime import datetime, timedelta, timezone

from tidewatch import tide
from tidewatch.alarm import ENOUGH, Watch, check, slope
from tidewatch.parse import Reading
from tidewatch.store import Store

NIGHT = datetime(2026, 3, 11, 2, 0, tzinfo=timezone.utc)


def readings(count, surplus_per_hour, station="north-pier"):
    made = []
    for step in range(count):
        time = NIGHT + timedelta(minutes=10 * step)
        height = tide.height(time) + surplus_per_hour * step / 6
        made.append(Reading(station, time, height, 12.1))
    return made


def filled(folder, made):
    store = Store(folder)
    for reading in made:
        store.append(reading)
    return store


def test_a_calm_night_raises_no_alarm(tmp_path):
    store = filled(tmp_path, readings(7, 0.0))
    assert check(store, "north-pier", NIGHT + timedelta(minutes=60)) is None


def test_a_surge_raises_an_alarm(tmp_path):
    store = filled(tmp_path, readings(7, 0.6))
    alarm = check(store, "north-pier", NIGHT + timedelta(minutes=60))
    assert alarm is not None
    assert 0.5 < alarm.surplus < 0.7


def test_too_few_readings_say_nothing(tmp_path):
    store = filled(tmp_path, readings(ENOUGH - 1, 2.0))
    assert check(store, "north-pier", NIGHT + timedelta(minutes=60)) is None


def test_the_same_alarm_is_raised_once(tmp_path):
    watch = Watch(filled(tmp_path, readings(7, 0.6)))
    later = NIGHT + timedelta(minutes=60)
    assert len(watch.stations(["north-pier"], later)) == 1
    assert watch.stations(["north-pier"], later + timedelta(minutes=10)) == []


def test_a_flat_line_has_no_slope():
    flat = [Reading("lock", NIGHT + timedelta(minutes=10 * n), 3.0, 12.0) for n in range(5)]
    assert slope(flat) == 0.0
