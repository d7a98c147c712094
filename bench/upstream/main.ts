/** Runs the upstream as a separate process: `main.ts [PORT]` prints `listening PORT` and runs until killed. */
import { startUpstream } from './start-upstream.ts';

const upstream = startUpstream(Number(process.argv[2] ?? 0));
process.stdout.write(`listening ${upstream.port}\n`);
