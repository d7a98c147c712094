/**
 * Follows a batch at its provider, and reads its end: the output is read line by line, and the cost is the sum of its
 * answers. Source: contract, 10.13.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { Reason } from '../../errors/reason.ts';
import { maskKeys } from '../../lib/secret.ts';
import { UPSTREAM_PROTOCOLS } from '../../protocols/registry.ts';
import type { ObjectRequest } from '../../protocols/stored/shared-state.ts';
import type { BatchTerms, DetachedCall } from '../../store/ports/ledger.ts';
import { NEVER_MS } from '../../store/ports/stored-state.ts';
import { readLines } from '../../wire/json-lines.ts';
import { readOwnRefusal } from '../attempt/read-answer.ts';
import { scrubText } from '../attempt/scrub.ts';
import type { CallDeps } from '../deps.ts';
import { type JobEnd, type JobKind, type JobState, POLL_MS_MAX } from '../detached/job-kinds.ts';
import type { ObjectPlace } from '../objects/choose-place.ts';
import { UPSTREAMS } from '../objects/exchange-object.ts';
import { findPlace } from '../stored/find-place.ts';
import { requestAbout, requestObject } from '../stored/send-object-request.ts';
import { BatchSum } from './batch-cost.ts';
import { type BatchState, keptObject, readBatch } from './batch-object.ts';
import { KeptPrices } from './batch-prices.ts';
import { readContent } from './object-content.ts';
import { type OutputTally, readOutput, startTally } from './read-output.ts';

export type BatchJobDeps = Pick<CallDeps, 'settings' | 'storedState' | 'log'>;

/** `deps`: read at each poll. */
export function createBatchJob(deps: () => BatchJobDeps): JobKind {
  return { poll: (call, signal) => new BatchPoll(deps(), call, signal).run() };
}

/** Ends that leave an output, mostly even if all requests failed. */
const ANSWERED: ReadonlySet<string> = new Set(['completed', 'ended']);

class BatchPoll {
  readonly #deps: BatchJobDeps;
  readonly #call: DetachedCall;
  readonly #signal: AbortSignal;

  constructor(deps: BatchJobDeps, call: DetachedCall, signal: AbortSignal) {
    this.#deps = deps;
    this.#call = call;
    this.#signal = signal;
  }

