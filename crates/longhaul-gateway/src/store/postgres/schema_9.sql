-- Whose call it was, and the gateway's own requests among the calls. Earlier versions kept of these what they cost, with
-- what was written to the cache again.
ALTER TABLE longhaul.call ADD COLUMN of_key BIGINT;
ALTER TABLE longhaul.call ADD COLUMN own BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE longhaul.call ADD COLUMN simulated BOOLEAN NOT NULL DEFAULT FALSE;
INSERT INTO longhaul.call (line, at, model, messages, status, ended, millis, cost_pico, caller, saved, rewritten, partial, own)
    SELECT m.line, m.at, l.model, 0, 200, 'whole', m.millis, m.cost_pico,
           (SELECT c.caller FROM longhaul.call c WHERE c.line = m.line ORDER BY c.at DESC LIMIT 1), 0, FALSE, FALSE, TRUE
    FROM longhaul.made m JOIN longhaul.line l ON l.id = m.line
    WHERE m.kind = 'summarised' AND m.cost_pico IS NOT NULL;
INSERT INTO longhaul.call (line, at, model, messages, status, ended, millis, cost_pico, caller, saved, rewritten, partial, own)
    SELECT n.line, n.made, l.model, 0, 200, 'whole', 0, n.cost_pico,
           (SELECT c.caller FROM longhaul.call c WHERE c.line = n.line ORDER BY c.at DESC LIMIT 1), 0, FALSE, FALSE, TRUE
    FROM longhaul.notes n JOIN longhaul.line l ON l.id = n.line
    WHERE n.cost_pico IS NOT NULL;
