/** Defines what a call reports to the operator. telemetry/ implements it; messages contain no secrets and no bodies. */

export interface CallLog {
  /** A fault of the gateway or a dependency, with its cause. */
  fault(requestId: string, message: string, cause: unknown): void;
  /** Upstream refused the operator's credential or account: the operator must act. */
  alarm(requestId: string, message: string): void;
  /** A model without a price answers calls, which are not charged. Logged once per model. */
  unpriced(requestId: string, model: string): void;
  /** Upstream violated the protocol; the violation was repaired or became an error. */
  upstream(requestId: string, provider: string, message: string): void;
}
