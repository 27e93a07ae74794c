-- +goose Up
CREATE TABLE heads (
    ord          INTEGER PRIMARY KEY AUTOINCREMENT, -- order of creation; never given twice, so that page tokens stay true
    replay_id    TEXT    NOT NULL UNIQUE,
    machine_id   TEXT    NOT NULL,
    workflow     TEXT    NOT NULL,
    request_id   TEXT    NOT NULL,
    request_hash TEXT    NOT NULL,
    labels       TEXT    NOT NULL,                  -- a JSON object
    unattended   INTEGER NOT NULL,
    state        INTEGER NOT NULL,
    pausing      INTEGER NOT NULL,
    pause_reason TEXT    NOT NULL,
    actions      INTEGER NOT NULL,
    settled      INTEGER NOT NULL,
    end_reason   TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,                  -- all times: nanoseconds since 1970, UTC
    updated_at   INTEGER NOT NULL,
    ended_at     INTEGER,                           -- NULL while the replay lives
    revision     INTEGER NOT NULL                   -- seq of the last record
) STRICT;

CREATE UNIQUE INDEX heads_request ON heads (request_id) WHERE request_id <> '';
CREATE INDEX heads_machine ON heads (machine_id, ord);
CREATE INDEX heads_live ON heads (machine_id, ord) WHERE ended_at IS NULL;
CREATE INDEX heads_ended ON heads (ended_at, ord) WHERE ended_at IS NOT NULL;

-- The records of all replays lie in the order in which they were appended, so
-- that a commit of many machines writes few pages; the key names a replay by its
-- number to stay small for the same reason.
CREATE TABLE records (
    replay INTEGER NOT NULL, -- heads.ord
    seq    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    data   BLOB    NOT NULL, -- a reprise.journal.v1.Record
    PRIMARY KEY (replay, seq)
) STRICT;

-- +goose Down
DROP TABLE records;
DROP TABLE heads;
