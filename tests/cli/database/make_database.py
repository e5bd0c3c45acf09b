"""Makes ratings.db in the current folder: a table with the usual names, and things that are
wrong."""

import sqlite3

database = sqlite3.connect("ratings.db")
database.executescript("""
    CREATE TABLE ratings (id INTEGER PRIMARY KEY, user_id, movie_id, rating, timestamp, note TEXT);
    INSERT INTO ratings (user_id, movie_id, rating, timestamp) VALUES
        (1, 'dune', 4.5, 100), ('bob', 2, 3, NULL),
        (-9007199254740993, 'dune', '2.5', '2005-09-06'), (1, 'Bär & Co', 1e0, 1.9);
    CREATE TABLE bad (user, item, rating);
    INSERT INTO bad VALUES (1, 1, 5), (2, NULL, 1), (3, 1, 9e999), (4.5, 1, 1), (x'00ff', 1, 1),
        (5, 1, x'01'), (6, 1, 'good'), (7, '', 1), (8, 'a' || char(0), 1), (NULL, 1, 1),
        (9, 1, NULL), (10, 1, 4);
    CREATE TABLE other (a, b, c);
    CREATE TABLE twice (user, user_id, item, rating);
    CREATE TABLE graded (user, item, grade);
    CREATE TABLE empty (user, item, rating);
    CREATE VIEW "odd ""name" AS SELECT rating, movie_id AS item, user_id AS user FROM ratings;
""")
