/** Lists the ways in which one HTTP attempt at an upstream can fail below the level of its protocol. */

export type UpstreamFailureKind =
  /** The request could not be authorized, and was not sent. */
  | 'authorization'
  | 'connect'
  | 'tls'
  | 'connect_timeout'
  | 'first_byte_timeout'
  | 'idle_timeout'
  | 'total_timeout'
  | 'reset'
  | 'truncated'
  | 'malformed'
  | 'too_large'
  | 'aborted'
  /** This process has no free file descriptor. */
  | 'no_descriptor'
  /** The listener threw: the upstream is not at fault. */
  | 'fault';

/** `message` is for the operator's log and the record; it contains no upstream bytes and no credential. */
export interface UpstreamFailure {
  readonly kind: UpstreamFailureKind;
  readonly message: string;
}
