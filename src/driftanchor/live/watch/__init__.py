"""Test whether the bounds on the logs hold, as rewards arrive; false alarms are rare.

`Watch` keeps a few numbers for each arm, and `fold` adds rewards to them. After each fold every
arm has an anytime-valid interval of its move (`move_intervals`). `add_alarms` compares the
intervals with the bounds.
"""
