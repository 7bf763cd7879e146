"""Estimate what logs are worth: `plan` before going live, `replay` on past data.

`promise` checks the declared bounds (`auto` derives them from periods of the logs), `worlds` draws
possible worlds, `scenes` lets all `contenders` play in them, `compare` adds the recommendation of
`safe_choice` and the `break_even`, and `Plan` holds the numbers. A replay is the same with
`split_logs` in place of `worlds`. The `…_prose` modules, `tables`, `pictures` and `page` show it.
"""
