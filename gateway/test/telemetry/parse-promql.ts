/**
 * Parses PromQL as far as dashboards and alert rules use it (https://prometheus.io/docs/prometheus/latest/querying/basics/,
 * read 2026-11-23), and returns what a query reads. Strict: an unknown function, a range where an instant vector belongs,
 * or anything left over is an error.
 */

/** One selector with every label that it, or an aggregation around it, names. */
export interface Selector {
  readonly metric: string;
  readonly labels: Set<string>;
}

type Kind = 'instant' | 'range' | 'scalar';

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]))|(\d+(?:ms|[smhdwy]))|([A-Za-z_:][\w:]*)|("(?:[^"\\\n]|\\.)*")|(=~|!~|!=|==|>=|<=|[-+*/%^(){}[\],=<>]))/y;
const AGGREGATIONS = new Set(['sum', 'max', 'min', 'avg', 'count', 'topk', 'bottomk']);
/** The kinds of each function's arguments; `?`: may be absent. */
const FUNCTIONS: { readonly [name: string]: readonly string[] } = {
  rate: ['range'],
  increase: ['range'],
  delta: ['range'],
  changes: ['range'],
  max_over_time: ['range'],
  min_over_time: ['range'],
  avg_over_time: ['range'],
  histogram_quantile: ['scalar', 'instant'],
  clamp_min: ['instant', 'scalar'],
  absent: ['instant'],
  time: [],
  vector: ['scalar'],
};
const BINARY = [['or'], ['and', 'unless'], ['==', '!=', '<=', '<', '>=', '>'], ['+', '-'], ['*', '/', '%']];

/** What the query reads. Throws an Error that says where it does not parse. */
export function parsePromql(query: string): readonly Selector[] {
  const parser = new Parser(query);
  parser.whole();
  return parser.selectors;
}

class Parser {
  readonly selectors: Selector[] = [];
  readonly #query: string;
  readonly #tokens: string[] = [];
  #at = 0;

  constructor(query: string) {
    this.#query = query;
    TOKEN.lastIndex = 0;
    for (let end = 0; query.slice(end).trim() !== ''; end = TOKEN.lastIndex) {
      TOKEN.lastIndex = end;
      const found = TOKEN.exec(query);
      if (found === null) throw new Error(`${query}: unreadable from ${JSON.stringify(query.slice(end, end + 20))}`);
      this.#tokens.push(found[0].trim());
    }
  }

  whole(): void {
    if (this.#binary(0) === 'range') this.#fail('a range where a value belongs');
    if (this.#at < this.#tokens.length) this.#fail(`${this.#next()} left over`);
  }

  #binary(level: number): Kind {
    const words = BINARY[level];
    if (words === undefined) return this.#unary();
    let kind = this.#binary(level + 1);
    while (words.includes(this.#next())) {
      this.#at += 1;
      this.#take('bool');
      if (this.#take('on') || this.#take('ignoring')) this.#names();
      if (this.#take('group_left') || this.#take('group_right')) if (this.#next() === '(') this.#names();
      const right = this.#binary(level + 1);
      if (kind === 'range' || right === 'range') this.#fail('arithmetic on a range');
      kind = kind === 'scalar' && right === 'scalar' ? 'scalar' : 'instant';
    }
    return kind;
  }

  #unary(): Kind {
    if (this.#take('-') || this.#take('+')) return this.#unary();
    if (this.#take('(')) {
      const kind = this.#binary(0);
      this.#expect(')');
      return kind;
    }
    const word = this.#next();
    if (/^\d/.test(word)) {
      if (/[a-z]$/.test(word)) this.#fail('a duration where a number belongs');
      this.#at += 1;
      return 'scalar';
    }
    if (!/^[A-Za-z_:]/.test(word)) this.#fail(`${word || 'nothing'} where an expression belongs`);
    this.#at += 1;
    if (AGGREGATIONS.has(word)) return this.#aggregation(word);
    return this.#next() === '(' ? this.#call(word) : this.#selector(word);
  }

  #aggregation(word: string): Kind {
    const first = this.selectors.length;
    const labels = this.#take('by') || this.#take('without') ? this.#names() : [];
    this.#expect('(');
    if (word.endsWith('k')) {
      if (this.#binary(0) !== 'scalar') this.#fail(`${word} needs a number`);
      this.#expect(',');
    }
    if (this.#binary(0) !== 'instant') this.#fail(`${word} needs an instant vector`);
    this.#expect(')');
    if (this.#take('by') || this.#take('without')) labels.push(...this.#names());
    for (const selector of this.selectors.slice(first)) for (const label of labels) selector.labels.add(label);
    return 'instant';
  }

  #call(name: string): Kind {
    const kinds = FUNCTIONS[name];
    if (kinds === undefined) this.#fail(`the unknown function ${name}`);
    this.#expect('(');
    for (const [index, kind] of (kinds ?? []).entries()) {
      if (index > 0) this.#expect(',');
      const given = this.#binary(0);
      if (given !== kind) this.#fail(`${name} needs ${kind}, not ${given}`);
    }
    this.#expect(')');
    return name === 'time' ? 'scalar' : 'instant';
  }

  #selector(metric: string): Kind {
    const labels = new Set<string>();
    if (this.#take('{')) {
      while (!this.#take('}')) {
        labels.add(this.#label());
        const operator = this.#next();
        if (!['=', '!=', '=~', '!~'].includes(operator)) this.#fail(`${operator} in a matcher`);
        this.#at += 1;
        if (!this.#next().startsWith('"')) this.#fail('a matcher without a quoted value');
        this.#at += 1;
        if (this.#next() !== '}') this.#expect(',');
      }
    }
    this.selectors.push({ metric, labels });
    let kind: Kind = 'instant';
    if (this.#take('[')) {
      this.#duration();
      this.#expect(']');
      kind = 'range';
    }
    if (this.#take('offset')) this.#duration();
    return kind;
  }

  #names(): string[] {
    const names: string[] = [];
    this.#expect('(');
    while (!this.#take(')')) {
      names.push(this.#label());
      if (this.#next() !== ')') this.#expect(',');
    }
    return names;
  }

  #label(): string {
    const name = this.#next();
    if (!/^[A-Za-z_]\w*$/.test(name)) this.#fail(`${name} is no label`);
    this.#at += 1;
    return name;
  }

  #duration(): void {
    if (!/^\d+(ms|[smhdwy])$/.test(this.#next())) this.#fail(`${this.#next()} is no duration`);
    this.#at += 1;
  }

  #next(): string {
    return this.#tokens[this.#at] ?? '';
  }

  #take(token: string): boolean {
    if (this.#next() !== token) return false;
    this.#at += 1;
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token)) this.#fail(`${this.#next() || 'the end'} where ${token} belongs`);
  }

  #fail(found: string): never {
    throw new Error(`${this.#query}: ${found}`);
  }
}
