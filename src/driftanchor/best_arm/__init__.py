"""Which arm is best: pull until it is known, with the help of logs."""
