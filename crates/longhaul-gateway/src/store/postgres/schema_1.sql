CREATE TABLE longhaul.secret (
    one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one),
    secret BYTEA NOT NULL
);
CREATE TABLE longhaul.line (
    id BIGINT PRIMARY KEY,
    tenant BIGINT NOT NULL,
    session BIGINT NOT NULL,
    parent BIGINT,
    chain BYTEA NOT NULL,
    messages BIGINT NOT NULL,
    answered BOOLEAN NOT NULL,
    model TEXT NOT NULL,
    agent BOOLEAN NOT NULL,
    seen BIGINT NOT NULL
);
CREATE INDEX line_session ON longhaul.line (session);
CREATE INDEX line_seen ON longhaul.line (seen);
CREATE INDEX line_tenant ON longhaul.line (tenant);
-- Every head that a line ever had, so that any gateway knows where a request goes on or branches.
CREATE TABLE longhaul.head (
    tenant BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    line BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    answered BOOLEAN NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (tenant, hash)
);
CREATE INDEX head_at ON longhaul.head (at);
CREATE TABLE longhaul.call (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    line BIGINT,
    at BIGINT NOT NULL,
    model TEXT NOT NULL,
    messages BIGINT NOT NULL,
    status BIGINT NOT NULL,
    ended TEXT NOT NULL,
    millis BIGINT NOT NULL,
    input BIGINT,
    cache_read BIGINT,
    cache_write_5m BIGINT,
    cache_write_1h BIGINT,
    output BIGINT,
    cost_pico BIGINT,
    finding TEXT,
    saved BIGINT NOT NULL,
    rewritten BOOLEAN NOT NULL
);
CREATE INDEX call_line ON longhaul.call (line, at);
CREATE INDEX call_at ON longhaul.call (at);
-- Batches written lately: one whose commit was not heard of is not written twice.
CREATE TABLE longhaul.batch (
    number BIGINT PRIMARY KEY,
    at TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE TABLE longhaul.tenant (
    of_key BIGINT PRIMARY KEY,
    tenant BIGINT NOT NULL
);
CREATE TABLE longhaul.made (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session BIGINT NOT NULL,
    line BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    before BIGINT NOT NULL,
    after BIGINT NOT NULL,
    millis BIGINT NOT NULL,
    waited BIGINT NOT NULL,
    cost_pico BIGINT,
    report TEXT NOT NULL,
    UNIQUE (line, at, kind)
);
CREATE INDEX made_session ON longhaul.made (session, at);
CREATE INDEX made_at ON longhaul.made (at);
CREATE TABLE longhaul.rewrite (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant BIGINT NOT NULL,
    at BYTEA NOT NULL,
    messages BIGINT NOT NULL,
    made BIGINT NOT NULL,
    used BIGINT NOT NULL,
    root BYTEA,
    summary BIGINT NOT NULL,
    settled BOOLEAN NOT NULL,
    cleared TEXT NOT NULL,
    lines BYTEA NOT NULL,
    text BYTEA NOT NULL,
    UNIQUE (tenant, at)
);
CREATE INDEX rewrite_made ON longhaul.rewrite (made);
CREATE INDEX rewrite_used ON longhaul.rewrite (used);
