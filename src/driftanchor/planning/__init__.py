"""What are these logs worth? `plan` before going live, `replay` on the past.

`promise` checks the declared bounds (`auto` takes them from periods of the logs), `worlds` draws
possible worlds, `scenes` lets all `contenders` play in them, `compare` adds the recommendation of
`safe_choice` and the `break_even`, and `Plan` holds the numbers. A replay is the same with
`split_logs` in place of `worlds`. The `…_prose` modules, `tables`, `pictures` and `page` show it.
"""
