"""What keeps campaigns: the contract of a store, what its rows hold, and SQLite and PostgreSQL.

`store` is the contract, `rows` and `journal` are what is kept, and `sql` keeps it.
"""
