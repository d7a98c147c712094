/**
 * Holds the values of all metrics in flat arrays. A family is a metric; a series is one of its label sets, made once and
 * named by its index from then on, so that counting allocates nothing. Labels must be configured names or members of
 * closed lists: a series is never removed.
 */

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** What a metric is called and means; the names of its labels are fixed. */
export interface MetricSpec {
  /** As OpenTelemetry writes it, with dots; Prometheus' name is derived from it (`prometheusName`). */
  readonly name: string;
  /** UCUM: `s`, `By`, `{token}`, `USD`; empty: a pure number. */
  readonly unit: string;
  readonly help: string;
  readonly type: MetricType;
  /** As OpenTelemetry writes them, with dots. */
  readonly labels: readonly string[];
  /** Upper bounds, ascending; only of a histogram. */
  readonly bounds?: readonly number[];
}

export function counter(name: string, unit: string, help: string, labels: readonly string[] = []): MetricSpec {
  return { name, unit, help, type: 'counter', labels };
}

export function gauge(name: string, unit: string, help: string, labels: readonly string[] = []): MetricSpec {
  return { name, unit, help, type: 'gauge', labels };
}

export function histogram(
  name: string,
  unit: string,
  help: string,
  labels: readonly string[],
  bounds: readonly number[],
): MetricSpec {
  return { name, unit, help, type: 'histogram', labels, bounds };
}

/** One label set with its value, as an output reads it. */
export interface Sample {
  readonly labels: readonly string[];
  readonly value: number;
  /** Of a histogram, whose `value` is the sum: observations by bucket, the last above every bound. */
  readonly counts: Float64Array | null;
}

/** Gives the values of gauges and counters that are kept elsewhere, when an output reads them. */
export type ReadSamples = (add: AddSample) => void;
export type AddSample = (value: number, ...labels: string[]) => void;

const SERIES_MIN = 4;

/** One metric with its series. */
export class Family {
  readonly spec: MetricSpec;
  readonly #bounds: readonly number[];
  readonly #labels: (readonly string[])[] = [];
  readonly #indexes = new Map<string, number>();
  #values = new Float64Array(SERIES_MIN);
  #counts: Float64Array;

  constructor(spec: MetricSpec) {
    this.spec = spec;
    this.#bounds = spec.bounds ?? [];
    this.#counts = new Float64Array(this.#slots * SERIES_MIN);
  }

  /** Buckets of one series; 0: not a histogram. */
  get #slots(): number {
    return this.#bounds.length === 0 ? 0 : this.#bounds.length + 1;
  }

  /** The index of a label set, which is made if it is new. Its values are in the order of the spec's labels. */
  series(...labels: readonly string[]): number {
    if (labels.length !== this.spec.labels.length) {
      throw new Error(`${this.spec.name} has ${this.spec.labels.length} labels, not ${labels.length}`);
    }
    const key = labels.join('\u0000');
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const index = this.#labels.length;
    this.#labels.push(labels);
    this.#indexes.set(key, index);
    if (index === this.#values.length) {
      this.#values = doubled(this.#values);
      this.#counts = doubled(this.#counts);
    }
    return index;
  }

  /** Adds to a counter. */
  add(index: number, amount: number): void {
    this.#values[index] = (this.#values[index] ?? 0) + amount;
  }

  /** Counts one observation of a histogram. */
  observe(index: number, value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    const slot = index * (bounds.length + 1) + bucket;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
    this.#values[index] = (this.#values[index] ?? 0) + value;
  }

  samples(): readonly Sample[] {
    const slots = this.#slots;
    return this.#labels.map((labels, index) => ({
      labels,
      value: this.#values[index] ?? 0,
      counts: slots === 0 ? null : this.#counts.slice(index * slots, (index + 1) * slots),
    }));
  }
}

function doubled(values: Float64Array): Float64Array<ArrayBuffer> {
  const next = new Float64Array(values.length * 2);
  next.set(values);
  return next;
}

/** A metric with its samples of now. */
export interface ReadFamily {
  readonly spec: MetricSpec;
  readonly samples: readonly Sample[];
}

/** All metrics of the process. */
export class MetricRegistry {
  readonly #readers: (() => ReadFamily)[] = [];
  readonly #preparations: (() => void)[] = [];

  /** A metric whose series are counted here. */
  family(spec: MetricSpec): Family {
    const family = new Family(spec);
    this.#readers.push(() => ({ spec, samples: family.samples() }));
    return family;
  }

  /** A metric whose values are read where they are kept. */
  read(spec: MetricSpec, read: ReadSamples): void {
    this.#readers.push(() => {
      const samples: Sample[] = [];
      read((value, ...labels) => samples.push({ labels, value, counts: null }));
      return { spec, samples };
    });
  }

  /** Runs before the metrics are read, for values that several of them share. */
  prepare(take: () => void): void {
    this.#preparations.push(take);
  }

  /** Every metric, in the order of their definition; those without a series have no samples. */
  collect(): readonly ReadFamily[] {
    for (const take of this.#preparations) take();
    return this.#readers.map((read) => read());
  }
}
