"""The page of ``warpreg watch``: commands that run or have run, and studies, with their progress, failures and figures.

Read `state` (what the page shows, as data), `study` (how far a study is), `page` (the page, and the answers of its
server).  The page itself is `page.html`, `style.css` and `watch.js`.
"""
