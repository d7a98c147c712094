/** A command line in a process of its own, over the data folder of its first argument. For tests. */
import { runProgram } from './run-program.ts';

const [dataDir = '', ...words] = process.argv.slice(2);
const outcome = await runProgram(dataDir, ...words);
process.stdout.write(outcome.stdout);
process.stderr.write(outcome.stderr);
process.exitCode = outcome.exitCode;
