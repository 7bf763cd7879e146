"""Live decisions: terms, a state folded from events, pure decisions, and an in-process learner.

A decision takes a straight line. `terms` (what was agreed) and `state` (what happened since) go to
`decide`, which gives an event (`state_events`), and `fold` gives the next state. `changes` checks
what callers ask for and turns it into events too. `records` writes terms and state as JSON.
`watch` says whether live rewards still fit what was promised of the logs.

Whoever makes one decision after the other keeps a `Decider`: it has the terms and a `State`, which
is a state that events change in place, and decides from it without a copy, compiled once a kernel
is ready (`compiling`). `Learner` does so. The pure functions use the same classes, once for each
call: read terms and state, call `next_decision`, append the event.

`campaigns` makes decisions that last, and `stores` keeps them; both stand on what is here.
"""
