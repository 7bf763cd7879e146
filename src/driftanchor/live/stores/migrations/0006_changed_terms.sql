DROP INDEX events_changes;

CREATE INDEX events_changes ON events (campaign_id, seq)
WHERE kind IN (
    'arm_added', 'arm_paused', 'arm_archived', 'arm_restored', 'arm_distrusted', 'paused',
    'resumed', 'epoch', 'alarm', 'changed'
);
