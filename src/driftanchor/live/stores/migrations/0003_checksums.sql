-- Campaigns that have events already get no checksum.
ALTER TABLE heads ADD COLUMN checksum BIGINT;

UPDATE heads SET checksum = 0 WHERE seq = 0;
