-- Rebuild all tables with strict types. A stored value of another type makes this fail.

CREATE TABLE new_campaigns (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at REAL NOT NULL,
    terms TEXT NOT NULL,
    settings TEXT NOT NULL
) STRICT;

INSERT INTO new_campaigns (id, name, created_at, terms, settings)
SELECT id, name, created_at, terms, settings FROM campaigns;

CREATE TABLE new_heads (
    campaign_id INTEGER PRIMARY KEY REFERENCES new_campaigns (id),
    seq INTEGER NOT NULL,
    decisions INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    paused INTEGER NOT NULL,
    snapshot INTEGER NOT NULL,
    late INTEGER NOT NULL,
    checksum INTEGER
) STRICT;

INSERT INTO new_heads
SELECT campaign_id, seq, decisions, epoch, paused, snapshot, late, checksum
FROM heads;

CREATE TABLE new_events (
    campaign_id INTEGER NOT NULL REFERENCES new_campaigns (id),
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at REAL NOT NULL,
    decision INTEGER,
    arm INTEGER,
    value REAL,
    detail TEXT,
    PRIMARY KEY (campaign_id, seq)
) STRICT, WITHOUT ROWID;

INSERT INTO new_events (campaign_id, seq, kind, at, decision, arm, value, detail)
SELECT campaign_id, seq, kind, at, decision, arm, value, detail FROM events;

CREATE TABLE new_arms (
    campaign_id INTEGER NOT NULL REFERENCES new_campaigns (id),
    arm INTEGER NOT NULL,
    label TEXT NOT NULL,
    state TEXT NOT NULL,
    decisions INTEGER NOT NULL,
    pulls INTEGER NOT NULL,
    total REAL NOT NULL,
    squares REAL NOT NULL,
    pending INTEGER NOT NULL,
    memory TEXT NOT NULL,
    added_seq INTEGER NOT NULL,
    added TEXT,
    distrusted_seq INTEGER,
    PRIMARY KEY (campaign_id, arm)
) STRICT, WITHOUT ROWID;

INSERT INTO new_arms
SELECT campaign_id, arm, label, state, decisions, pulls, total, squares, pending, memory,
    added_seq, added, distrusted_seq
FROM arms;

CREATE TABLE new_traffic (
    campaign_id INTEGER PRIMARY KEY REFERENCES new_campaigns (id),
    expected BLOB NOT NULL
) STRICT;

INSERT INTO new_traffic (campaign_id, expected)
SELECT campaign_id, expected FROM traffic;

CREATE TABLE new_watches (
    campaign_id INTEGER PRIMARY KEY REFERENCES new_campaigns (id),
    record TEXT NOT NULL
) STRICT;

INSERT INTO new_watches (campaign_id, record)
SELECT campaign_id, record FROM watches;

CREATE TABLE new_decisions (
    id TEXT NOT NULL PRIMARY KEY,
    campaign_id INTEGER NOT NULL REFERENCES new_campaigns (id),
    number INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    arm INTEGER NOT NULL,
    unit TEXT,
    holds TEXT,
    epoch INTEGER NOT NULL,
    propensity REAL NOT NULL,
    state TEXT NOT NULL,
    asked_at REAL NOT NULL,
    exposed_at REAL,
    due_at REAL,
    settled_at REAL,
    reward REAL,
    reported REAL
) STRICT;

INSERT INTO new_decisions
SELECT id, campaign_id, number, seq, arm, unit, holds, epoch, propensity, state, asked_at,
    exposed_at, due_at, settled_at, reward, reported
FROM decisions;

CREATE TABLE new_history (
    campaign_id INTEGER NOT NULL REFERENCES new_campaigns (id),
    start REAL NOT NULL,
    arm INTEGER NOT NULL,
    decisions INTEGER NOT NULL,
    rewards INTEGER NOT NULL,
    total REAL NOT NULL,
    PRIMARY KEY (campaign_id, start, arm)
) STRICT, WITHOUT ROWID;

INSERT INTO new_history (campaign_id, start, arm, decisions, rewards, total)
SELECT campaign_id, start, arm, decisions, rewards, total FROM history;

CREATE TABLE new_snapshots (
    campaign_id INTEGER NOT NULL REFERENCES new_campaigns (id),
    seq INTEGER NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (campaign_id, seq)
) STRICT;

INSERT INTO new_snapshots (campaign_id, seq, state)
SELECT campaign_id, seq, state FROM snapshots;

CREATE TABLE new_request_keys (
    campaign_id INTEGER NOT NULL REFERENCES new_campaigns (id),
    key TEXT NOT NULL,
    decisions TEXT NOT NULL,
    at REAL NOT NULL,
    digest TEXT,
    PRIMARY KEY (campaign_id, key)
) STRICT;

INSERT INTO new_request_keys (campaign_id, key, decisions, at, digest)
SELECT campaign_id, key, decisions, at, digest FROM request_keys;

CREATE TABLE new_api_keys (
    id TEXT NOT NULL PRIMARY KEY,
    sha256 TEXT NOT NULL,
    roles TEXT NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL,
    revoked_at REAL,
    note TEXT NOT NULL,
    campaign TEXT
) STRICT;

INSERT INTO new_api_keys
SELECT id, sha256, roles, created_at, expires_at, revoked_at, note, campaign
FROM api_keys;
DROP TABLE api_keys;
DROP TABLE request_keys;
DROP TABLE snapshots;
DROP TABLE history;
DROP TABLE decisions;
DROP TABLE watches;
DROP TABLE traffic;
DROP TABLE arms;
DROP TABLE events;
DROP TABLE heads;
DROP TABLE campaigns;
ALTER TABLE new_campaigns RENAME TO campaigns;
ALTER TABLE new_heads RENAME TO heads;
ALTER TABLE new_events RENAME TO events;
ALTER TABLE new_arms RENAME TO arms;
ALTER TABLE new_traffic RENAME TO traffic;
ALTER TABLE new_watches RENAME TO watches;
ALTER TABLE new_decisions RENAME TO decisions;
ALTER TABLE new_history RENAME TO history;
ALTER TABLE new_snapshots RENAME TO snapshots;
ALTER TABLE new_request_keys RENAME TO request_keys;
ALTER TABLE new_api_keys RENAME TO api_keys;

CREATE UNIQUE INDEX decisions_number ON decisions (campaign_id, number);

CREATE UNIQUE INDEX decisions_holds ON decisions (campaign_id, epoch, holds)
WHERE holds IS NOT NULL;

CREATE INDEX decisions_due ON decisions (campaign_id, due_at)
WHERE state = 'open' AND due_at IS NOT NULL;

CREATE INDEX events_changes ON events (campaign_id, seq)
WHERE kind IN (
    'arm_added', 'arm_paused', 'arm_archived', 'arm_restored', 'arm_distrusted', 'paused',
    'resumed', 'epoch', 'alarm', 'changed'
);

CREATE INDEX events_matured ON events (campaign_id, seq) WHERE kind = 'matured';

CREATE INDEX events_matured_at ON events (campaign_id, at) WHERE kind = 'matured';

CREATE INDEX request_keys_at ON request_keys (campaign_id, at);
