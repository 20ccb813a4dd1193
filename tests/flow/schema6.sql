-- A database as the program wrote it when its schema had version 6: small.lua, 20 trials of opevo.
BEGIN TRANSACTION;
CREATE TABLE session(
    id INTEGER PRIMARY KEY AUTOINCREMENT, created REAL, state TEXT,
    name TEXT, path TEXT, title TEXT, operation TEXT, settings TEXT,
    device TEXT, driver TEXT, device_type TEXT, device_id TEXT, limits TEXT,
    source TEXT, strategy TEXT, seed INTEGER, flop REAL, size TEXT, text_hash TEXT,
    budget_trials INTEGER, budget_seconds REAL, workers INTEGER, count_rejected INTEGER,
    ran_seconds REAL, message TEXT, note TEXT, warm TEXT,
    trials INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    ok INTEGER NOT NULL DEFAULT 0, population TEXT, declared TEXT, reduced TEXT, history TEXT) STRICT;
INSERT INTO session VALUES(1,1795861792.0640153884,'done','small','@FILES@/small.lua','matmul f32 nn 64x64x64','{"kind":"matmul","N":64,"M":64,"K":64,"type":"f32","layout":"nn"}','{}','none','none','none','','','synthetic:rugged','opevo:lambda=8:rho=8:q=0.5:async=0:legal=0',7,524288.0,'6048','89cfcb3e7394a699f3e286d53779ed2a',20,0.0,1,0,0.0024034980000000000059,'all 20 trials are done',NULL,NULL,20,2,20,'15,3,21,10,19,20,8,12',NULL,NULL,NULL);
CREATE TABLE text(
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    position INTEGER NOT NULL, name TEXT, path TEXT, text TEXT,
    PRIMARY KEY (session, position)) STRICT, WITHOUT ROWID;
INSERT INTO text VALUES(1,0,'small.lua','@FILES@/small.lua',replace('-- A small space for tests: four kinds of parameters, rules that reject about a third of the points.\nlocal N = size("N", 64)\noperator.matmul { N = N, M = 64, K = 64, type = "f32" }\n\nparam.tile   = factors(N, 4)\nparam.unroll = discrete { 0, 16, 64, 256 }\nparam.order  = permutation { "n", "m", "k" }\nparam.stage  = categorical { "none", "shared", "double" }\n\nconstraint("double buffers are unrolled", function(c)\n  return c.stage ~= "double" or c.unroll > 0\nend)\n\nconstraint("few virtual threads", function(c)\n  return c.tile[2] <= 4\nend)\n\nresources(function(c)\n  return { invocations = { 64, c.tile[2] * c.tile[3] * c.tile[4] }, groups = { 1, c.tile[1] } }\nend)\n\nkernel { template = "small.comp", groups = function(c) return { 1, c.tile[1] } end }\n','\n',char(10)));
INSERT INTO text VALUES(1,1,'small.comp','@FILES@/small.comp',replace('#version 450\n// One invocation for each element of C; what the parameters say is ignored.\nlayout(local_size_x = 64, local_size_y = ${c.tile[2] * c.tile[3] * c.tile[4]}) in;\nlayout(binding = 0) readonly buffer InputA { float a[]; };\nlayout(binding = 1) readonly buffer InputB { float b[]; };\nlayout(binding = 2) writeonly buffer OutputC { float result[]; };\n\nvoid main()\n{\n    uint row = gl_GlobalInvocationID.y, column = gl_GlobalInvocationID.x;\n    float sum = 0.0;\n    for (uint k = 0; k < 64; k++)\n        sum += a[row * 64 + k] * b[k * 64 + column];\n    result[row * 64 + column] = sum;\n}\n','\n',char(10)));
CREATE TABLE trial(
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    ask INTEGER NOT NULL, number INTEGER, told INTEGER, asked_after INTEGER, generation INTEGER,
    key TEXT, config TEXT, outcome TEXT, phase TEXT, reason TEXT, seconds REAL,
    samples TEXT, early_stopped INTEGER, compile_s REAL, pipeline_s REAL, device_s REAL,
    worker INTEGER, elapsed_s REAL, finished REAL, rank_seconds REAL, origin TEXT, unraced INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (session, ask)) STRICT, WITHOUT ROWID;
