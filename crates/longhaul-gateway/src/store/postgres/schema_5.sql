-- Which agent made a call, and in which run of it.
ALTER TABLE longhaul.call ADD COLUMN caller TEXT;
ALTER TABLE longhaul.call ADD COLUMN run BIGINT;
