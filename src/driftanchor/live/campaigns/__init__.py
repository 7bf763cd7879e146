"""Campaigns: decisions and rewards that last, on a store that any number of processes share.

A request takes a straight line. `Campaign` checks it and makes it an `Ask`, a `Tell` or one of
`arm_requests`. `write_queue` collects the requests of all threads. `writer` puts them into one
`Batch`, which reads what they need, lets events happen to the `CampaignState`, and gives what to
write in one transaction. What can be read is in `handle`: `status` (with `stopping` and
`traffic`), `explain`, `exporting` and `verify`. `watching` tests whether the
logs still fit.
"""