INSERT INTO trial VALUES(1,1,1,1,0,0,'2,4,8,1,2,0,1,2,1','{"tile":[2,4,8,1],"unroll":64,"order":["n","m","k"],"stage":"shared"}','ok','none','',2.316683590589308948e-06,'[2.31668359e-06]',0,0.0,0.0,0.0,0,0.00017584200000000000134,1795861792.0652019977,2.316683590589308948e-06,NULL,1);
INSERT INTO trial VALUES(1,2,0,2,1,0,'1,8,4,2,1,2,0,1,1','{"tile":[1,8,4,2],"unroll":16,"order":["k","n","m"],"stage":"shared"}','rejected',NULL,'constraint ''few virtual threads''',0.0,'[]',0,0.0,0.0,0.0,0,0.00058996799999999995946,1795861792.0656161308,NULL,NULL,1);
INSERT INTO trial VALUES(1,3,2,3,2,0,'4,1,8,2,3,2,1,0,1','{"tile":[4,1,8,2],"unroll":256,"order":["k","m","n"],"stage":"shared"}','ok','none','',1.4819083310929330606e-06,'[1.48190833e-06]',0,0.0,0.0,0.0,0,0.00068633200000000000109,1795861792.0657126903,1.4819083310929330606e-06,NULL,1);
INSERT INTO trial VALUES(1,4,3,4,3,0,'4,2,8,1,3,0,1,2,2','{"tile":[4,2,8,1],"unroll":256,"order":["n","m","k"],"stage":"double"}','ok','none','',3.3754513866367512595e-06,'[3.37545139e-06]',0,0.0,0.0,0.0,0,0.00081702599999999999356,1795861792.0658433437,3.3754513866367512595e-06,NULL,1);
INSERT INTO trial VALUES(1,5,4,5,4,0,'1,2,1,32,2,0,2,1,1','{"tile":[1,2,1,32],"unroll":64,"order":["n","k","m"],"stage":"shared"}','ok','none','',2.7176933911186579844e-06,'[2.71769339e-06]',0,0.0,0.0,0.0,0,0.00091430099999999995923,1795861792.0659406185,2.7176933911186579844e-06,NULL,1);
INSERT INTO trial VALUES(1,6,5,6,5,0,'1,4,1,16,0,1,2,0,0','{"tile":[1,4,1,16],"unroll":0,"order":["m","k","n"],"stage":"none"}','ok','none','',3.4530670770230586996e-06,'[3.45306708e-06]',0,0.0,0.0,0.0,0,0.001000690000000000043,1795861792.0660271644,3.4530670770230586996e-06,NULL,1);
INSERT INTO trial VALUES(1,7,0,7,6,0,'16,2,2,1,0,2,1,0,2','{"tile":[16,2,2,1],"unroll":0,"order":["k","m","n"],"stage":"double"}','rejected',NULL,'constraint ''double buffers are unrolled''',0.0,'[]',0,0.0,0.0,0.0,0,0.0010864270000000000523,1795861792.0661125183,NULL,NULL,1);
INSERT INTO trial VALUES(1,8,6,8,7,0,'4,1,4,4,1,2,0,1,2','{"tile":[4,1,4,4],"unroll":16,"order":["k","n","m"],"stage":"double"}','ok','none','',2.1117359950220705676e-06,'[2.111736e-06]',0,0.0,0.0,0.0,0,0.0011624300000000001038,1795861792.0661885738,2.1117359950220705676e-06,NULL,1);
INSERT INTO trial VALUES(1,9,7,9,8,1,'8,2,4,1,0,1,2,0,0','{"tile":[8,2,4,1],"unroll":0,"order":["m","k","n"],"stage":"none"}','ok','none','',3.3497383957837726406e-06,'[3.3497384e-06]',0,0.0,0.0,0.0,0,0.001258643999999999952,1795861792.0662848949,3.3497383957837726406e-06,'4,6,6,8',1);
INSERT INTO trial VALUES(1,10,8,10,9,1,'8,1,8,1,2,0,1,2,2','{"tile":[8,1,8,1],"unroll":64,"order":["n","m","k"],"stage":"double"}','ok','none','',1.7529703480178385119e-06,'[1.75297035e-06]',0,0.0,0.0,0.0,0,0.0013442309999999999849,1795861792.0663704871,1.7529703480178385119e-06,'4,5,5,4',1);
INSERT INTO trial VALUES(1,11,9,11,10,1,'2,1,8,4,1,1,2,0,2','{"tile":[2,1,8,4],"unroll":16,"order":["m","k","n"],"stage":"double"}','ok','none','',4.3145894175168639449e-06,'[4.31458942e-06]',0,0.0,0.0,0.0,0,0.0014299189999999999817,1795861792.0664560794,4.3145894175168639449e-06,'3,1,6,4',1);
INSERT INTO trial VALUES(1,12,10,12,11,1,'2,2,1,16,2,1,2,0,1','{"tile":[2,2,1,16],"unroll":64,"order":["m","k","n"],"stage":"shared"}','ok','none','',2.1244827457201725389e-06,'[2.12448275e-06]',0,0.0,0.0,0.0,0,0.0014955660000000000394,1795861792.066521883,2.1244827457201725389e-06,'5,1,8,3',1);
INSERT INTO trial VALUES(1,13,11,13,12,1,'1,2,1,32,0,0,1,2,1','{"tile":[1,2,1,32],"unroll":0,"order":["n","m","k"],"stage":"shared"}','ok','none','',3.3910981789583415264e-06,'[3.39109818e-06]',0,0.0,0.0,0.0,0,0.0015803320000000000474,1795861792.06660676,3.3910981789583415264e-06,'5,6,4,3',1);
INSERT INTO trial VALUES(1,14,12,14,13,1,'16,1,4,1,1,0,1,2,2','{"tile":[16,1,4,1],"unroll":16,"order":["n","m","k"],"stage":"double"}','ok','none','',3.2260315869042857294e-06,'[3.22603159e-06]',0,0.0,0.0,0.0,0,0.0016482840000000000772,1795861792.0666744709,3.2260315869042857294e-06,'8,6,3,3',1);
INSERT INTO trial VALUES(1,15,13,15,14,1,'4,1,8,2,2,2,0,1,2','{"tile":[4,1,8,2],"unroll":64,"order":["k","n","m"],"stage":"double"}','ok','none','',1.3543106634432099152e-06,'[1.35431066e-06]',0,0.0,0.0,0.0,0,0.0017307559999999999611,1795861792.0667569637,1.3543106634432099152e-06,'3,3,8,8',1);
INSERT INTO trial VALUES(1,16,14,16,15,1,'2,1,16,2,1,2,0,1,1','{"tile":[2,1,16,2],"unroll":16,"order":["k","n","m"],"stage":"shared"}','ok','none','',2.2605368082591064317e-06,'[2.26053681e-06]',0,0.0,0.0,0.0,0,0.0018520069999999999154,1795861792.0668783188,2.2605368082591064317e-06,'3,8,8,5',1);
INSERT INTO trial VALUES(1,17,15,17,16,2,'4,2,1,8,1,1,2,0,0','{"tile":[4,2,1,8],"unroll":16,"order":["m","k","n"],"stage":"none"}','ok','none','',4.7373702506997898507e-06,'[4.73737025e-06]',0,0.0,0.0,0.0,0,0.0019440040000000000444,1795861792.0669701099,4.7373702506997898507e-06,'12,8,12,16',1);
INSERT INTO trial VALUES(1,18,16,18,17,2,'2,1,16,2,1,1,2,0,1','{"tile":[2,1,16,2],"unroll":16,"order":["m","k","n"],"stage":"shared"}','ok','none','',3.4661482238631255783e-06,'[3.46614822e-06]',0,0.0,0.0,0.0,0,0.0020148589999999999208,1795861792.0670411587,3.4661482238631255783e-06,'16,15,3,16',1);
INSERT INTO trial VALUES(1,19,17,19,18,2,'2,2,2,8,3,2,1,0,1','{"tile":[2,2,2,8],"unroll":256,"order":["k","m","n"],"stage":"shared"}','ok','none','',1.9808127342713338541e-06,'[1.98081273e-06]',0,0.0,0.0,0.0,0,0.0020791749999999999468,1795861792.0671052932,1.9808127342713338541e-06,'12,15,12,12',1);
INSERT INTO trial VALUES(1,20,18,20,19,2,'2,4,4,2,2,1,0,2,2','{"tile":[2,4,4,2],"unroll":64,"order":["m","n","k"],"stage":"double"}','ok','none','',2.0041752204369649369e-06,'[2.00417522e-06]',0,0.0,0.0,0.0,0,0.0021650729999999999975,1795861792.0671913623,2.0041752204369649369e-06,'1,15,8,15',1);
INSERT INTO trial VALUES(1,21,19,21,20,2,'4,1,8,2,1,1,0,2,1','{"tile":[4,1,8,2],"unroll":16,"order":["m","n","k"],"stage":"shared"}','ok','none','',1.6463574230488747034e-06,'[1.64635742e-06]',0,0.0,0.0,0.0,0,0.0022524830000000000025,1795861792.0672786236,1.6463574230488747034e-06,'15,8,5,12',1);
INSERT INTO trial VALUES(1,22,20,22,21,2,'2,2,1,16,2,1,2,0,0','{"tile":[2,2,1,16],"unroll":64,"order":["m","k","n"],"stage":"none"}','ok','none','',2.6669530191387325437e-06,'[2.66695302e-06]',0,0.0,0.0,0.0,0,0.002338550999999999911,1795861792.067364931,2.6669530191387325437e-06,'12,15,12,10',1);
CREATE TABLE retime(
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, ask INTEGER NOT NULL,
    kind TEXT NOT NULL, seconds REAL, samples TEXT, verified INTEGER, at REAL,
    FOREIGN KEY (session, ask) REFERENCES trial(session, ask) ON DELETE CASCADE) STRICT;
