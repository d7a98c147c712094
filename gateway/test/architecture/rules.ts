/** Lists the architecture rules; the project and the planted violations are checked against the same ones. */
import { barrels, cycles, direction, packageHomes } from './import-rules.ts';
import { namedFiles, plainInterface, plainWords } from './language-rules.ts';
import { exactVersions, fewDependencies, hostlessLock, wholeLock } from './package-rules.ts';
import {
  escapes,
  fileNames,
  floatMoney,
  folderSizes,
  importBlocks,
  openingComments,
  sizes,
  strandedComments,
} from './shape-rules.ts';
import type { Rule } from './source-tree.ts';

export const RULES: Readonly<Record<string, Rule>> = {
  'imports go downwards by the table': direction,
  'each package has its home': packageHomes,
  'no barrels but the registries': barrels,
  'no cycles': cycles,
  'files are small': sizes,
  'folders are small': folderSizes,
  'a file opens with its purpose': openingComments,
  'a comment is attached to what it describes': strandedComments,
  'imports are one block': importBlocks,
  'words are plain English': plainWords,
  'the interface is plain English': plainInterface,
  'pages name files that exist': namedFiles,
  'file names are kebab-case and mean something': fileNames,
  'no escape from a check': escapes,
  'no float near money': floatMoney,
  'exact versions': exactVersions,
  'few runtime dependencies': fewDependencies,
  'the lock file names no host': hostlessLock,
  'the lock file holds every platform': wholeLock,
};
