-- Bind request keys to their request, expire them, and allow server keys for one campaign.
ALTER TABLE request_keys ADD COLUMN digest VARCHAR(32);

CREATE INDEX request_keys_at ON request_keys (campaign_id, at);

ALTER TABLE api_keys ADD COLUMN campaign VARCHAR(128);
