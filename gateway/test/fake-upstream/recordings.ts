/** Loads sets of recorded interactions: the project's own corpus, and the recordings next to the project if present. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { corpusCase, loadCorpus } from '../fixtures/corpus/load-corpus.ts';
import type { RecordedApi, Recording } from './recording.ts';

/** The project's own corpus, which is always present, or the recordings of real traffic next to the project. */
export type SetName = 'corpus' | 'recordings';

/** Exchanges of one origin, in order. Each suite runs once for each set. */
export interface RecordingSet {
  readonly name: SetName;
  readonly recordings: readonly Recording[];
}

/** `../shared/recordings` relative to the project's root. */
export function defaultRecordingsDir(): string {
  return resolve(import.meta.dir, '../../../../shared/recordings');
}

function readRecording(path: string): Recording {
  const recording: Recording = JSON.parse(readFileSync(path, 'utf8'));
  return recording;
}

/** Loads a corpus case or a recording by its id, such as `openai-chat/0002`; null if it does not exist. */
export function loadRecording(id: string, recordingsDir: string = defaultRecordingsDir()): Recording | null {
  if (id.startsWith('corpus-')) return corpusCase(id);
  if (!/^[a-z-]+\/[0-9]+$/.test(id)) return null;
  const path = join(recordingsDir, `${id}.json`);
  return existsSync(path) ? readRecording(path) : null;
}

/** Returns the corpus of an API, and its recordings if their folder exists. */
export function recordingSets(api: RecordedApi): RecordingSet[] {
  const recordings = loadRecordings({ api });
  return [
    { name: 'corpus', recordings: loadCorpus(api) },
    ...(recordings === null ? [] : [{ name: 'recordings', recordings } as const]),
  ];
}

/** Loads every recording of an API in index order. Null, never an exception, without the folder. */
export function loadRecordings(wanted: {
  readonly api: RecordedApi;
  readonly recordingsDir?: string;
}): Recording[] | null {
  const dir = wanted.recordingsDir ?? defaultRecordingsDir();
  const index = join(dir, 'INDEX.jsonl');
  if (!existsSync(index)) return null;
  const recordings: Recording[] = [];
  for (const line of readFileSync(index, 'utf8').split('\n')) {
    if (line === '') continue;
    const entry: { readonly api: string; readonly file: string } = JSON.parse(line);
    if (entry.api === wanted.api) recordings.push(readRecording(join(dirname(index), entry.file)));
  }
  return recordings;
}
