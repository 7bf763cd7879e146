"""Whether an installation, a store and a server are as they should be: `driftanchor doctor`.

`checks` lists all of them. A check is a function that looks at one thing and says what it found;
`diagnosis` is what it says. None of them changes what it looks at.
"""
