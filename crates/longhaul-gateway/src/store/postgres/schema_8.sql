-- NULL where no request waited for a compaction; before, that was zero, and a request that did not wait long had one millisecond.
ALTER TABLE longhaul.made ALTER COLUMN waited DROP NOT NULL;
UPDATE longhaul.made SET waited = NULL WHERE waited = 0;
