"""The command line: one file per command, one error boundary (`driftanchor.cli.boundary`).

Nothing here imports NumPy, Numba or Matplotlib before a command needs it, so that `--help` answers
at once.
"""
