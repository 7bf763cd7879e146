BEGIN TRANSACTION;
CREATE TABLE api_keys (
	id VARCHAR(16) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	roles VARCHAR(64) NOT NULL, 
	created_at DOUBLE NOT NULL, 
	expires_at DOUBLE, 
	revoked_at DOUBLE, 
	note TEXT NOT NULL, 
	campaign VARCHAR(128), 
	PRIMARY KEY (id)
);
INSERT INTO "api_keys" VALUES('1f3a9c0b','abababababababababababababababababababababababababababababababab','decide reward',1000.0,2000.5,1500.25,'shop ☃',NULL);
INSERT INTO "api_keys" VALUES('2f3a9c0b','cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd','read',1001.0,NULL,NULL,'','plain');
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
INSERT INTO "arms" VALUES(1,0,'A','active',4,3,2.2,4.40300000000000080202e-01,1,'[]',0,NULL,NULL);
INSERT INTO "arms" VALUES(1,1,'B','active',3,1,0.05,0.09,2,'[]',0,NULL,NULL);
INSERT INTO "arms" VALUES(1,2,'C','active',1,0,0.0,0.0,1,'[]',22,'{"label": "C", "offline": [20, 0.5, 0.2], "bias_bound": 0.1, "relative_bound": null}',NULL);
INSERT INTO "arms" VALUES(2,0,'x','paused',2,2,1.99999999999999955591e-01,0.1,0,'[]',0,NULL,NULL);
INSERT INTO "arms" VALUES(2,1,'ü','active',1,1,9.99999999999999777955e-02,9.99999999999999500399e-03,0,'[]',0,NULL,NULL);
INSERT INTO "arms" VALUES(2,2,'z','active',3,0,0.0,0.0,0,'[]',10,'{"label": "z", "offline": [0], "bias_bound": null, "relative_bound": null}',NULL);
CREATE TABLE campaigns (
	id INTEGER NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	created_at DOUBLE NOT NULL, 
	terms TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "campaigns" VALUES(1,'windowed',1790000000.25,'{"kind": "driftanchor/campaign", "version": 1, "policy": {"name": "guarded-anchor-ts", "class": "GuardedAnchorTS", "parameters": {"prior_mean": 0.38176470588235295, "noise": 0.5, "budget": 5.0, "eps": 0.2, "clip": 2.0, "guard_share": 1.0}}, "reasons": ["guarded-anchor-ts is the default; anchor-ts is the paper''s rule, without the guard", "prior_mean 0.3818: the mean of the logs; it is forgotten after the first reward", "noise 0.5: half of the range of rewards, the most it can be", "budget 5, eps 0.2: bounds count as estimated unless you say that they are proved or guessed, so logs alone rule no arm out"], "offline": {"kind": "driftanchor/offline-data", "version": 1, "arms": ["A", "B"], "n": [90, 80], "mean": [0.41, 0.35], "variance": [0.24, 0.23], "source": "summary", "digest": "sha256:c5cfafb96057d3ac264abb405735ae0fa098cf9246ab119661e838320bbd1c25"}, "bias_bounds": [0.05, 0.05], "relative_bounds": ["inf", "inf"], "reward_range": [0.0, 1.0], "seed": 3, "digest": "sha256:cb94f9cc0875eb2849a9f33910d0c4ece177f224c95c5b4fd4c460d51eb2b2d9"}','{"kind": "driftanchor/settings", "version": 1, "reward": "number", "reward_window": 3600.0, "default_reward": 0.0, "late": "replace", "sticky": "decision", "exposure": "ask", "floor": 0.0, "control": {}, "on_alarm": "report", "matters": null, "allow_outside": false, "digest": "sha256:8a15679b30bfda8836f2cad9a83d8e5a606d2a2438576808d7e162ef79e473b2"}');
INSERT INTO "campaigns" VALUES(2,'plain',1790000000.25,'{"kind": "driftanchor/campaign", "version": 1, "policy": {"name": "ts", "class": "TS", "parameters": {"prior_mean": 0.5, "noise": 0.5}}, "reasons": [], "offline": {"kind": "driftanchor/offline-data", "version": 1, "arms": ["x", "\u00fc"], "n": [0, 0], "mean": [null, null], "variance": [null, null], "source": "none", "digest": "sha256:984065f50d3bab3bfe140a2cc4e4df1e97a33c9445f2814b8292663463932ccd"}, "bias_bounds": ["inf", "inf"], "relative_bounds": ["inf", "inf"], "reward_range": [-1.0, 1.0], "seed": 5, "digest": "sha256:2337e10f0eb5727df836982f584b25b0319b0e81fb6c7cac55512ccd01c21795"}','{"kind": "driftanchor/settings", "version": 1, "reward": "number", "reward_window": null, "default_reward": null, "late": "ignore", "sticky": "campaign", "exposure": "report", "floor": 0.02, "control": {}, "on_alarm": "report", "matters": null, "allow_outside": false, "digest": "sha256:9ebb9e3ab11bf8a6440818d9fbc55ec0ed5d1aa67477141cb2188287539883cb"}');
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
INSERT INTO "decisions" VALUES('538498bd750c7bbe984a8f2cd63aaf43',1,1,2,0,'u0',NULL,0,7.60973357343553868936e-01,'rewarded',1790000700.35,1790000700.35,1790004300.35,1.79000420084999942779e+09,1.0,1.0);
INSERT INTO "decisions" VALUES('ec307ba99c1befeda53ab5e0f808fdaa',2,1,1,0,'u0','u0',0,0.5,'rewarded',1790000700.35,1790000700.35,NULL,1790000700.35,0.3,0.3);
INSERT INTO "decisions" VALUES('848cb7d4387711b7efe407109f8049b8',1,2,4,1,'u1',NULL,0,1.0,'rewarded',1.79000140044999980922e+09,1.79000140044999980922e+09,1.79000500044999980931e+09,1.79000140044999980922e+09,0.05,3.00000000000000044408e-01);
INSERT INTO "decisions" VALUES('39112ad273a8af4ed3b940f9e151694c',2,2,4,0,'u1','u1',0,4.37735730029290892595e-01,'rewarded',1.79000140044999980922e+09,1.7900035007499995232e+09,NULL,1.7900035007499995232e+09,-1.00000000000000033306e-01,-1.00000000000000033306e-01);
INSERT INTO "decisions" VALUES('3c6a241cc8e4776be9b9959c5d357844',1,3,8,1,'u2','u2',0,1.0,'open',1.79000210054999971389e+09,1.79000210054999971389e+09,1.79000570054999971389e+09,NULL,NULL,NULL);
INSERT INTO "decisions" VALUES('9ad1ff1ba9d0b7b0ff0950b7884a2b6d',2,3,5,1,'u2','u2',0,5.62264269970709107404e-01,'rewarded',1.79000210054999971389e+09,1.79000210054999971389e+09,NULL,1.79000210054999971389e+09,9.99999999999999777955e-02,9.99999999999999777955e-02);
INSERT INTO "decisions" VALUES('e0da3942bc00d9f94d68fa40ed1d5c42',1,4,11,0,'u3',NULL,0,0.843458025608183,'rewarded',1.79000280064999961852e+09,1.79000280064999961852e+09,1.79000640064999961848e+09,1.79000280064999961852e+09,0.5,0.5);
INSERT INTO "decisions" VALUES('688497e037d5ca67c6d5708d4fe2c8df',1,5,17,0,'u1',NULL,0,8.92079298440168200201e-01,'rewarded',1.79000420084999942779e+09,1.79000420084999942779e+09,1.79000780084999942774e+09,1.79000420084999942779e+09,0.7,0.7);
INSERT INTO "decisions" VALUES('4f222f227ec7f1bd2f26b99310f3e610',1,6,25,2,NULL,NULL,0,6.85160847490708380114e-01,'open',1.79000451254999947544e+09,1.79000451254999947544e+09,1.79000631254999947547e+09,NULL,NULL,NULL);
INSERT INTO "decisions" VALUES('9357d96f7d24bb6738ceeb017a521dd3',2,4,14,2,'v0','v0',1,0.61521283556033,'assigned',1.79000451254999947544e+09,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "decisions" VALUES('4ce43c4d7b653e1d65c0f736b91862fa',1,7,27,1,NULL,NULL,0,1.0,'open',1.79000482424999952319e+09,1.79000482424999952319e+09,1.79000662424999952321e+09,NULL,NULL,NULL);
INSERT INTO "decisions" VALUES('93eb5911bbdc8e99b201b568b3d8ac8a',2,5,15,2,'v1','v1',1,0.61521283556033,'assigned',1.79000482424999952319e+09,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "decisions" VALUES('a0360302f94776177689ed0c9db082b7',1,8,29,0,NULL,NULL,0,1.0,'open',1.7900051359499995708e+09,1.7900051359499995708e+09,1.79000693594999957082e+09,NULL,NULL,NULL);
INSERT INTO "decisions" VALUES('d7af7032e8c11a7811e22a044120af21',2,6,16,2,'v2','v2',1,0.61521283556033,'assigned',1.7900051359499995708e+09,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE driftanchor_version (
	version_num VARCHAR(32) NOT NULL, 
	PRIMARY KEY (version_num)
);
INSERT INTO "driftanchor_version" VALUES('0007');
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
INSERT INTO "events" VALUES(1,1,'matured',1790000700.35,NULL,NULL,NULL,'{"pulls": [0.0, 0.0], "totals": [0.0, 0.0], "decisions": 0}');
INSERT INTO "events" VALUES(1,2,'decided',1790000700.35,1,0,7.60973357343553868936e-01,'{"id": "538498bd750c7bbe984a8f2cd63aaf43", "unit": "u0"}');
INSERT INTO "events" VALUES(1,3,'keyed',1790000700.35,NULL,NULL,NULL,'{"key": "k0", "ids": ["538498bd750c7bbe984a8f2cd63aaf43"], "digest": "821264800daad2b7e5e6177054fe4244"}');
INSERT INTO "events" VALUES(1,4,'decided',1.79000140044999980922e+09,2,1,1.0,'{"id": "848cb7d4387711b7efe407109f8049b8", "unit": "u1"}');
INSERT INTO "events" VALUES(1,5,'keyed',1.79000140044999980922e+09,NULL,NULL,NULL,'{"key": "k1", "ids": ["848cb7d4387711b7efe407109f8049b8"], "digest": "8d45653ebd884d9d58ef7c90fb9b741b"}');
INSERT INTO "events" VALUES(1,6,'rewarded',1.79000140044999980922e+09,2,1,3.00000000000000044408e-01,NULL);
INSERT INTO "events" VALUES(1,7,'matured',1.79000210054999971389e+09,NULL,NULL,NULL,'{"pulls": [0.472617105758649, 0.3653360199515413], "totals": [0.0, 0.20045447329812505], "decisions": 2}');
INSERT INTO "events" VALUES(1,8,'decided',1.79000210054999971389e+09,3,1,1.0,'{"id": "3c6a241cc8e4776be9b9959c5d357844", "unit": "u2"}');
INSERT INTO "events" VALUES(1,9,'keyed',1.79000210054999971389e+09,NULL,NULL,NULL,'{"key": "k2", "ids": ["3c6a241cc8e4776be9b9959c5d357844"], "digest": "c72ec432550c156db649394b170f2351"}');
INSERT INTO "events" VALUES(1,10,'matured',1.79000280064999961852e+09,NULL,NULL,NULL,'{"pulls": [0.6655466490501578, 0.9480328485473666], "totals": [0.0, 0.21391446569233166], "decisions": 3}');
INSERT INTO "events" VALUES(1,11,'decided',1.79000280064999961852e+09,4,0,0.843458025608183,'{"id": "e0da3942bc00d9f94d68fa40ed1d5c42", "unit": "u3"}');
INSERT INTO "events" VALUES(1,12,'keyed',1.79000280064999961852e+09,NULL,NULL,NULL,'{"key": "k3", "ids": ["e0da3942bc00d9f94d68fa40ed1d5c42"], "digest": "61d34ada579e1053271b179945c00145"}');
INSERT INTO "events" VALUES(1,13,'rewarded',1.79000280064999961852e+09,4,0,0.5,NULL);
INSERT INTO "events" VALUES(1,14,'matured',1.7900035007499995232e+09,NULL,NULL,NULL,'{"pulls": [1.258847130921622, 1.278104453493992], "totals": [0.40513980130307997, 0.24541545374767645], "decisions": 4}');
INSERT INTO "events" VALUES(1,15,'keyed',1.7900035007499995232e+09,NULL,NULL,NULL,'{"key": "k4", "ids": ["538498bd750c7bbe984a8f2cd63aaf43"], "digest": "821264800daad2b7e5e6177054fe4244"}');
INSERT INTO "events" VALUES(1,16,'matured',1.79000420084999942779e+09,NULL,NULL,NULL,'{"pulls": [1.6074980841346667, 1.6052864719063336], "totals": [0.4527871935182819, 0.272775798582176], "decisions": 4}');
INSERT INTO "events" VALUES(1,17,'decided',1.79000420084999942779e+09,5,0,8.92079298440168200201e-01,'{"id": "688497e037d5ca67c6d5708d4fe2c8df", "unit": "u1"}');
INSERT INTO "events" VALUES(1,18,'keyed',1.79000420084999942779e+09,NULL,NULL,NULL,'{"key": "k5", "ids": ["688497e037d5ca67c6d5708d4fe2c8df"], "digest": "8d45653ebd884d9d58ef7c90fb9b741b"}');
INSERT INTO "events" VALUES(1,19,'rewarded',1.79000420084999942779e+09,5,0,0.7,NULL);
INSERT INTO "events" VALUES(1,20,'rewarded',1.79000420084999942779e+09,1,0,1.0,NULL);
INSERT INTO "events" VALUES(1,21,'corrected',1.79000420084999942779e+09,2,1,0.05,'{"before": 0.30000000000000004, "counted_at": 1790001400.4499998, "total": 0.05, "squares": 0.09}');
INSERT INTO "events" VALUES(1,22,'arm_added',1.79000420084999942779e+09,NULL,NULL,NULL,'{"label": "C", "offline": [20, 0.5, 0.2], "bias_bound": 0.1, "relative_bound": null}');
INSERT INTO "events" VALUES(1,23,'changed',1.79000420084999942779e+09,NULL,NULL,NULL,'{"reason": "shorter", "before": {"reward_window": 3600.0}, "after": {"reward_window": 1800.0}, "decisions": 5}');
INSERT INTO "events" VALUES(1,24,'matured',1.79000451254999947544e+09,NULL,NULL,NULL,'{"pulls": [1.0, 0.0, 0.0], "totals": [1.0, 0.0, 0.0], "decisions": 5}');
INSERT INTO "events" VALUES(1,25,'decided',1.79000451254999947544e+09,6,2,6.85160847490708380114e-01,'{"id": "4f222f227ec7f1bd2f26b99310f3e610"}');
INSERT INTO "events" VALUES(1,26,'matured',1.79000482424999952319e+09,NULL,NULL,NULL,'{"pulls": [1.0, 0.0, 0.14121809188795018], "totals": [1.0, 0.0, 0.0], "decisions": 6}');
INSERT INTO "events" VALUES(1,27,'decided',1.79000482424999952319e+09,7,1,1.0,'{"id": "4ce43c4d7b653e1d65c0f736b91862fa"}');
INSERT INTO "events" VALUES(1,28,'matured',1.7900051359499995708e+09,NULL,NULL,NULL,'{"pulls": [1.0, 1.1412180918879502, 0.16953146629093377], "totals": [1.0, 0.05, 0.0], "decisions": 7}');
INSERT INTO "events" VALUES(1,29,'decided',1.7900051359499995708e+09,8,0,1.0,'{"id": "a0360302f94776177689ed0c9db082b7"}');
INSERT INTO "events" VALUES(2,1,'decided',1790000700.35,1,0,0.5,'{"id": "ec307ba99c1befeda53ab5e0f808fdaa", "unit": "u0"}');
INSERT INTO "events" VALUES(2,2,'exposed',1790000700.35,1,0,NULL,NULL);
INSERT INTO "events" VALUES(2,3,'rewarded',1790000700.35,1,0,0.3,NULL);
INSERT INTO "events" VALUES(2,4,'decided',1.79000140044999980922e+09,2,0,4.37735730029290892595e-01,'{"id": "39112ad273a8af4ed3b940f9e151694c", "unit": "u1"}');
INSERT INTO "events" VALUES(2,5,'decided',1.79000210054999971389e+09,3,1,5.62264269970709107404e-01,'{"id": "9ad1ff1ba9d0b7b0ff0950b7884a2b6d", "unit": "u2"}');
INSERT INTO "events" VALUES(2,6,'exposed',1.79000210054999971389e+09,3,1,NULL,NULL);
INSERT INTO "events" VALUES(2,7,'rewarded',1.79000210054999971389e+09,3,1,9.99999999999999777955e-02,NULL);
INSERT INTO "events" VALUES(2,8,'exposed',1.7900035007499995232e+09,2,0,NULL,NULL);
INSERT INTO "events" VALUES(2,9,'rewarded',1.7900035007499995232e+09,2,0,-1.00000000000000033306e-01,NULL);
INSERT INTO "events" VALUES(2,10,'arm_added',1.79000420084999942779e+09,NULL,NULL,NULL,'{"label": "z", "offline": [0], "bias_bound": null, "relative_bound": null}');
INSERT INTO "events" VALUES(2,11,'arm_paused',1.79000420084999942779e+09,NULL,0,NULL,NULL);
INSERT INTO "events" VALUES(2,12,'changed',1.79000420084999942779e+09,NULL,NULL,NULL,'{"reason": "floors", "before": {"floor": 0.02}, "after": {"floor": 0.05}, "decisions": 3}');
INSERT INTO "events" VALUES(2,13,'epoch',1.79000420084999942779e+09,NULL,NULL,1.0,NULL);
INSERT INTO "events" VALUES(2,14,'decided',1.79000451254999947544e+09,4,2,0.61521283556033,'{"id": "9357d96f7d24bb6738ceeb017a521dd3", "unit": "v0"}');
INSERT INTO "events" VALUES(2,15,'decided',1.79000482424999952319e+09,5,2,0.61521283556033,'{"id": "93eb5911bbdc8e99b201b568b3d8ac8a", "unit": "v1"}');
INSERT INTO "events" VALUES(2,16,'decided',1.7900051359499995708e+09,6,2,0.61521283556033,'{"id": "d7af7032e8c11a7811e22a044120af21", "unit": "v2"}');
INSERT INTO "events" VALUES(2,17,'paused',1.7900051359499995708e+09,NULL,NULL,NULL,NULL);
INSERT INTO "events" VALUES(2,18,'resumed',1.7900051359499995708e+09,NULL,NULL,NULL,NULL);
CREATE TABLE heads (
	campaign_id INTEGER NOT NULL, 
	seq BIGINT NOT NULL, 
	decisions BIGINT NOT NULL, 
	epoch INTEGER NOT NULL, 
	paused BOOLEAN NOT NULL, 
	snapshot BIGINT NOT NULL, 
	late BIGINT NOT NULL, 
	checksum BIGINT, 
	PRIMARY KEY (campaign_id), 
	FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
);
INSERT INTO "heads" VALUES(1,29,8,0,0,0,0,3142643324);
INSERT INTO "heads" VALUES(2,18,6,1,0,0,0,1635621576);
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
INSERT INTO "history" VALUES(1,1790000100.0,0,1,0,0.0);
INSERT INTO "history" VALUES(1,1790001000.0,1,1,1,4.99999999999999888977e-02);
INSERT INTO "history" VALUES(1,1790001900.0,1,1,0,0.0);
INSERT INTO "history" VALUES(1,1790002800.0,0,1,1,0.5);
INSERT INTO "history" VALUES(1,1790003700.0,0,1,2,1.7);
INSERT INTO "history" VALUES(1,1790003700.0,2,1,0,0.0);
INSERT INTO "history" VALUES(1,1790004600.0,0,1,0,0.0);
INSERT INTO "history" VALUES(1,1790004600.0,1,1,0,0.0);
INSERT INTO "history" VALUES(2,1790000100.0,0,1,1,0.3);
INSERT INTO "history" VALUES(2,1790001000.0,0,1,0,0.0);
INSERT INTO "history" VALUES(2,1790001900.0,1,1,1,9.99999999999999777955e-02);
INSERT INTO "history" VALUES(2,1790002800.0,0,0,1,-1.00000000000000033306e-01);
INSERT INTO "history" VALUES(2,1790003700.0,2,1,0,0.0);
INSERT INTO "history" VALUES(2,1790004600.0,2,2,0,0.0);
CREATE TABLE request_keys (
	campaign_id INTEGER NOT NULL, 
	"key" VARCHAR(256) NOT NULL, 
	decisions TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	digest VARCHAR(32), 
	PRIMARY KEY (campaign_id, "key"), 
	FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
);
INSERT INTO "request_keys" VALUES(1,'k0','["538498bd750c7bbe984a8f2cd63aaf43"]',1790000700.35,'821264800daad2b7e5e6177054fe4244');
INSERT INTO "request_keys" VALUES(1,'k1','["848cb7d4387711b7efe407109f8049b8"]',1.79000140044999980922e+09,'8d45653ebd884d9d58ef7c90fb9b741b');
INSERT INTO "request_keys" VALUES(1,'k2','["3c6a241cc8e4776be9b9959c5d357844"]',1.79000210054999971389e+09,'c72ec432550c156db649394b170f2351');
INSERT INTO "request_keys" VALUES(1,'k3','["e0da3942bc00d9f94d68fa40ed1d5c42"]',1.79000280064999961852e+09,'61d34ada579e1053271b179945c00145');
INSERT INTO "request_keys" VALUES(1,'k4','["538498bd750c7bbe984a8f2cd63aaf43"]',1.7900035007499995232e+09,'821264800daad2b7e5e6177054fe4244');
INSERT INTO "request_keys" VALUES(1,'k5','["688497e037d5ca67c6d5708d4fe2c8df"]',1.79000420084999942779e+09,'8d45653ebd884d9d58ef7c90fb9b741b');
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
INSERT INTO "traffic" VALUES(1,X'042A3DD72A330E40DA0E7F8C9F510C408F1C0F71D6ECE53F247E36F85E8EE33FCECA50B1EB7EDC3FD2792A70909CCB3F0000000000000000E94DACB400000000');
INSERT INTO "traffic" VALUES(2,X'1587985CEE01F63F6A45A0B22A3B06401AEE263EBC87FD3FE3897B5B7BC0E73F84260B4B213DF73F26C39A3AC7B9E63F000000000000000065AE30E200000000');
CREATE TABLE watches (
	campaign_id INTEGER NOT NULL, 
	record TEXT NOT NULL, 
	PRIMARY KEY (campaign_id), 
	FOREIGN KEY(campaign_id) REFERENCES campaigns (id)
);
CREATE INDEX decisions_due ON decisions (campaign_id, due_at) WHERE state = 'open' AND due_at IS NOT NULL;
CREATE UNIQUE INDEX decisions_holds ON decisions (campaign_id, epoch, holds) WHERE holds IS NOT NULL;
CREATE UNIQUE INDEX decisions_number ON decisions (campaign_id, number);
CREATE INDEX events_changes ON events (campaign_id, seq) WHERE kind IN ('arm_added', 'arm_paused', 'arm_archived', 'arm_restored', 'arm_distrusted', 'paused', 'resumed', 'epoch', 'alarm', 'changed');
CREATE INDEX events_matured ON events (campaign_id, seq) WHERE kind = 'matured';
CREATE INDEX events_matured_at ON events (campaign_id, at) WHERE kind = 'matured';
CREATE INDEX request_keys_at ON request_keys (campaign_id, at);
COMMIT;
