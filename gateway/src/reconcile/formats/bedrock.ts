/**
 * Reads exports of AWS for Amazon Bedrock: invocation logs (one object for each request, without amounts) and cost and
 * usage reports, classic and 2.0 (one row for each kind of token).
 */
import { dayOf, type InvoiceLine, parseAmount, parseCount, parseTime } from '../invoice-line.ts';
import type { InvoiceFormat } from './format.ts';

export const bedrockLogs: InvoiceFormat = {
  name: 'bedrock-logs',
  title: 'Amazon Bedrock, invocation logs',
  source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/model-invocation-logging.html (2026-11-23)',
  recognizes: (members) => members.has('modelId') && members.has('requestId') && members.has('input.inputTokenCount'),
  read(entry) {
    const [time, model] = [entry.get('timestamp') ?? '', entry.get('modelId') ?? ''];
    const count = (member: string) => parseCount(entry.get(member), entry.at);
    const tokens = {
      input: count('input.inputTokenCount'),
      cache_read: count('input.cacheReadInputTokenCount'),
      cache_write: count('input.cacheWriteInputTokenCount'),
      output: count('output.outputTokenCount'),
    };
    const atMs = parseTime(time, `${entry.at}: timestamp`);
    const line: InvoiceLine = {
      place: entry.place,
      day: dayOf(time, entry.at),
      atMs,
      // Profiles and models are named by ARNs too: the last part is the name.
      model: model.slice(model.lastIndexOf('/') + 1),
      requestId: entry.get('requestId'),
      requests: 1,
      tokens,
      amount: null,
      tier: null,
    };
    return [line];
  },
};

/** The kinds of tokens at the end of a usage type: `USE1-Claude4.5Sonnet-input-tokens`, `EU-…-cache-read-input-token-count`. */
const TOKEN_KIND = /[-_]?(?:mantle-)?(cache-?(?:read|write)-?)?(input|output)-?token(?:s|-?count)?(?:-[a-z0-9-]+)?$/i;

export const awsCosts: InvoiceFormat = {
  name: 'aws-cur',
  title: 'AWS, cost and usage report',
  source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/cost-mgmt-understanding-cur-data.html (2026-11-23)',
  recognizes: (members) => members.has('line_item_unblended_cost') || members.has('lineItem/UnblendedCost'),
  read(entry) {
    const product = entry.first('line_item_product_code', 'lineItem/ProductCode', 'product_servicecode') ?? '';
    if (!/bedrock/i.test(product)) return [];
    const start = entry.first('line_item_usage_start_date', 'lineItem/UsageStartDate') ?? '';
    const type = entry.first('line_item_usage_type', 'lineItem/UsageType') ?? 'unknown';
    const cost = entry.first('line_item_unblended_cost', 'lineItem/UnblendedCost') ?? '0';
    const model =
      entry.first('product_model', 'product/model') ?? type.replace(/^[A-Z0-9]{2,5}-/, '').replace(TOKEN_KIND, '');
    const tier = /-(batch|flex|priority)(?:-|$)/i.exec(type)?.[1]?.toLowerCase() ?? null;
    const amount = parseAmount(cost, `${entry.at}: unblended cost`);
    const day = dayOf(start, `${entry.at}: usage start date`);
    return [
      { place: entry.place, day, atMs: null, model, requestId: null, requests: null, tokens: null, amount, tier },
    ];
  },
};
