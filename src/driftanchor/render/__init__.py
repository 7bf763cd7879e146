"""How things look, in one place: colours, figures, tables, pages and numbers.

`palette` (the colour and marker of every policy), `figure` (drawing and saving), `table` (a table
as data) with its renderings `terminal`, `markdown` and `document` (HTML pages, of `markup`),
`notebook` and `data_frame` (results in notebooks), `numbers` (numbers as text). Nothing here knows
bandits: all other packages may import it.
"""
