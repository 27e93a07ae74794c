-- Every record gets a position in the journal as a whole: the number of its row,
-- which grew in the order of commits before too. What changes is that the number
-- is declared, since only a declared key keeps its numbers for ever.
--
-- The table stays where it is and its text alone is changed: a key that is the
-- row's number takes no bytes in a row, a column behind the last one is absent in
-- the rows that are there, and the index over (replay, seq) is the same under
-- either name. So no record is copied, whatever the journal's size, and a
-- text that SQLite cannot use is refused when the schema is read again. All of it
-- is one transaction, which a crash takes back.

-- +goose Up
ALTER TABLE heads ADD COLUMN open INTEGER NOT NULL DEFAULT 0; -- more steps may be appended

PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = 'CREATE TABLE records (
    replay   INTEGER NOT NULL,    -- heads.ord
    seq      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    data     BLOB    NOT NULL,    -- a reprise.journal.v1.Record
    position INTEGER PRIMARY KEY, -- given by the writer, in the order of commits, never twice
    UNIQUE (replay, seq)
) STRICT' WHERE type = 'table' AND name = 'records';

PRAGMA writable_schema = RESET;

-- What concerns the journal as a whole; one row. A new table also tells other
-- connections to read the schema again.
CREATE TABLE meta (
    one            INTEGER PRIMARY KEY CHECK (one = 1),
    journal_id     TEXT    NOT NULL, -- which journal positions belong to
    purged_through INTEGER NOT NULL  -- the highest position that was ever deleted
) STRICT;

-- Nobody was told a position before, so nobody misses what was deleted before.
INSERT INTO meta (one, journal_id, purged_through) VALUES (1, lower(hex(randomblob(16))), 0);

-- +goose Down
PRAGMA writable_schema = ON;

-- The rows written since then have an empty last column, which nobody reads.
UPDATE sqlite_schema SET sql = 'CREATE TABLE records (
    replay INTEGER NOT NULL, -- heads.ord
    seq    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    data   BLOB    NOT NULL, -- a reprise.journal.v1.Record
    PRIMARY KEY (replay, seq)
) STRICT' WHERE type = 'table' AND name = 'records';

PRAGMA writable_schema = RESET;

DROP TABLE meta;

ALTER TABLE heads DROP COLUMN open;
