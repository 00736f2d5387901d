-- What recall behind the gateway needs: the tool that a conversation is offered, and the rounds its client never saw.
CREATE TABLE longhaul.recall (
    tenant BIGINT NOT NULL,
    at BYTEA NOT NULL,
    variant BIGINT NOT NULL,
    text BYTEA NOT NULL,
    made BIGINT NOT NULL,
    used BIGINT NOT NULL,
    seal BYTEA,
    PRIMARY KEY (tenant, at, variant)
);
CREATE INDEX recall_used ON longhaul.recall (used);
