import pytest

from tidewatch.parse import BadLine, checksum, parse_line


def line(body):
    return f"{body}*{checksum(body):02X}"


def test_a_line_is_a_reading():
    reading = parse_line(line("NP 2026-03-11T02:40:00Z 3.412 12.1"))
    assert reading.station == "north-pier"
    assert reading.height == 3.412
    assert reading.is_plausible()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NP 2026-03-11T02:40:00Z 3.412 12.1",
        "NP 2026-03-11T02:40:00Z 3.412 12.1*00",
        line("XX 2026-03-11T02:40:00Z 3.412 12.1"),
        line("NP yesterday 3.412 12.1"),
        line("NP 2026-03-11T02:40:00Z high 12.1"),
        line("NP 2026-03-11T02:40:00Z 3.412"),
    ],
)
def test_a_bad_line_is_refused(text):
    with pytest.raises(BadLine):
        parse_line(text)


def test_a_broken_cable_is_not_plausible():
    reading = parse_line(line("LK 2026-03-11T02:40:00Z 99.9 12.1"))
    assert not reading.is_plausible()
