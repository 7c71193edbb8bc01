"""Quality judged by people and by models: sampling, rating in the browser, agreement, judges, signals.

The data goes one way: rows of runs → a blind sample (`sampling`) → ratings of people (`store`, `web`) and of models
(`judge`) → the long table (`table`) → agreement (`agreement`) → a section of the report (`summary`). What is asked is
in one file (`scheme`), from which pages, guidelines, rubric and exports are made.
"""
