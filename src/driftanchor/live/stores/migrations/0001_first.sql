CREATE TABLE driftanchor_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);

CREATE TABLE campaigns (
    id SERIAL PRIMARY KEY,
    name VARCHAR(128) NOT NULL UNIQUE,
    created_at DOUBLE PRECISION NOT NULL,
    terms TEXT NOT NULL,
    settings TEXT NOT NULL
);

CREATE TABLE heads (
    campaign_id INTEGER PRIMARY KEY REFERENCES campaigns (id),
    seq BIGINT NOT NULL,
    decisions BIGINT NOT NULL,
    epoch INTEGER NOT NULL,
    paused BOOLEAN NOT NULL,
    snapshot BIGINT NOT NULL,
    late BIGINT NOT NULL
);

CREATE TABLE events (
    campaign_id INTEGER NOT NULL REFERENCES campaigns (id),
    seq BIGINT NOT NULL,
    kind VARCHAR(16) NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    decision BIGINT,
    arm INTEGER,
    value DOUBLE PRECISION,
    detail TEXT,
    PRIMARY KEY (campaign_id, seq)
);

CREATE TABLE arms (
    campaign_id INTEGER NOT NULL REFERENCES campaigns (id),
    arm INTEGER NOT NULL,
    label TEXT NOT NULL,
    state VARCHAR(16) NOT NULL,
    decisions BIGINT NOT NULL,
    pulls BIGINT NOT NULL,
    total DOUBLE PRECISION NOT NULL,
    squares DOUBLE PRECISION NOT NULL,
    pending BIGINT NOT NULL,
    memory TEXT NOT NULL,
    added_seq BIGINT NOT NULL,
    added TEXT,
    distrusted_seq BIGINT,
    PRIMARY KEY (campaign_id, arm)
);

CREATE TABLE traffic (
    campaign_id INTEGER PRIMARY KEY REFERENCES campaigns (id),
    expected BYTEA NOT NULL
);

CREATE TABLE watches (
    campaign_id INTEGER PRIMARY KEY REFERENCES campaigns (id),
    record TEXT NOT NULL
);

CREATE TABLE decisions (
    id VARCHAR(64) PRIMARY KEY,
    campaign_id INTEGER NOT NULL REFERENCES campaigns (id),
    number BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    arm INTEGER NOT NULL,
    unit TEXT,
    holds TEXT,
    epoch INTEGER NOT NULL,
    propensity DOUBLE PRECISION NOT NULL,
    state VARCHAR(16) NOT NULL,
    asked_at DOUBLE PRECISION NOT NULL,
    exposed_at DOUBLE PRECISION,
    due_at DOUBLE PRECISION,
    settled_at DOUBLE PRECISION,
    reward DOUBLE PRECISION,
    reported DOUBLE PRECISION
);

CREATE UNIQUE INDEX decisions_number ON decisions (campaign_id, number);

CREATE UNIQUE INDEX decisions_holds ON decisions (campaign_id, epoch, holds)
WHERE holds IS NOT NULL;

CREATE INDEX decisions_due ON decisions (campaign_id, due_at)
WHERE state = 'open' AND due_at IS NOT NULL;

CREATE TABLE history (
    campaign_id INTEGER NOT NULL REFERENCES campaigns (id),
    start DOUBLE PRECISION NOT NULL,
    arm INTEGER NOT NULL,
    decisions BIGINT NOT NULL,
    rewards BIGINT NOT NULL,
    total DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (campaign_id, start, arm)
);

CREATE TABLE snapshots (
    campaign_id INTEGER NOT NULL REFERENCES campaigns (id),
    seq BIGINT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (campaign_id, seq)
);

CREATE TABLE request_keys (
    campaign_id INTEGER NOT NULL REFERENCES campaigns (id),
    key VARCHAR(256) NOT NULL,
    decisions TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (campaign_id, key)
);
