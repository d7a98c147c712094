/** Lists the subjects in print order. */
import { bare, bareKeyed } from './bare.ts';
import { direct } from './direct.ts';
import { litellm } from './litellm.ts';
import { nginx } from './nginx.ts';
import { portkey } from './portkey.ts';
import type { Subject, SubjectName } from './subject.ts';
import {
  tollgate,
  tollgateC2m,
  tollgateM2c,
  tollgateM2m,
  tollgateR2r,
  tollgateSilent,
  tollgateTwo,
} from './tollgate.ts';

export const SUBJECTS: readonly Subject[] = [
  direct,
  bare,
  bareKeyed,
  tollgate,
  tollgateSilent,
  tollgateTwo,
  tollgateR2r,
  tollgateC2m,
  tollgateM2m,
  tollgateM2c,
  nginx,
  portkey,
  litellm,
];

/** What every run measures; the others on request. */
export const BASIC: readonly SubjectName[] = ['direct', 'bare', 'bare-keyed', 'tollgate'];
export const TRANSLATED: readonly SubjectName[] = ['tollgate-c2m', 'tollgate-m2m', 'tollgate-m2c'];
export const PEERS: readonly SubjectName[] = ['nginx', 'portkey', 'litellm'];
