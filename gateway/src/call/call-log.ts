/** Owns what the line of a call tells the operator. telemetry/ implements it; the words hold no secret and no body. */

export interface CallLog {
  /** A fault of ours or of a dependency, with its cause. */
  fault(requestId: string, message: string, cause: unknown): void;
  /** Upstream refused our own credential or account: the operator must act. */
  alarm(requestId: string, message: string): void;
  /** A model without a price answers calls: nothing is charged for them. Said once for each model. */
  unpriced(requestId: string, model: string): void;
  /** Something upstream did that the protocol does not allow, and that was mended or became an error. */
  upstream(requestId: string, provider: string, message: string): void;
}
