/** Runs `npm run bench`: options, rig, rounds, report, exit status. */
import { writeFileSync } from 'node:fs';
import { compareVersions, renderComparison } from './compare.ts';
import { readMachineFacts, requireQuietMachine } from './machine.ts';
import { type BenchOptions, parseOptions, USAGE_TEXT, WrongUsage } from './options.ts';
import { exitOnSignals } from './process/exit-on-signals.ts';
import { renderCase, renderGaps, renderMachine, renderTargets } from './render-report.ts';
import { startRig, startSubjects } from './rig.ts';
import { runRounds } from './run-rounds.ts';
import { summarize } from './summarize.ts';
import { judgeTargets } from './targets.ts';

function report(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Resolves with the exit status: 0, or 1 with `--strict` when a target is missed. */
async function runBench(options: BenchOptions): Promise<number> {
  const { cases, rounds, warmupMs, rehearsal } = options;
  const machine = readMachineFacts();
  const rig = await startRig(options.tollgateCommand);
  try {
    if (options.compareCommand !== null) {
      const comparisons = await compareVersions(rig, options, options.compareCommand, report);
      process.stdout.write(`${renderMachine(machine)}\n\n${renderComparison(comparisons)}\n`);
      return options.strict && comparisons.some(({ verdict }) => verdict !== 'no worse') ? 1 : 0;
    }
    const { running, skipped } = await startSubjects(rig, options.subjects);
    report(`running ${[...running.keys()].map(({ name }) => name).join(', ')}`);
    if (options.isJudged && running.size > 0) await requireQuietMachine();
    const { measurements, leftOut } = await runRounds({
      cases,
      subjects: running,
      rig,
      rounds,
      warmupMs,
      rehearsal,
      onProgress: report,
    });
    const names = options.subjects.map(({ name }) => name);
    const rows = summarize(measurements, cases, names);
    const targets = judgeTargets(measurements, cases, names);

    const parts = [
      renderMachine(machine),
      ...cases.map((benchCase) => renderCase(benchCase, rows, measurements, options.subjects)),
      renderTargets(targets, cases),
      renderGaps(skipped, leftOut),
    ];
    process.stdout.write(`${parts.filter((part) => part !== '').join('\n\n')}\n\n`);
    const summary = { machine, rounds, skipped, leftOut, rows, targets };
    if (options.jsonFile === null) process.stdout.write(`${JSON.stringify(summary)}\n`);
    else writeFileSync(options.jsonFile, `${JSON.stringify({ ...summary, measurements }, null, 2)}\n`);
    return options.strict && targets.some(({ verdict }) => verdict !== 'met') ? 1 : 0;
  } finally {
    await rig.stop();
  }
}

exitOnSignals();

try {
  const options = parseOptions(process.argv.slice(2));
  if (options === null) process.stdout.write(`${USAGE_TEXT}\n`);
  else process.exitCode = await runBench(options);
} catch (error) {
  report(error instanceof WrongUsage ? `${error.message}\n\n${USAGE_TEXT}` : String(error));
  process.exitCode = error instanceof WrongUsage ? 2 : 1;
}
