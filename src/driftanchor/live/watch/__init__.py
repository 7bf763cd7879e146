"""Whether the promises about the logs hold, watched while rewards come; false alarms are rare.

`Watch` keeps a few numbers for each arm, and `fold` adds rewards to them. After each fold every
arm has an interval of its move (`move_interval`), right at all times together. `look` compares the
intervals with the promises and gives alarms, and `alarm_prose` says them in words.
"""
