/** Tests the routes of reconciliations: their content, their file, and who may read them. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { CONSOLE_ROUTES } from '../contract/contract.ts';
import { openPolicyRig, type PolicyRig, person } from '../testing/policy-rig.ts';

const newFolder = temporaryFolders();
const OPERATOR = person('per_operator', 'default', 'admin');
const CUSTOMER = person('per_owner', 'team', 'owner');
const ID = `rec_${'0a'.repeat(12)}`;
let rig: PolicyRig;

beforeEach(async () => {
  rig = await openPolicyRig(newFolder());
  await rig.run('reconciliations.save', {
    id: ID,
    providers: 'openai',
    format: 'openai-costs',
    file: 'costs.csv',
    first_day: '2026-11-20',
    last_day: '2026-11-20',
    time_zone: 'UTC',
    lines: 2,
    billed: '200',
    recorded: '-9000000001',
    explained: '7',
    days: [
      {
        ...{ day: '2026-11-20', model: 'm', billed_requests: null, recorded_requests: 1 },
        ...{ billed: null, recorded: '3', explained: '7' },
      },
    ],
    findings: [
      {
        ...{ day: '2026-11-20', model: '=m', cause: 'double', amount: '7', count: 1, detail: 'twice, "really"' },
        ...{ request_id: 'req_1', attempt: 1, provider_request_id: 'gen-1' },
      },
    ],
  });
});
afterEach(async () => {
  expect(rig.faults).toEqual([]);
  await rig.close();
});

test('an operator lists them and reads one as the contract says', async () => {
  const { json } = await rig.ask(OPERATOR, 'GET /reconciliations');
  expect(CONSOLE_ROUTES['GET /reconciliations'].reply.parse(json).reconciliations).toMatchObject([
    { id: ID, billed_nano_usd: '200', recorded_nano_usd: '-9000000001', findings: 1 },
  ]);
  const one = await rig.ask(OPERATOR, `GET /reconciliations/${ID}`);
  const read = CONSOLE_ROUTES['GET /reconciliations/{reconciliation}'].reply.parse(one.json);
  expect(read.days).toMatchObject([{ billed_nano_usd: null, billed_requests: null, explained_nano_usd: '7' }]);
  expect(read.list).toMatchObject([{ cause: 'double', request_id: 'req_1', provider_request_id: 'gen-1' }]);
});

test('the findings are a file in which no cell is a formula', async () => {
  const { text } = await rig.ask(OPERATOR, `GET /reconciliations/${ID}/findings.csv`);
  expect(text.split('\r\n')).toEqual([
    'day,model,cause,usd,count,request_id,attempt,provider_request_id,detail',
    `2026-11-20,"'=m",double,0.000000007,1,req_1,1,gen-1,"twice, ""really"""`,
    '',
  ]);
});

test('an unknown one does not exist, and other accounts see none', async () => {
  expect((await rig.ask(OPERATOR, 'GET /reconciliations/rec_none')).status).toBe(404);
  for (const path of [
    'GET /reconciliations',
    `GET /reconciliations/${ID}`,
    `GET /reconciliations/${ID}/findings.csv`,
  ]) {
    expect([path, (await rig.ask(CUSTOMER, path)).status]).toEqual([path, 404]);
  }
});
