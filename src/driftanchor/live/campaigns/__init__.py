"""Campaigns: decisions and rewards that last, on a store that any number of processes share.

`Campaign` makes each call a request (`requests`, `change_requests`). `write_queue` collects the
requests of all threads. `writer` puts them into one `Batch`, which reads the rows they need,
applies their events to the `CampaignState`, and returns the changes to write in one transaction.
Reading is in `status` (with `stopping`, `traffic` and `reward_feed`), `explain`, `exporting` and
`verify`. `watching` tests whether the logs still fit.
"""
