"""Best-arm identification: pull until the best arm is known, with or without logs."""
