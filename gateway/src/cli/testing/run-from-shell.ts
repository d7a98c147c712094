/** Runs a command line in a separate process, over the data folder given as its first argument. For tests. */
import { runProgram } from './run-program.ts';

const [dataDir = '', ...words] = process.argv.slice(2);
const outcome = await runProgram(dataDir, ...words);
process.stdout.write(outcome.stdout);
process.stderr.write(outcome.stderr);
process.exitCode = outcome.exitCode;
