/** Defines the names, units, defaults and minimums of all limits that an operator can set. Enforces none of them. */

/** How a limit is written in the file, and the unit of its number once loaded: bytes, milliseconds, or a count. */
type LimitUnit = 'bytes' | 'duration' | 'count';

interface LimitRow {
  /** The member of `Limits` that holds it, unit last. */
  readonly member: string;
  readonly unit: LimitUnit;
  /** As an operator would write it. */
  readonly default: string;
  readonly least: string;
  readonly most?: string;
  readonly meaning: string;
}

const bytes = <Member extends string>(member: Member, fallback: string, least: string, meaning: string) =>
  ({ member, unit: 'bytes', default: fallback, least, meaning }) as const;
const duration = <Member extends string>(member: Member, fallback: string, least: string, meaning: string) =>
  ({ member, unit: 'duration', default: fallback, least, most: '24h', meaning }) as const;
const count = <Member extends string>(member: Member, fallback: string, meaning: string, most?: string) =>
  ({ member, unit: 'count', default: fallback, least: '1', ...(most === undefined ? {} : { most }), meaning }) as const;

/**
 * Every limit by its name in the file. The size of the header block (16 KiB) is absent: the runtime accepts it only at
 * launch.
 */
export const LIMITS = {
  header_count_max: count('headerCountMax', '100', 'Headers of a request; more get 431.'),
  url_bytes_max: bytes('urlBytesMax', '8KiB', '256B', 'Path and query of a request; longer ones get 414.'),
  body_timeout: duration(
    'bodyTimeoutMs',
    '60s',
    '1s',
    'From the headers to the last byte of a body; then 408, unless it arrives fast enough.',
  ),
  body_bytes_per_second_min: bytes(
    'bodyBytesPerSecondMin',
    '64KiB',
    '1KiB',
    'A body that arrives at least this fast on average may take longer than `body_timeout`.',
  ),
  body_timeout_max: duration('bodyTimeoutMaxMs', '15m', '1s', 'No body may take longer than this; then 408.'),
  body_bytes_max: bytes(
    'bodyBytesMax',
    '32MiB',
    '1KiB',
    'Body of one request, counted as it arrives; larger ones get 413.',
  ),
  body_bytes_in_flight_max: bytes(
    'bodyBytesInFlightMax',
    '512MiB',
    '1MiB',
    'All request bodies in memory, counted as they arrive; more get 503.',
  ),
  body_bytes_per_key_max: bytes(
    'bodyBytesPerKeyMax',
    '128MiB',
    '1MiB',
    'All request bodies of one key in memory, never less than `body_bytes_max`; more get 429.',
  ),
  upload_bytes_max: bytes(
    'uploadBytesMax',
    '256MiB',
    '1KiB',
    'One upload (audio), which waits on the disk until a provider has it; larger ones get 413.',
  ),
  upload_stall_timeout: duration(
    'uploadStallTimeoutMs',
    '30s',
    '1s',
    'An upload gets 408 if nothing arrives for this time, or less than `upload_bytes_per_second_min` over it.',
  ),
  upload_bytes_per_second_min: bytes(
    'uploadBytesPerSecondMin',
    '16KiB',
    '1B',
    'The slowest upload, on average over `upload_stall_timeout`; its whole time is not limited.',
  ),
  spool_bytes_max: bytes(
    'spoolBytesMax',
    '2GiB',
    '1MiB',
    'Disk space for uploads of more than 1 MiB, a quarter of it for each key; more get 503, or 429 for the key.',
  ),
  spool_free_bytes_min: bytes(
    'spoolFreeBytesMin',
    '1GiB',
    '0B',
    'Free space of the disk below which uploads of more than 1 MiB get 503.',
  ),
  gzip_ratio_max: count(
    'gzipRatioMax',
    '20',
    'Size of a gzip body, as a multiple of its compressed size; larger ones get 415.',
  ),
  json_depth_max: count('jsonDepthMax', '64', 'Nesting of a JSON body; deeper ones get 400.', '1000'),
  json_keys_max: count('jsonKeysMax', '10000', 'Members of one JSON object; more get 400.'),
  messages_max: count('messagesMax', '100000', 'Messages of one request; more get 400.'),
  parts_max: count('partsMax', '1000', 'Content parts of one message; more get 400.'),
  tools_max: count('toolsMax', '1000', 'Tools of one request; more get 400.'),
  model_name_max: count('modelNameMax', '256', 'Characters of `model` and `user`; more get 400.'),
  metadata_key_max: count('metadataKeyMax', '64', 'Characters of a metadata key; more get 400.'),
  metadata_value_max: count('metadataValueMax', '512', 'Characters of a metadata value; more get 400.'),
  sse_record_bytes_max: bytes(
    'sseRecordBytesMax',
    '8MiB',
    '1KiB',
    'One event of a provider’s stream; a larger one is an error of the provider. With images (Responses, images, Gemini and its providers) at least 64 MiB.',
  ),
  response_bytes_max: bytes(
    'responseBytesMax',
    '256MiB',
    '1KiB',
    'One plain answer of a provider; a larger one is an error of the provider. With images (Responses, images, Gemini and its providers) at least 512 MiB.',
  ),
  error_body_bytes_max: bytes('errorBodyBytesMax', '64KiB', '1KiB', 'Bytes read of a provider’s error body.'),
  slow_reader_bytes_max: bytes(
    'slowReaderBytesMax',
    '256KiB',
    '1KiB',
    'Bytes buffered for a slow client; then reading from the provider pauses.',
  ),
  slow_reader_timeout: duration(
    'slowReaderTimeoutMs',
    '60s',
    '1s',
    'A client that reads nothing for this time is dropped.',
  ),
  idle_connection_timeout: {
    ...duration(
      'idleConnectionTimeoutMs',
      '68s',
      '8s',
      'A client connection without a request, or whose client does not read its reply, is closed after this time, or up to 4 s earlier.',
    ),
    most: '240s',
  },
  content_bytes_max: bytes(
    'contentBytesMax',
    '8GiB',
    '1MiB',
    'Disk space for stored prompts and responses, including the write-ahead log; beyond it nothing more is stored.',
  ),
  cache_bytes_max: bytes(
    'cacheBytesMax',
    '1GiB',
    '1MiB',
    'Disk space for cached answers of all workspaces; beyond it the oldest are deleted.',
  ),
  cache_bytes_per_workspace_max: bytes(
    'cacheBytesPerWorkspaceMax',
    '64MiB',
    '64KiB',
    'Cached answers of one workspace, as stored; beyond it its oldest are deleted.',
  ),
  open_calls_max: count(
    'openCallsMax',
    '20000',
    'Concurrent requests of the process; more get 503. The limit of open files may lower it.',
  ),
  websockets_max: count(
    'websocketsMax',
    '2000',
    'WebSockets of the process; further handshakes get 426, on which clients use POST.',
  ),
  websockets_per_key_max: count(
    'websocketsPerKeyMax',
    '64',
    'WebSockets of one key; the same. A message of up to `body_bytes_max` may be arriving on each, in memory that no other limit counts.',
  ),
  websocket_duration: duration(
    'websocketDurationMs',
    '60m',
    '1s',
    'A WebSocket is closed after this time, between two responses.',
  ),
  websocket_history_bytes_max: bytes(
    'websocketHistoryBytesMax',
    '32MiB',
    '1KiB',
    'Conversation kept for one WebSocket, for `previous_response_id`; of a larger one nothing is kept.',
  ),
  websocket_histories_bytes_max: bytes(
    'websocketHistoriesBytesMax',
    '256MiB',
    '1KiB',
    'Conversations kept for all WebSockets; the least recently used are forgotten first.',
  ),
  keep_alive: duration('keepAliveMs', '10s', '100ms', 'Silence on a stream after which a keep-alive is sent.'),
  commit_after: duration(
    'commitAfterMs',
    '20s',
    '100ms',
    'Silence of the provider after which a stream gets its status 200.',
  ),
  drain: duration('drainMs', '10s', '0s', 'How long new requests are served after SIGTERM.'),
  drain_streams: duration(
    'drainStreamsMs',
    '600s',
    '0s',
    'How long open requests may continue after that: those that are left end with an error 10s before, or after half of a time below 20s.',
  ),
  connect_timeout: duration('connectTimeoutMs', '5s', '10ms', 'Connecting to a provider.'),
  first_byte_timeout: duration('firstByteTimeoutMs', '120s', '10ms', 'First byte of a streamed answer.'),
  first_byte_plain_timeout: duration('firstBytePlainTimeoutMs', '900s', '10ms', 'First byte of a plain answer.'),
  idle_timeout: duration('idleTimeoutMs', '900s', '10ms', 'Silence of a provider within its answer.'),
  total_timeout: duration(
    'totalTimeoutMs',
    '3600s',
    '10ms',
    'A whole request, from its first attempt to its last byte.',
  ),
} as const satisfies Record<string, LimitRow>;

export type LimitName = keyof typeof LIMITS;

/** All limits as numbers: bytes, milliseconds (`…Ms`) or counts. */
export type Limits = { readonly [Name in LimitName as (typeof LIMITS)[Name]['member']]: number };
