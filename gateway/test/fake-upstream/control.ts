/** Serves the `/__fake/…` routes by which another process scripts the rig and reads its book. */
import { type Answer, jsonAnswer } from './answer/answer.ts';
import { isObject } from './answer/body-part.ts';
import type { FakeRequest } from './http/parse-request.ts';
import { parseScenario, parseSlowReading } from './parse-scenario.ts';
import { echoOf, type Rig } from './rig.ts';
import type { Scenario } from './scenario.ts';
import type { ServedCall } from './served.ts';

/** True for the rig's own routes, which are neither scripted nor counted. */
export function isControl(request: FakeRequest): boolean {
  return request.target.startsWith('/__fake/');
}

/** Validates one scenario or a list of them. @throws Error that names the invalid member. */
export function parseScript(value: unknown): Scenario[] {
  if (!Array.isArray(value)) return [parseScenario(value)];
  if (value.length === 0) throw new Error('scenario is an empty array, expected at least one scenario');
  return value.map(parseScenario);
}

/** Sets what the next calls of a model get. */
export function setScript(rig: Rig, model: string, scenarios: readonly Scenario[]): void {
  rig.scripts.set(model, [...scenarios]);
}

/** Clears scripts, book and reading speed. */
export function resetRig(rig: Rig): void {
  rig.scripts.clear();
  rig.slowReading = null;
  rig.book.reset();
}

/** A call as JSON: the body as base64, and as text for humans. */
function callJson(call: ServedCall): Record<string, unknown> {
  const { requestBody, ...rest } = call;
  const body = Buffer.from(requestBody);
  return { ...rest, requestBodyBase64: body.toString('base64'), requestText: body.toString('utf8') };
}

function servedJson(rig: Rig, model: string | null): Record<string, unknown> {
  const calls = rig.book.calls(model ?? undefined);
  return { calls: calls.map(callJson), connections: rig.book.connections(), dropped: rig.book.dropped };
}

/** Waits until that many calls (of a model, with an end) are in the book or the time is up; returns which. */
async function waitForCalls(rig: Rig, query: URLSearchParams): Promise<Answer> {
  const model = query.get('model');
  const finished = query.get('finished');
  const count = Number(query.get('count') ?? '1');
  const timeoutMs = Number(query.get('timeout_ms') ?? '10000');
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(timeoutMs)) {
    throw new Error('count and timeout_ms are integers');
  }
  const matching = (): number =>
    rig.book.count(
      (call) => (model === null || call.model === model) && (finished === null || call.finished === finished),
    );
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const reached = await Promise.race([rig.book.waitUntil(() => matching() >= count).then(() => true), late]);
  clearTimeout(timer);
  return jsonAnswer(reached ? 200 : 408, { reached, found: matching() });
}

function parseJson(request: FakeRequest): unknown {
  return JSON.parse(new TextDecoder().decode(request.body));
}

async function routeControl(rig: Rig, request: FakeRequest): Promise<Answer> {
  const url = new URL(request.target, 'http://fake');
  switch (`${request.method} ${url.pathname}`) {
    case 'POST /__fake/scripts': {
      const wanted = parseJson(request);
      if (!isObject(wanted) || typeof wanted.model !== 'string' || wanted.model === '') {
        throw new Error('the body is not {model: <non-empty string>, scenario: <scenario or array of them>}');
      }
      setScript(rig, wanted.model, parseScript(wanted.scenario));
      return jsonAnswer(200, { scripted: wanted.model });
    }
    case 'POST /__fake/reading':
      rig.slowReading = parseSlowReading(parseJson(request));
      return jsonAnswer(200, { reading: rig.slowReading });
    case 'POST /__fake/reset':
      resetRig(rig);
      return jsonAnswer(200, { reset: true });
    case 'GET /__fake/served':
      return jsonAnswer(200, servedJson(rig, url.searchParams.get('model')));
    case 'GET /__fake/wait':
      return waitForCalls(rig, url.searchParams);
    case 'GET /__fake/health':
      return jsonAnswer(200, { ready: true });
    case 'POST /__fake/echo':
      return jsonAnswer(200, JSON.parse(echoOf(request)));
    default:
      return jsonAnswer(404, {
        error: `no route ${request.method} ${url.pathname}; there are POST scripts, reading, reset, echo; GET served, wait, health`,
      });
  }
}

/** Answers one of the rig's own routes; a bad request gets status 400 with the reason. */
export async function answerControl(rig: Rig, request: FakeRequest): Promise<Answer> {
  try {
    return await routeControl(rig, request);
  } catch (error) {
    return jsonAnswer(400, { error: error instanceof Error ? error.message : String(error) });
  }
}
