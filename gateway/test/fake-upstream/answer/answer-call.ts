/** Decides what one request gets: a refusal, a scripted or an unscripted answer. */

import { type FakeRequest, headerOf } from '../http/parse-request.ts';
import { type Endpoint, endpointOf, protocolOf } from '../protocol.ts';
import { type PreparedAnswer, type Rig, scriptedAnswer, takeScenario } from '../rig.ts';
import type { Scenario } from '../scenario.ts';
import { type Answer, errorAnswer, jsonAnswer } from './answer.ts';
import { checkCall } from './check-call.ts';
import { type AnswerWanted, BUILT_IN_MODELS, chooseAnswer, unknownModelAnswer } from './choose-answer.ts';
import { planAnswer, type Step } from './plan-answer.ts';
import { LONG_PLAIN_MAX, speechOf } from './speech.ts';

/** What to play for a request, and how to record it. */
export interface DecidedCall {
  readonly endpoint: Endpoint;
  readonly model: string | null;
  readonly stream: boolean;
  readonly status: number;
  readonly scenario: Scenario;
  readonly steps: Iterable<Step>;
}

const UNSCRIPTED: Scenario = {};
const PREPARED_MAX = 1_000;
/** Streams up to this many events are rendered once and cached. */
const PREPARED_EVENTS_MAX = 1_000;

function modelsAnswer(request: FakeRequest, rig: Rig): Answer {
  const names = [...new Set([...BUILT_IN_MODELS, ...rig.scripts.keys()])];
  const models = names.map((id) => {
    const both = { id, object: 'model', type: 'model', display_name: id, owned_by: 'fake' };
    return { ...both, created: 1_790_000_000, created_at: '2026-09-21T14:13:20Z' };
  });
  const wanted = /\/models\/([^/?]+)/.exec(request.target)?.[1];
  if (wanted === undefined) {
    const ends = { first_id: names[0], last_id: names.at(-1) };
    return jsonAnswer(200, { object: 'list', data: models, has_more: false, ...ends });
  }
  const one = models.find((model) => model.id === decodeURIComponent(wanted));
  return one === undefined ? errorAnswer('chat-completions', 404, `no model ${wanted}`) : jsonAnswer(200, one);
}

/** Why an endless (or nearly endless) answer cannot be sent as scripted; null if it can. */
function impossible(name: string, scenario: Scenario): string | null {
  const events = speechOf(name)?.outputTokens ?? 0;
  if (events <= LONG_PLAIN_MAX || scenario.errorEvent !== undefined) return null;
  if (scenario.chunking === 'all' && scenario.stallAfterEvent === undefined) {
    return `chunking 'all' needs an answer that ends, ${name} does not`;
  }
  if (scenario.framing === 'content-length' || scenario.bothLengths === true) {
    return `a content-length needs an answer that ends, ${name} does not`;
  }
  return null;
}

/** The steps of an unscripted answer, rendered once if it is short and does not come from disk. */
function unscriptedSteps(rig: Rig, wanted: AnswerWanted): PreparedAnswer {
  const key = `${wanted.protocol} ${wanted.stream} ${wanted.includeUsage} ${wanted.model}`;
  const prepared = rig.prepared.get(key);
  if (prepared !== undefined) return prepared;
  const answer = chooseAnswer(wanted.model, wanted, rig.recordingsDir);
  if (answer === null) {
    const refused = unknownModelAnswer(wanted.protocol, wanted.model);
    return { status: refused.status, steps: planAnswer(refused, UNSCRIPTED) };
  }
  const events = Number(/^long:([0-9]+)$/.exec(wanted.model)?.[1] ?? 0);
  const lasting = wanted.model !== 'endless' && events <= PREPARED_EVENTS_MAX && !wanted.model.startsWith('rec:');
  const steps = planAnswer(answer, UNSCRIPTED);
  if (!lasting) return { status: answer.status, steps };
  const made = { status: answer.status, steps: [...steps] };
  if (rig.prepared.size < PREPARED_MAX) rig.prepared.set(key, made);
  return made;
}

function refused(endpoint: Endpoint, status: number, message: string): Omit<DecidedCall, 'model'> {
  const answer = errorAnswer(protocolOf(endpoint), status, message);
  return { endpoint, stream: false, status, scenario: UNSCRIPTED, steps: planAnswer(answer, UNSCRIPTED) };
}

function decideModels(rig: Rig, request: FakeRequest): DecidedCall {
  const scenario = takeScenario(rig, 'models') ?? UNSCRIPTED;
  const wanted: AnswerWanted = { protocol: 'chat-completions', model: 'models', stream: false, includeUsage: false };
  const answer = scenario === UNSCRIPTED ? modelsAnswer(request, rig) : scriptedAnswer(rig, scenario, wanted, request);
  const status = scenario.status ?? answer.status;
  return { endpoint: 'models', model: null, stream: false, status, scenario, steps: planAnswer(answer, scenario) };
}

/**
 * Decides what a request gets. A scripted model's calls follow its script; `count-tokens:<model>` is the script's name
 * for the counting endpoint, `models` for the list of models.
 */
export function decideCall(rig: Rig, request: FakeRequest): DecidedCall {
  const endpoint = endpointOf(request.target);
  if (endpoint === 'models' && request.method === 'GET') return decideModels(rig, request);
  if (endpoint === 'unknown' || endpoint === 'models') {
    return { ...refused(endpoint, 404, `no endpoint ${request.method} ${request.target}`), model: null };
  }
  const { model, stream, includeUsage, refusal } = checkCall(endpoint, request);
  if (refusal !== null || model === null) {
    return { ...refused(endpoint, refusal?.status ?? 400, refusal?.message ?? 'no model'), model };
  }
  const wanted: AnswerWanted = { protocol: protocolOf(endpoint), model, stream, includeUsage };
  const isCount = endpoint === 'count-tokens' || endpoint === 'gemini-count';
  const scenario = takeScenario(rig, isCount ? `count-tokens:${model}` : model);
  if (scenario === null) {
    if (isCount) {
      const tokens = Math.ceil(request.body.byteLength / 4);
      const answer = jsonAnswer(200, endpoint === 'count-tokens' ? { input_tokens: tokens } : { totalTokens: tokens });
      return { endpoint, model, stream, status: 200, scenario: UNSCRIPTED, steps: planAnswer(answer, UNSCRIPTED) };
    }
    return { endpoint, model, stream, scenario: UNSCRIPTED, ...unscriptedSteps(rig, wanted) };
  }
  const fault = impossible(scenario.answer ?? 'ok', scenario);
  if (fault !== null) return { ...refused(endpoint, 400, fault), model };
  const answer = scriptedAnswer(rig, scenario, wanted, request);
  const status = scenario.status ?? answer.status;
  return { endpoint, model, stream, status, scenario, steps: planAnswer(answer, scenario) };
}

/** True if the caller asked to close the connection after the answer. */
export function wantsClose(request: FakeRequest): boolean {
  return (headerOf(request, 'connection') ?? '').toLowerCase() === 'close';
}
