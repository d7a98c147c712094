/**
 * Replays all same-protocol recordings of one API through a running gateway and judges client, upstream and record.
 * Each stream is split into writes in one way (whole records, one write or a hostile one, in turn); with
 * TOLLGATE_EXHAUSTIVE in all ways.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { RecordedApi, Recording } from '../fake-upstream/recording.ts';
import { type RecordingSet, recordingSets, type SetName } from '../fake-upstream/recordings.ts';
import type { Chunking } from '../fake-upstream/scenario.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { expectedAnswer } from './answer-oracle.ts';
import { configFor, UPSTREAM_KEY } from './gateway-config.ts';
import { judgeAnswer, judgeRecord, judgeUpstreamSide } from './judge-replay.ts';
import { recordedCall } from './recorded-call.ts';
import { type Replayed, replayAll } from './replay.ts';

/** Expectations of a set in addition to the oracles; lists every exception by name. */
export interface Fates {
  /** Minimum number of recordings, so that an empty suite cannot pass. */
  readonly recordingsMin: number;
  /** Refused by our own validation before the upstream call: id, and the member that the refusal names. */
  readonly refusedHere: Readonly<Record<string, string>>;
  /** The recording continues after the protocol's own end; the rest is not part of the answer. */
  readonly goOnAfterEnd: readonly string[];
}

const EXHAUSTIVE = process.env.TOLLGATE_EXHAUSTIVE === '1';
const HOSTILE: readonly Chunking[] = ['bytes', 'crlf', 'utf8', { sizes: [7, 1, 64, 3] }];
/** One byte per write and turn of the event loop, so only for short answers. */
const BYTEWISE_BYTES_MAX = EXHAUSTIVE ? 65_536 : 8_192;

/** Registers the suite for each set of the API. */
export function conformanceSuite(api: RecordedApi, fates: Readonly<Record<SetName, Fates>>): void {
  for (const set of recordingSets(api)) suiteOf(api, set, fates[set.name]);
}

function suiteOf(api: RecordedApi, { name, recordings }: RecordingSet, fates: Fates): void {
  const turns = recordings.map((recording, index) =>
    chunkingsOf(recording, index).map((chunking, turn) => ({ call: recordedCall(recording, index, turn), chunking })),
  );
  const calls = recordings.map((recording, index) => recordedCall(recording, index, 0));
  const forwarded = (id: string) => !(id in fates.refusedHere);

  describe(`${name}: ${api} through a running gateway`, () => {
    let pair: Pair;
    let replays: Replayed[] = [];
    const judged = (judge: (replayed: Replayed) => string[]) =>
      replays.filter(({ seen }) => forwarded(seen.call.recording.id)).flatMap(judge);

    beforeAll(async () => {
      const all = turns.flat().map(({ call }) => call);
      pair = await startPair((fakeUrl) => configFor(fakeUrl, all));
      replays = await replayAll(turns, pair);
      const streams = calls.filter((call) => call.stream).length;
      console.log(
        `${name} ${api}: ${calls.length} replayed in ${replays.length} calls (${streams} streams, ` +
          `${EXHAUSTIVE ? 'exhaustive' : 'sampled'} chunkings), ${Object.keys(fates.refusedHere).length} refused here`,
      );
    }, 300_000);
    afterAll(() => pair.stop());

    test('there are recordings, and each was replayed', () => {
      expect(calls.length).toBeGreaterThanOrEqual(fates.recordingsMin);
      expect(new Set(replays.map(({ seen }) => seen.call.recording.id)).size).toBe(calls.length);
    });

    test('the client gets the recorded bytes, or the contract’s answer to a recorded error', () => {
      expect(judged(judgeAnswer)).toEqual([]);
    });

    test('upstream gets the client’s bytes with only the spliced members changed, and no key of ours', () => {
      const secrets = { ours: pair.gateway.key, upstreams: UPSTREAM_KEY };
      expect(judged((replayed) => judgeUpstreamSide(replayed, secrets))).toEqual([]);
    });

    test('the record has the usage, the reason, the model and the cost that an independent reading finds', () => {
      expect(judged(judgeRecord)).toEqual([]);
    });

    test('a request that our own checks refuse gets a 400 that names the member, and never reaches upstream', () => {
      const refused = replays.filter(({ seen }) => !forwarded(seen.call.recording.id));
      const found = refused.map(({ seen, served, record }) => ({
        id: seen.call.recording.id,
        recordedAsGood: seen.call.recording.response.status === 200,
        status: seen.status,
        param: JSON.parse(seen.body.toString()).error.param,
        served,
        error: record?.error,
      }));
      const expected = Object.entries(fates.refusedHere).map(([id, param]) => {
        return { id, recordedAsGood: false, status: 400, param, served: null, error: 'invalid_request' };
      });
      const kinds = new Map(found.map((one) => [JSON.stringify(one), one]));
      expect([...kinds.values()]).toEqual(expected);
    });

    test('records after the protocol’s own end are listed here by name', () => {
      const followed = calls.filter((call) => /\S/.test(expectedAnswer(call, 'req_x', false).unsaid ?? ''));
      expect(followed.map((call) => call.recording.id)).toEqual([...fates.goOnAfterEnd]);
    });
  });
}

function chunkingsOf(recording: Recording, index: number): readonly Chunking[] {
  const bytewise = String(recording.response.body).length <= BYTEWISE_BYTES_MAX;
  if (!recording.stream) return EXHAUSTIVE ? ['all', { sizes: [1_000, 1] }] : ['all'];
  const hostile = HOSTILE.filter((chunking) => chunking !== 'bytes' || bytewise);
  const all: readonly Chunking[] = ['record', 'all', ...hostile];
  return EXHAUSTIVE ? all : [all[index % all.length] ?? 'crlf'];
}
