"""Test whether the bounds on the logs hold, while rewards come; false alarms are rare.

`Watch` keeps a few numbers for each arm, and `fold` adds rewards to them. After each fold every
arm has an interval of its move (`move_intervals`), valid at all times together. `add_alarms`
compares the intervals with the bounds.
"""
