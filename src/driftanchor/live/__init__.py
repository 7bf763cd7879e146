"""Live decisions: terms, a state folded from events, pure decisions, and an in-process learner.

A decision takes a straight line. `terms` (what was agreed) and `state` (what happened since) go to
`decide`, which gives an event (`state_events`), and `fold` gives the next state. `changes` checks
what callers ask for and turns it into events too. `records` writes terms and state as JSON.
`watch`, `stopping` and `sample_ratio` say what there is to know beside the decisions.
`Learner` holds the terms and the current state. Whoever keeps them elsewhere, such as a store, uses
the same functions: read both, call `next_decision`, append the event.
"""
