-- Session notes, by the history that they cover.
CREATE TABLE longhaul.notes (
    tenant BIGINT NOT NULL,
    at BYTEA NOT NULL,
    messages BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    text TEXT NOT NULL,
    session BIGINT NOT NULL,
    line BIGINT NOT NULL,
    made BIGINT NOT NULL,
    cost_pico BIGINT,
    PRIMARY KEY (tenant, at)
);
CREATE INDEX notes_session ON longhaul.notes (session);
CREATE INDEX notes_made ON longhaul.notes (made);