  async run(): Promise<JobState> {
    const { job } = this.#call;
    const { routes, config } = this.#deps.settings;
    const { batch } = job;
    if (batch === undefined) throw new Error(`batch ${job.id} has no terms`);
    // Also if no new batches are taken there any more.
    const place = findPlace(routes, job, ({ protocols }) => (protocols as readonly string[]).includes(batch.format));
    if (place === null) {
      throw new CallFailure('upstream_misconfigured', 'the provider is not configured any more', {
        cause: `no target of the provider has the credential ${job.credential}, which keeps the batch`,
      });
    }
    const about = { method: 'GET', collection: 'batches', path: `/${job.id}`, query: '' } as const;
    const sent = { ...requestAbout(this.#sender, about, formatAt(place)), endMs: performance.now() + POLL_MS_MAX };
    const answer = await requestObject(place.target, place.credential, sent, config.limits, this.#signal);
    const { head, body } = answer;
    // No client can delete a batch that runs: the account or the address is another one now.
    if (head.status === 404) {
      throw new CallFailure('upstream_misconfigured', 'the provider does not know the batch', {
        cause: `the credential ${job.credential} does not find it (HTTP 404)`,
      });
    }
    if (head.status !== 200) throw readOwnRefusal(place, answer, UPSTREAMS[place.target.upstream.state.format]).failure;
    const state = readBatch(body);
    if (state.isEnded) return { kind: 'ended', end: await this.#end(place, state, batch) };
    await this.#keep(body);
    return { kind: 'running' };
  }

  get #sender() {
    const { request_id: requestId, at_ms: atMs } = this.#call.draft;
    return { requestId, atMs };
  }

  /** What the client sees until the next poll. */
  async #keep(body: Buffer): Promise<void> {
    const { draft, job } = this.#call;
    const object = keptObject(body);
    if (object === null) return;
    try {
      const rows = await this.#deps.storedState.find(draft, [job.id], Date.now());
      const row = rows.find(({ kind }) => kind === 'batch');
      if (row !== undefined && row.object !== object) await this.#deps.storedState.add({ ...row, object });
    } catch (cause) {
      this.#deps.log.fault(draft.request_id, 'the row of a batch could not be changed', cause);
    }
  }

  async #end(place: ObjectPlace, state: BatchState, terms: BatchTerms): Promise<JobEnd> {
    const { job } = this.#call;
    const tally = await this.#readOutputs(place, state, terms);
    const { usage, price_version, cost } = tally.sum.end();
    const { answers, counted, flags } = tally;
    return {
      ...outcomeOf(place, state),
      served_model: job.model,
      usage,
      usage_source: answers === 0 ? 'void' : counted > 0 ? 'counted' : 'upstream',
      usage_flags: flags.size === 0 ? null : [...flags],
      price_version: price_version ?? job.price_version,
      cost,
      payer: 'account',
      stored: this.#storedOf(state),
    };
  }

  /** Rejects if the output lacks answers: then it is read again. */
  async #readOutputs(place: ObjectPlace, state: BatchState, terms: BatchTerms): Promise<OutputTally> {
    const { format, prices, vendor, requests } = terms;
    const { responseBytesMax } = this.#deps.settings.config.limits;
    const tally = startTally(new BatchSum(new KeptPrices(prices, vendor)));
    const inputTokens = Math.ceil(this.#call.job.held_tokens.input / requests);
    for (const output of state.outputs) {
      // A line has one answer.
      const lines = readLines(this.#contentOf(place, output), responseBytesMax);
      await readOutput(lines, UPSTREAM_PROTOCOLS[format], inputTokens, tally);
    }
    // Without any, the provider's counts must say that no request was answered: else it is still to come.
    const isLost = ANSWERED.has(state.status) && state.outputs.length === 0 && state.over < requests;
    if (isLost || tally.lines < state.answered) {
      const cause = `${tally.lines} of ${state.answered} answers of batch ${state.id}`;
      throw new CallFailure('upstream_malformed', 'the output of a batch is not complete', { cause });
    }
    return tally;
  }

  #contentOf(place: ObjectPlace, output: ObjectRequest): AsyncIterable<Uint8Array> {
    const { target, credential } = place;
    const content = { ...formatAt(place), form: { upload: null, acceptsAny: true } };
    const request = requestAbout(this.#sender, output, content);
    const open = target.upstream.openExchange.bind(target.upstream, request, credential, Number.MAX_SAFE_INTEGER);
    return readContent(open, Number.MAX_SAFE_INTEGER, this.#signal);
  }

  /** From now on the workspace may read the output. */
  #storedOf({ files }: BatchState): JobEnd['stored'] {
    if (files.length === 0) return undefined;
    const { provider, model, credential } = this.#call.job;
    const things = files.map((id) => ({ kind: 'file', id }));
    return { provider, model, credential, tokens: 0, output_tokens: 0, expires_at_ms: NEVER_MS, things };
  }
}

/** The version that the gateway itself speaks. */
const VERSION = '2023-06-01';
const NO_HEADERS = new Headers();

function formatAt({ target }: ObjectPlace) {
  const { protocols, state } = target.upstream;
  const { forwardHeaders } = UPSTREAMS[state.format].passThrough;
  const [protocol = state.format] = protocols;
  return { protocol, headers: forwardHeaders(NO_HEADERS, VERSION) };
}

/** Only a batch that failed as a whole has failed: the others have ended as they were asked to. */
function outcomeOf({ target }: ObjectPlace, { status, message }: BatchState) {
  if (status !== 'failed') return { error: null, reason: null, finish_reason: status };
  const words = maskKeys(scrubText(message ?? 'the provider refused the batch', target.upstream.secrets));
  const upstream = { status: null, type: null, message: words.toWellFormed().slice(0, 300) };
  const reason: Reason = { kind: 'cut', upstream, at_step: 'answer' };
  return { error: 'upstream_rejected', reason, finish_reason: status } as const;
}
