-- What the page shows of sessions and calls.
ALTER TABLE longhaul.line ADD COLUMN title TEXT;
ALTER TABLE longhaul.call ADD COLUMN began BIGINT;
ALTER TABLE longhaul.call ADD COLUMN error TEXT;
ALTER TABLE longhaul.call ADD COLUMN breakpoints BIGINT;