CREATE TABLE command(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    verb TEXT NOT NULL, argument TEXT, at REAL) STRICT;
CREATE TABLE message(
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    at REAL, level TEXT, text TEXT) STRICT;
INSERT INTO message VALUES(1,1,1795861792.0651271343,'info','running: opevo seed 7, 0 of 20 trials, 1 workers on none');
INSERT INTO message VALUES(2,1,1795861792.0674302578,'info','done: all 20 trials are done');
CREATE TABLE best_step(
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    number INTEGER NOT NULL, ask INTEGER NOT NULL, seconds REAL NOT NULL,
    elapsed_s REAL, finished REAL,
    PRIMARY KEY (session, number)) STRICT, WITHOUT ROWID;
INSERT INTO best_step VALUES(1,1,1,2.316683590589308948e-06,0.00017584200000000000134,1795861792.0652019977);
INSERT INTO best_step VALUES(1,2,3,1.4819083310929330606e-06,0.00068633200000000000109,1795861792.0657126903);
INSERT INTO best_step VALUES(1,13,15,1.3543106634432099152e-06,0.0017307559999999999611,1795861792.0667569637);
CREATE TABLE tally(
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    outcome TEXT NOT NULL, count INTEGER NOT NULL, early INTEGER NOT NULL,
    PRIMARY KEY (session, outcome)) STRICT, WITHOUT ROWID;
INSERT INTO tally VALUES(1,'ok',20,0);
INSERT INTO tally VALUES(1,'rejected',2,0);
CREATE TABLE refit(
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
    number INTEGER NOT NULL, told INTEGER NOT NULL, rows INTEGER NOT NULL,
    correlation REAL, recall REAL, k INTEGER, batch INTEGER, seconds REAL, bytes REAL,
    elapsed_s REAL, at REAL,
    PRIMARY KEY (session, number)) STRICT, WITHOUT ROWID;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('session',1);
CREATE INDEX retime_trial ON retime(session, ask);
CREATE INDEX command_session ON command(session);
CREATE INDEX message_session ON message(session);
CREATE INDEX trial_key ON trial(session, key);
CREATE INDEX trial_number ON trial(session, number) WHERE number > 0;
CREATE INDEX trial_rank ON trial(session, unraced, rank_seconds)
    WHERE rank_seconds IS NOT NULL;
COMMIT;
PRAGMA application_id=1953265515;
PRAGMA user_version=6;
