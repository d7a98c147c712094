/** Lists the subjects in print order. */
import { bare, bareKeyed } from './bare.ts';
import { direct } from './direct.ts';
import { nginx } from './nginx.ts';
import { portkey } from './portkey.ts';
import type { Subject } from './subject.ts';
import { tollgate, tollgateC2m, tollgateM2c, tollgateM2m } from './tollgate.ts';

export const SUBJECTS: readonly Subject[] = [
  direct,
  bare,
  bareKeyed,
  tollgate,
  tollgateC2m,
  tollgateM2m,
  tollgateM2c,
  nginx,
  portkey,
];
