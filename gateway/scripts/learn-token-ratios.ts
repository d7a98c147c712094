/**
 * Fits the token estimation ratios of each model family to the recorded calls next to the project. Prints the table for
 * gateway/src/tokens/token-families.ts, and how accurate the present table is. Run by hand: `bun
 * gateway/scripts/learn-token-ratios.ts`.
 */

import { describeError, estimateError, halvePrompts } from '../test/conformance/prompts/prompt-halves.ts';
import { loadRecordedPrompts } from '../test/conformance/prompts/recorded-prompts.ts';
import { learnFamilies } from './token-ratios/learn-families.ts';

const prompts = loadRecordedPrompts();
if (prompts === null) {
  console.error('No recordings found in ../shared/recordings, next to the project. Put them there.');
  process.exit(1);
}
const halves = halvePrompts(prompts);
console.log('export const TOKEN_RATIOS: { readonly [family in TokenFamily]: TokenRatios } = {');
for (const { family, ratios, source } of learnFamilies(halves)) {
  console.log(`  // From ${source}.`);
  console.log(`  ${family}: {\n    tools: '${ratios.tools}',`);
  console.log(`    text: [${ratios.text.join(', ')}],\n    frames: [${ratios.frames.join(', ')}],\n  },`);
}
console.log('};\n\nErrors of the current table:');
for (const [family, { learnt, judged }] of halves) {
  console.log(
    `${family}: judged ${describeError(estimateError(judged))}; learned ${describeError(estimateError(learnt))}`,
  );
}
