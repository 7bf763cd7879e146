"""Live decisions: terms, a state that events change, decisions, and an in-process learner.

`decide` computes the next decision from the `terms` (what was agreed) and the `state` (what
happened since). The decision is an event (`state_events`), and so is each reward; `State.apply` and
`fold` apply events. `changes` turns the requests of callers into events. `records` writes terms and
state as JSON. A `Decider` keeps terms and state for many decisions, which are compiled once a
compiled rule is ready (`compiling`); `Learner` uses it.

`watch` tests whether live rewards still fit the bounds on the logs. `campaigns` makes decisions
that last, and `stores` keeps them.
"""
