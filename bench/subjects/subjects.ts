/** Owns the table of subjects, in the order in which they print; the first is what ratios are against. */
import { bare } from './bare.ts';
import { nginx } from './nginx.ts';
import { portkey } from './portkey.ts';
import type { Subject } from './subject.ts';
import { tollgate } from './tollgate.ts';

export const SUBJECTS: readonly Subject[] = [bare, tollgate, nginx, portkey];
