"""Client: a campaign that another process serves, with the `ask` and `tell` of `Campaign`.

`Client` in `client.py` is the public name. Each call goes through `Calls`, which repeats what
failed for a moment, and `HttpConnections`, which keeps connections open. `problems` turns what the
server refused into our errors. With a default arm, `Bounded` ends the wait and `Defaults` reports
it later. It needs nothing but the standard library for this.
"""
