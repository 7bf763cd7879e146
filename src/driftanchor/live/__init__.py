"""Live decisions: terms, a state folded from events, pure decisions, and an in-process learner.

A decision takes a straight line: `terms` (what was agreed) and `state` (what happened since) go to
`decide`, which gives a column; that becomes an event (`state_events`), and `fold` gives the next
state. `changes` checks what callers ask for and turns it into events. `Learner` holds the terms and
the current state; whatever keeps the events elsewhere can do the same.
"""
