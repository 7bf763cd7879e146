CREATE INDEX events_matured ON events (campaign_id, seq) WHERE kind = 'matured';

CREATE INDEX events_matured_at ON events (campaign_id, at) WHERE kind = 'matured';
