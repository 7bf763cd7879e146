"""What are these logs worth? `plan` before going live, `replay` on the past.

A plan takes a straight line. `promise` checks what is declared (`auto` takes it from periods of the
logs), `worlds` draws what may be out there, `scenes` lets all `contenders` play in it, `compare`
adds the `safe_choice` and the `break_even`, and `Plan` holds the numbers. A replay is the same with
`split_logs` in place of `worlds`. The `…_prose` modules, `tables`, `pictures` and `page` show it.
"""
