"""Store campaigns in SQLite or PostgreSQL.

`store` has the contract. `reader` and `statements` hold the SQL that both databases share, and
`sqlite` and `postgres` the connections. `rows` and `journal` define what is stored.
"""
