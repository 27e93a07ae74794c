-- Every record gets a position in the journal as a whole. Records that are there
-- keep their order. The table is written anew, since only a declared key keeps
-- its numbers for ever; all of it is one transaction, which a crash takes back.

-- +goose Up
ALTER TABLE heads ADD COLUMN open INTEGER NOT NULL DEFAULT 0; -- more steps may be appended

ALTER TABLE records RENAME TO records_without_position;

CREATE TABLE records (
    position INTEGER PRIMARY KEY, -- given by the writer, in the order of commits, never twice
    replay   INTEGER NOT NULL,    -- heads.ord
    seq      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    data     BLOB    NOT NULL,    -- a reprise.journal.v1.Record
    UNIQUE (replay, seq)
) STRICT;

INSERT INTO records (position, replay, seq, at, data)
SELECT rowid, replay, seq, at, data FROM records_without_position ORDER BY rowid;

DROP TABLE records_without_position;

-- What concerns the journal as a whole; one row.
CREATE TABLE meta (
    one            INTEGER PRIMARY KEY CHECK (one = 1),
    journal_id     TEXT    NOT NULL, -- which journal positions belong to
    purged_through INTEGER NOT NULL  -- the highest position that was ever deleted
) STRICT;

-- Nobody was told a position before, so nobody misses what was deleted before.
INSERT INTO meta (one, journal_id, purged_through) VALUES (1, lower(hex(randomblob(16))), 0);

-- +goose Down
DROP TABLE meta;

ALTER TABLE records RENAME TO records_with_position;

CREATE TABLE records (
    replay INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    data   BLOB    NOT NULL,
    PRIMARY KEY (replay, seq)
) STRICT;

INSERT INTO records (rowid, replay, seq, at, data)
SELECT position, replay, seq, at, data FROM records_with_position ORDER BY position;

DROP TABLE records_with_position;

ALTER TABLE heads DROP COLUMN open;
