-- How the messages of a prefix are made from the client's, if they are not stored.
ALTER TABLE longhaul.rewrite ADD COLUMN derived TEXT;
