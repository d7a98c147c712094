/** Creates the tables of record chunks: the columns that queries test and sort by, a thousand records at a time. */

export const RECORD_CHUNKS: readonly string[] = [
  // The records of a chunk are those of one account that arrived together, in the order of their ids.
  `CREATE TABLE record_chunk (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    rows INTEGER NOT NULL,
    first_id TEXT NOT NULL,
    last_id TEXT NOT NULL,
    from_ms INTEGER NOT NULL,
    to_ms INTEGER NOT NULL
  ) STRICT`,
  'CREATE INDEX record_chunk_account ON record_chunk (account, last_id)',
  // `id` is 64 times that of the chunk, plus the number of the field.
  'CREATE TABLE record_column (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT',
  // Records that wait for the next chunk of their account. Records of later blocks than the mark are not in it yet.
  `CREATE TABLE record_waiting (
    account TEXT NOT NULL,
    request_id TEXT NOT NULL,
    PRIMARY KEY (account, request_id)
  ) STRICT, WITHOUT ROWID`,
  'CREATE TABLE chunked_through (one INTEGER PRIMARY KEY CHECK (one = 1), block INTEGER NOT NULL) STRICT',
  'INSERT INTO chunked_through (one, block) VALUES (1, -1)',
];
