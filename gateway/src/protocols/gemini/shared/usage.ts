/**
 * Parses Gemini's `usageMetadata` into disjoint counters, and renders it. In a stream the last value of a counter holds, except that
 * output never shrinks: with server tools the counters restart at each inner step. Each hop of a continued answer has
 * counters of its own, which add up. https://ai.google.dev/api/generate-content#UsageMetadata, read 2026-11-22.
 */
import {
  extrasOf,
  NO_FLAGS,
  type ReportedUsage,
  type Usage,
  type UsageFlag,
  withExtras,
  ZERO_USAGE,
} from '../../../generation/usage.ts';
import { asArray, asCount, asObject, asText } from '../../json.ts';

/** Tokens of audio and images in a count; both are part of it. */
interface Media {
  readonly audio: number;
  readonly image: number;
}

const NO_MEDIA: Media = { audio: 0, image: 0 };

/** The counters of one hop as reported so far; null: not yet. */
interface Hop {
  prompt: number | null;
  candidates: number | null;
  thoughts: number | null;
  toolUse: number | null;
  cached: number | null;
  total: number | null;
  promptMedia: Media;
  toolUseMedia: Media;
  cachedMedia: Media;
  candidatesMedia: Media;
}

/** Collects the usage of an answer from its chunks. */
export class UsageTally {
  /** The sum of the hops that have ended; null: none has. */
  #ended: ReportedUsage | null = null;
  #hop: Hop | null = null;
  #invalid = false;
  #innerSteps = false;
  #searches = 0;
  #tier: string | null = null;

  /** Takes the `usageMetadata` of a chunk; whether it counted anything (Vertex sends its traffic type alone). */
  take(value: unknown): boolean {
    const usage = asObject(value);
    if (usage === null) return false;
    this.#tier = asText(usage.serviceTier)?.toLowerCase() ?? this.#tier;
    const prompt = this.#count(usage.promptTokenCount);
    const candidates = this.#count(usage.candidatesTokenCount);
    const thoughts = this.#count(usage.thoughtsTokenCount);
    if (prompt === null && candidates === null && thoughts === null) return false;
    this.#hop ??= emptyHop();
    const hop = this.#hop;
    hop.prompt = prompt ?? hop.prompt;
    hop.candidates = largest(hop.candidates, candidates);
    hop.thoughts = largest(hop.thoughts, thoughts);
    hop.toolUse = this.#count(usage.toolUsePromptTokenCount) ?? hop.toolUse;
    hop.cached = this.#count(usage.cachedContentTokenCount) ?? hop.cached;
    hop.total = this.#count(usage.totalTokenCount) ?? hop.total;
    hop.promptMedia = mediaIn(usage.promptTokensDetails) ?? hop.promptMedia;
    hop.toolUseMedia = mediaIn(usage.toolUsePromptTokensDetails) ?? hop.toolUseMedia;
    hop.cachedMedia = mediaIn(usage.cacheTokensDetails) ?? hop.cachedMedia;
    hop.candidatesMedia = mediaIn(usage.candidatesTokensDetails) ?? hop.candidatesMedia;
    return true;
  }

  /** The answer has parts of a server tool. */
  noteServerTool(): void {
    this.#innerSteps = true;
  }

  /** Google's searches so far, of this hop and those before. */
  noteSearches(count: number): void {
    this.#searches = Math.max(this.#searches, count);
  }

  /** The next hop has counters of its own. */
  endHop(): void {
    this.#ended = this.#sum();
    this.#hop = null;
  }

  /** Null: nothing was reported, or a counter is invalid. */
  result(): ReportedUsage | null {
    const sum = this.#sum();
    return this.#invalid || sum === null ? null : { usage: this.#withExtras(sum.usage), flags: sum.flags };
  }

