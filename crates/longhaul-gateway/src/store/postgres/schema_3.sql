-- What is kept of conversations has a seal; what has none was written by earlier versions and is dropped at a start.
ALTER TABLE longhaul.rewrite ADD COLUMN seal BYTEA;
ALTER TABLE longhaul.notes ADD COLUMN seal BYTEA;
-- Usage of an answer that was not heard to its end.
ALTER TABLE longhaul.call ADD COLUMN partial BOOLEAN NOT NULL DEFAULT FALSE;
-- Histories are known by a keyed hash. Lines of earlier versions stay for their figures; no request goes on with them.
ALTER TABLE longhaul.line ADD COLUMN keyed BOOLEAN NOT NULL DEFAULT FALSE;
DELETE FROM longhaul.head;
-- Whether the store can be written to.
CREATE TABLE longhaul.probe (id SMALLINT PRIMARY KEY, at TIMESTAMPTZ NOT NULL);
