BEGIN TRANSACTION;
CREATE TABLE api_keys (
	id VARCHAR(16) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	roles VARCHAR(64) NOT NULL, 
	created_at DOUBLE NOT NULL, 
	expires_at DOUBLE, 
	revoked_at DOUBLE, 
	note TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "api_keys" VALUES('1f3a9c0b','abababababababababababababababababababababababababababababababab','decide reward',1000.0,2000.0,1500.0,'shop');
CREATE TABLE arms (
	campaign_id INTEGER NOT NULL, 
	arm INTEGER NOT NULL, 
	label TEXT NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	decisions BIGINT NOT NULL, 
	pulls BIGINT NOT NULL, 
	total DOUBLE NOT NULL, 
	squares DOUBLE NOT NULL, 
	pending BIGINT NOT NULL, 
	memory TEXT NOT NULL, 
	added_seq BIGINT NOT NULL, 
	added TEXT, 
	distrusted_seq BIGINT, 
	PRIMARY KEY (campaign_id, arm), 
	FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)
 WITHOUT ROWID

;
INSERT INTO "arms" VALUES(1,0,'A','active',0,0,0.0,0.0,0,'[]',0,NULL,NULL);
INSERT INTO "arms" VALUES(1,1,'B','active',3,1,1.0,0.25,2,'[]',0,NULL,NULL);
INSERT INTO "arms" VALUES(1,2,'C','active',0,0,0.0,0.0,0,'[]',4,'{"label": "C", "offline": [0], "bias_bound": null, "relative_bound": null}',NULL);
CREATE TABLE campaigns (
	id INTEGER NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	created_at DOUBLE NOT NULL, 
	terms TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "campaigns" VALUES(1,'old',1000.0,'{"kind": "driftanchor/campaign", "version": 1, "policy": {"name": "ts", "class": "TS", "parameters": {"prior_mean": 0.0, "noise": 1.0}}, "reasons": [], "offline": {"kind": "driftanchor/offline-data", "version": 1, "arms": ["A", "B"], "n": [0, 0], "mean": [null, null], "variance": [null, null], "source": "none", "digest": "sha256:db438bc1b7fea3035995acd0bc11da10d5a951fc5d8633806cecbdc54d7bbc04"}, "bias_bounds": ["inf", "inf"], "relative_bounds": ["inf", "inf"], "reward_range": [0.0, 1.0], "seed": 1, "digest": "sha256:09bda18224939ebc4e6e7499276590407bfcbc34cd6d90a9702db7f5a2111579"}','{"kind": "driftanchor/settings", "version": 1, "reward": "number", "reward_window": 60.0, "default_reward": 0.0, "late": "ignore", "sticky": "decision", "exposure": "ask", "floor": 0.0, "control": {}, "on_alarm": "report", "matters": null, "digest": "sha256:0ba3e540e9f4b2d092dbb87362dda0093bf3d40dae22150530890ea6b87ce968"}');
CREATE TABLE decisions (
	id VARCHAR(64) NOT NULL, 
	campaign_id INTEGER NOT NULL, 
	number BIGINT NOT NULL, 
	seq BIGINT NOT NULL, 
	arm INTEGER NOT NULL, 
	unit TEXT, 
	holds TEXT, 
	epoch INTEGER NOT NULL, 
	propensity DOUBLE NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	asked_at DOUBLE NOT NULL, 
	exposed_at DOUBLE, 
	due_at DOUBLE, 
	settled_at DOUBLE, 
	reward DOUBLE, 
	reported DOUBLE, 
	PRIMARY KEY (id), 
	FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
);
INSERT INTO "decisions" VALUES('8d9159ee5203eb8ed9a1e7b151bb7b62',1,1,1,1,'u',NULL,0,0.5,'rewarded',1000.0,1000.0,1060.0,1000.0,1.0,1.0);
INSERT INTO "decisions" VALUES('4c3c9c6980920b70c09a867d5136a7ed',1,2,2,1,'v','v',0,0.5,'open',1000.0,1000.0,1060.0,NULL,NULL,NULL);
INSERT INTO "decisions" VALUES('f1f1048409de2220cd17b6eb5308e61c',1,3,5,1,'w','w',0,4.8041512747988557308e-01,'open',1000.0,1000.0,1060.0,NULL,NULL,NULL);
CREATE TABLE driftanchor_version (
	version_num VARCHAR(32) NOT NULL, 
	PRIMARY KEY (version_num)
);
INSERT INTO "driftanchor_version" VALUES('0003');
CREATE TABLE events (
	campaign_id INTEGER NOT NULL, 
	seq BIGINT NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	at DOUBLE NOT NULL, 
	decision BIGINT, 
	arm INTEGER, 
	value DOUBLE, 
	detail TEXT, 
	PRIMARY KEY (campaign_id, seq), 
	FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)
 WITHOUT ROWID

;
INSERT INTO "events" VALUES(1,1,'decided',1000.0,1,1,NULL,NULL);
INSERT INTO "events" VALUES(1,2,'decided',1000.0,2,1,NULL,NULL);
INSERT INTO "events" VALUES(1,3,'rewarded',1000.0,1,1,1.0,NULL);
INSERT INTO "events" VALUES(1,4,'arm_added',1000.0,NULL,NULL,NULL,'{"label": "C", "offline": [0], "bias_bound": null, "relative_bound": null}');
INSERT INTO "events" VALUES(1,5,'decided',1000.0,3,1,NULL,NULL);
CREATE TABLE heads (
	campaign_id INTEGER NOT NULL, 
	seq BIGINT NOT NULL, 
	decisions BIGINT NOT NULL, 
	epoch INTEGER NOT NULL, 
	paused BOOLEAN NOT NULL, 
	snapshot BIGINT NOT NULL, 
	late BIGINT NOT NULL, checksum BIGINT, 
	PRIMARY KEY (campaign_id), 
	FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
);
INSERT INTO "heads" VALUES(1,5,3,0,0,0,0,NULL);
CREATE TABLE history (
	campaign_id INTEGER NOT NULL, 
	start DOUBLE NOT NULL, 
	arm INTEGER NOT NULL, 
	decisions BIGINT NOT NULL, 
	rewards BIGINT NOT NULL, 
	total DOUBLE NOT NULL, 
	PRIMARY KEY (campaign_id, start, arm), 
	FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
)
 WITHOUT ROWID

;
INSERT INTO "history" VALUES(1,900.0,1,3,1,1.0);
CREATE TABLE request_keys (
	campaign_id INTEGER NOT NULL, 
	"key" VARCHAR(256) NOT NULL, 
	decisions TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (campaign_id, "key"), 
	FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
);
CREATE TABLE snapshots (
	campaign_id INTEGER NOT NULL, 
	seq BIGINT NOT NULL, 
	state TEXT NOT NULL, 
	PRIMARY KEY (campaign_id, seq), 
	FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
);
CREATE TABLE traffic (
	campaign_id INTEGER NOT NULL, 
	expected BLOB NOT NULL, 
	PRIMARY KEY (campaign_id), 
	FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
);
INSERT INTO "traffic" VALUES(1,X'03C3171D1C28F43FFA79D0C5C7AFF73F0C0C5F7470A0D03F550992035327E63F4719E999DBFCE73F5325480E4C9DC83F0000000000000000');
CREATE TABLE watches (
	campaign_id INTEGER NOT NULL, 
	record TEXT NOT NULL, 
	PRIMARY KEY (campaign_id), 
	FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
);
CREATE UNIQUE INDEX decisions_number ON decisions (campaign_id, number);
CREATE INDEX decisions_due ON decisions (campaign_id, due_at) WHERE state = 'open' AND due_at IS NOT NULL;
CREATE UNIQUE INDEX decisions_holds ON decisions (campaign_id, epoch, holds) WHERE holds IS NOT NULL;
COMMIT;
