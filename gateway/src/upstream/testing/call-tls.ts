/**
 * A program for tests: calls the address in its first argument, and prints how the exchange ended and what it received.
 */
import { runExchange } from './run-exchange.ts';

const running = runExchange(process.argv[2] ?? '');
const end = await running.end;
process.stdout.write(JSON.stringify({ end: end === 'end' ? end : end.kind, body: running.body().toString() }));
process.exit(0);
