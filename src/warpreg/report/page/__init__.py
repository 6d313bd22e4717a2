"""A report: one HTML file with the results of a study, figures and tables included.

Read `contents` (the data of the page), `designs` (what is said of each design), `papers` (reproductions), `write`
(data, scripts and style in one file).  The page itself is `page.html`, `style.css` and the scripts in the order of
`write.SCRIPTS`.
"""
