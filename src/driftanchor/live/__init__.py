"""Live decisions: terms, a state that events change, decisions, and an in-process learner.

`decide` computes the next decision from the `terms` (policy, logs, bounds and seed) and the `state`
(what happened since). The decision is an event (`state_events`), and so is each reward;
`State.apply` and `fold` apply events. `changes` turns the requests of callers into events.
`records` writes terms and state as JSON. A `Decider` keeps terms and state between decisions, and
uses the compiled policy once it is ready (`compiling`); `Learner` uses a `Decider`.

`watch` tests whether live rewards still fit the bounds on the logs. `campaigns` makes durable
decisions, and `stores` stores them.
"""