  /** Asked for at each chunk: takes no longer after many hops. */
  #sum(): ReportedUsage | null {
    if (this.#hop === null) return this.#ended;
    const reported = reportedOf(this.#hop, this.#innerSteps);
    if (this.#ended === null) return reported;
    const flags = [...new Set([...this.#ended.flags, ...reported.flags])];
    return { usage: add(this.#ended.usage, reported.usage), flags };
  }

  #withExtras(usage: Usage): Usage {
    const tools = extrasOf(usage.extras ?? {}, [['web_search', this.#searches]]);
    return withExtras(usage, tools, this.#tier === null ? undefined : { service_tier: this.#tier });
  }

  #count(value: unknown): number | null {
    const count = asCount(value);
    if (count === 'invalid') this.#invalid = true;
    return typeof count === 'number' ? count : null;
  }
}

function emptyHop(): Hop {
  const [prompt, candidates, thoughts, toolUse, cached, total] = [null, null, null, null, null, null];
  const media = { promptMedia: NO_MEDIA, toolUseMedia: NO_MEDIA, cachedMedia: NO_MEDIA, candidatesMedia: NO_MEDIA };
  return { prompt, candidates, thoughts, toolUse, cached, total, ...media };
}

function largest(before: number | null, count: number | null): number | null {
  return before === null || count === null ? (count ?? before) : Math.max(before, count);
}

/** Names and numbers of `Modality`; video and documents have no counter of their own. */
const AUDIO: ReadonlySet<unknown> = new Set(['AUDIO', 4]);
const IMAGE: ReadonlySet<unknown> = new Set(['IMAGE', 2]);

/** Null: the member is absent. */
function mediaIn(details: unknown): Media | null {
  if (!Array.isArray(details)) return null;
  let [audio, image] = [0, 0];
  for (const detail of asArray(details)) {
    const found = asObject(detail);
    const count = asCount(found?.tokenCount);
    if (typeof count !== 'number') continue;
    if (AUDIO.has(found?.modality)) audio += count;
    else if (IMAGE.has(found?.modality)) image += count;
  }
  return { audio, image };
}

function reportedOf(hop: Hop, innerSteps: boolean): ReportedUsage {
  const [prompt, toolUse, cached] = [hop.prompt ?? 0, hop.toolUse ?? 0, hop.cached ?? 0];
  const [candidates, thoughts] = [hop.candidates ?? 0, hop.thoughts ?? 0];
  const input = Math.max(0, prompt + toolUse - cached);
  const { promptMedia, toolUseMedia, cachedMedia, candidatesMedia } = hop;
  const uncached = (kind: keyof Media, most: number) =>
    Math.min(most, Math.max(0, promptMedia[kind] + toolUseMedia[kind] - cachedMedia[kind]));
  const audio = promptMedia.audio + toolUseMedia.audio;
  // Parts never exceed their whole. If Google does not report which tokens were cached, text counts as cached first.
  const audio_input = uncached('audio', input);
  const audio_output = Math.min(candidates, candidatesMedia.audio);
  const extras = extrasOf({
    audio_input,
    image_input: uncached('image', input - audio_input),
    audio_cache_read: Math.min(cached, Math.max(cachedMedia.audio, audio - audio_input)),
    audio_output,
    image_output: Math.min(candidates - audio_output, candidatesMedia.image),
  });
  const usage = { ...ZERO_USAGE, input, cache_read: cached, output: candidates + thoughts, reasoning: thoughts };
  const flags = flagsOf(hop, prompt + toolUse + candidates + thoughts, innerSteps);
  return { usage: withExtras(usage, extras), flags };
}

function flagsOf({ prompt, toolUse, cached, total }: Hop, sum: number, innerSteps: boolean): readonly UsageFlag[] {
  let flags = NO_FLAGS;
  // With inner steps the counters are of different steps, so they need not add up.
  if (innerSteps) flags = [...flags, 'inner_steps'];
  else if (total !== null && total !== sum) flags = [...flags, 'sum'];
  if ((cached ?? 0) > (prompt ?? 0) + (toolUse ?? 0)) flags = [...flags, 'cached'];
  return flags;
}

function add(one: Usage, other: Usage): Usage {
  const media = (name: 'audio_input' | 'image_input' | 'audio_cache_read' | 'audio_output' | 'image_output') =>
    (one.extras?.[name] ?? 0) + (other.extras?.[name] ?? 0);
  const extras = extrasOf({
    audio_input: media('audio_input'),
    image_input: media('image_input'),
    audio_cache_read: media('audio_cache_read'),
    audio_output: media('audio_output'),
    image_output: media('image_output'),
  });
  const sum = {
    ...ZERO_USAGE,
    input: one.input + other.input,
    cache_read: one.cache_read + other.cache_read,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  };
  return withExtras(sum, extras);
}

/** Converts disjoint counters to Gemini's: the prompt includes what was cached, the candidates no thoughts. */
export function renderUsage({
  input,
  cache_read,
  cache_write_5m,
  cache_write_1h,
  output,
  reasoning,
  extras = {},
}: Usage) {
  const promptTokenCount = input + cache_read + cache_write_5m + cache_write_1h;
  const prompt = detailsOf((extras.audio_input ?? 0) + (extras.audio_cache_read ?? 0), extras.image_input);
  const candidates = detailsOf(extras.audio_output, extras.image_output);
  const cached = detailsOf(extras.audio_cache_read);
  return {
    promptTokenCount,
    candidatesTokenCount: output - reasoning,
    totalTokenCount: promptTokenCount + output,
    ...(cache_read > 0 && { cachedContentTokenCount: cache_read }),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    ...(prompt.length > 0 && { promptTokensDetails: prompt }),
    ...(cached.length > 0 && { cacheTokensDetails: cached }),
    ...(candidates.length > 0 && { candidatesTokensDetails: candidates }),
  };
}

function detailsOf(audio = 0, image = 0) {
  const counts = [
    { modality: 'AUDIO', tokenCount: audio },
    { modality: 'IMAGE', tokenCount: image },
  ];
  return counts.filter(({ tokenCount }) => tokenCount > 0);
}
