CREATE TABLE line (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    session INTEGER NOT NULL,
    parent INTEGER,
    chain BLOB NOT NULL,
    messages INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    model TEXT NOT NULL,
    agent INTEGER NOT NULL,
    seen INTEGER NOT NULL
);
CREATE INDEX line_session ON line (session);
CREATE INDEX line_seen ON line (seen);
CREATE TABLE call (
    id INTEGER PRIMARY KEY,
    line INTEGER,
    at INTEGER NOT NULL,
    model TEXT NOT NULL,
    messages INTEGER NOT NULL,
    status INTEGER NOT NULL,
    ended TEXT NOT NULL,
    millis INTEGER NOT NULL,
    input INTEGER,
    cache_read INTEGER,
    cache_write_5m INTEGER,
    cache_write_1h INTEGER,
    output INTEGER,
    cost_pico INTEGER,
    finding TEXT
);
CREATE INDEX call_line ON call (line, at);
CREATE INDEX call_at ON call (at);
CREATE TABLE tenant (
    of_key INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL
);
INSERT INTO line VALUES (6, 1, 7, NULL, x'00000000000000000000000000000001', 3, 1, 'm', 0, 1800000000000);
INSERT INTO call VALUES (1, 6, 1800000000000, 'm', 3, 200, 'whole', 12, 1, 2, 0, 3, 4, 5, NULL);
PRAGMA user_version = 1;
