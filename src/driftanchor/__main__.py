"""`python -m driftanchor` is the command `driftanchor`."""

from driftanchor.cli.main import run

if __name__ == "__main__":
    run()
