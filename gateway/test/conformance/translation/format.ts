/** Names the formats that have both halves, which the suites on translation write and read. */
import type { ClientProtocolName, UpstreamProtocolName } from '../../../src/protocols/names.ts';

export type Format = ClientProtocolName & UpstreamProtocolName;
