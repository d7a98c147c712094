/** Tests aws-sources.ts with aws-profile.ts, aws-sts.ts and aws-metadata.ts: each source alone, and their order. */
import { describe, expect, test } from 'bun:test';
import { findAwsKeys } from './aws-sources.ts';
import type { FoundKeys } from './aws-sts.ts';
import { type AskedServer, type FakeMachine, FakeSurroundings } from './testing/fake-surroundings.ts';

const REGION = 'eu-central-1';
const STS = 'https://sts.eu-central-1.amazonaws.com/';
const INSTANCE = 'http://169.254.169.254/latest/';
const EXPIRES = '2026-11-22T18:00:00Z';

function shown({ accessKeyId, secretAccessKey, sessionToken, expiresMs }: FoundKeys) {
  const expires = Number.isFinite(expiresMs) ? new Date(expiresMs).toISOString() : null;
  return [accessKeyId, secretAccessKey.reveal(), sessionToken?.reveal() ?? null, expires];
}

async function find(machine: FakeMachine, region = REGION) {
  const surroundings = new FakeSurroundings(machine);
  return { found: shown(await findAwsKeys(surroundings, region)), asked: surroundings.asked };
}

function refusal(machine: FakeMachine): Promise<string> {
  return findAwsKeys(new FakeSurroundings(machine), REGION).then(
    () => 'found',
    (error: Error) => error.message,
  );
}

/** An answer of STS with the keys of a role. */
function role(name: string): string {
  return `<R><Credentials><AccessKeyId>ASIA${name}</AccessKeyId><SecretAccessKey>s/${name}</SecretAccessKey><SessionToken>t+${name}==</SessionToken><Expiration>${EXPIRES}</Expiration></Credentials></R>`;
}

function metadata(name: string): string {
  return JSON.stringify({
    Code: 'Success',
    AccessKeyId: `ASIA${name}`,
    SecretAccessKey: `s/${name}`,
    Token: `t+${name}==`,
    Expiration: EXPIRES,
  });
}

const keysOf = (name: string) => [`ASIA${name}`, `s/${name}`, `t+${name}==`, '2026-11-22T18:00:00.000Z'];
const credentialsFile = (text: string) => ({ '/home/gw/.aws/credentials': text });
const configFile = (text: string) => ({ '/home/gw/.aws/config': text });

describe('variables', () => {
  test('are the first source', async () => {
    const environment = { AWS_ACCESS_KEY_ID: 'AKIA1', AWS_SECRET_ACCESS_KEY: 's1', AWS_PROFILE: 'gone' };
    expect((await find({ environment })).found).toEqual(['AKIA1', 's1', null, null]);
    const { found } = await find({ environment: { ...environment, AWS_SESSION_TOKEN: 't1' } });
    expect(found).toEqual(['AKIA1', 's1', 't1', null]);
  });

  test('are refused by half', async () => {
    expect(await refusal({ environment: { AWS_ACCESS_KEY_ID: 'AKIA1' } })).toContain('AWS_SECRET_ACCESS_KEY is not');
  });
});

describe('a profile', () => {
  const KEYS =
    '[default]\naws_access_key_id = AKIA2 ; mine\naws_secret_access_key=s2\n[other]\nAWS_ACCESS_KEY_ID=AKIA3\naws_secret_access_key=s#3\naws_session_token = t3\n';

  test('has keys, in either file', async () => {
    expect((await find({ files: credentialsFile(KEYS) })).found).toEqual(['AKIA2', 's2', null, null]);
    const config =
      '[profile "my own"]\ns3 =\n  aws_access_key_id = no\naws_access_key_id = AKIA4\n# c\naws_secret_access_key = s4\n';
    const environment = { AWS_PROFILE: 'my own', AWS_CONFIG_FILE: '/etc/aws' };
    expect((await find({ environment, files: { '/etc/aws': config } })).found).toEqual(['AKIA4', 's4', null, null]);
  });

  test('is the one of AWS_PROFILE', async () => {
    const environment = { AWS_PROFILE: 'other' };
    expect((await find({ environment, files: credentialsFile(KEYS) })).found).toEqual(['AKIA3', 's#3', 't3', null]);
    expect(await refusal({ environment: { AWS_PROFILE: 'gone' } })).toContain('profile gone, which is in neither');
  });

  test('assumes its role with the keys of another', async () => {
    const files = {
      ...configFile(
        `[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = other\nexternal_id = x y\nduration_seconds = 1800\n`,
      ),
      ...credentialsFile(KEYS),
    };
    const { found, asked } = await find({ files, servers: { [STS]: () => role('R') } });
    expect(found).toEqual(keysOf('R'));
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toEqual({
      Action: 'AssumeRole',
      Version: '2011-06-15',
      RoleArn: 'arn:aws:iam::1:role/r',
      RoleSessionName: 'tollgate',
      ExternalId: 'x y',
      DurationSeconds: '1800',
    });
    expect(asked[0]?.headers.get('authorization')).toStartWith(
      'AWS4-HMAC-SHA256 Credential=AKIA3/20261122/eu-central-1/sts/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=',
    );
  });

  test('assumes its role through a role', async () => {
    const chain =
      '[default]\nrole_arn = arn:2\nsource_profile = mid\n[profile mid]\nrole_arn = arn:1\nsource_profile = other\n';
    const files = { ...configFile(chain), ...credentialsFile(KEYS.replace('[default]', '[unused]')) };
    const servers = { [STS]: ({ body }: AskedServer) => role(body.includes('arn%3A1') ? 'ONE' : 'TWO') };
    const { found, asked } = await find({ files, servers });
    expect(found).toEqual(keysOf('TWO'));
    expect(asked[1]?.headers.get('authorization')).toContain('Credential=ASIAONE/');
  });

  test('assumes its role with its own keys, or those of a named source', async () => {
    const own = configFile('[default]\nrole_arn = arn:r\nsource_profile = default\n');
    const servers = { [STS]: () => role('R'), 'http://169.254.170.2/c': () => metadata('C') };
    const { found } = await find({ files: { ...own, ...credentialsFile(KEYS) }, servers });
    expect(found).toEqual(keysOf('R'));
    const environment = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/c' };
    const named = configFile('[default]\nrole_arn = arn:r\ncredential_source = EcsContainer\n');
    const { asked } = await find({ files: named, servers, environment });
    expect(asked[1]?.headers.get('authorization')).toContain('Credential=ASIAC/');
    expect(asked[1]?.headers.get('x-amz-security-token')).toBe('t+C==');
  });

  test.each([
    ['[default]\nrole_arn = r\n', 'needs one of source_profile and credential_source'],
    ['[default]\nrole_arn = r\nsource_profile = a\ncredential_source = Environment\n', 'needs one of'],
    ['[default]\nrole_arn = r\nsource_profile = a\n', 'names a, which does not exist'],
    [
      '[default]\nrole_arn = r\nsource_profile = a\n[profile a]\nrole_arn = q\nsource_profile = default\n',
      'name each other',
    ],
    ['[default]\nrole_arn = r\nsource_profile = a\n[profile a]\nregion = x\n', 'has no credentials for default'],
    ['[default]\nrole_arn = r\ncredential_source = Moon\n', 'expected Environment, EcsContainer'],
    ['[default]\nrole_arn = r\ncredential_source = Environment\n', 'finds no credentials by credential_source'],
    ['[default]\nrole_arn = r\nmfa_serial = 1\nsource_profile = a\n', 'mfa_serial'],
    ['[default]\naws_access_key_id = A\n', 'no aws_secret_access_key'],
    ['[default]\ncredential_process = /bin/x\n', 'uses credential_process, which a gateway does not'],
    ['[default]\nsso_session = s\n', 'uses sso_session'],
    ['[default]\nsso_account_id = 1\n', 'uses sso_account_id'],
  ])('%j is refused', async (text, words) => {
    expect(await refusal({ files: configFile(text) })).toContain(words);
  });

  test('is refused by STS in its words, without a secret', async () => {
    const files = { ...configFile('[default]\nrole_arn = arn:r\nsource_profile = other\n'), ...credentialsFile(KEYS) };
    const denied = () =>
      new Response('<E><Error><Code>AccessDenied</Code><Message>not you</Message></Error></E>', { status: 403 });
    expect(await refusal({ files, servers: { [STS]: denied } })).toBe(
      'AWS STS in eu-central-1 refused the role arn:r: AccessDenied: not you',
    );
    expect(await refusal({ files, servers: { [STS]: () => '<html>' } })).toContain('without credentials');
  });
});

describe('a web identity', () => {
  const environment = {
    AWS_WEB_IDENTITY_TOKEN_FILE: '/run/token',
    AWS_ROLE_ARN: 'arn:w',
    AWS_ROLE_SESSION_NAME: 'pod',
  };
  const files = { '/run/token': 'eyJ.token\n' };

  test('is exchanged without a signature', async () => {
    const { found, asked } = await find({ environment, files, servers: { [STS]: () => role('W') } });
    expect(found).toEqual(keysOf('W'));
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toEqual({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: 'arn:w',
      RoleSessionName: 'pod',
      WebIdentityToken: 'eyJ.token',
    });
    expect(asked[0]?.headers.has('authorization')).toBe(false);
  });

  test('may be in the profile, and needs a role', async () => {
    const config = configFile('[default]\nweb_identity_token_file = /run/token\nrole_arn = arn:p\n');
    const { asked } = await find({ files: { ...files, ...config }, servers: { [STS]: () => role('W') } });
    expect(asked[0]?.body).toContain('RoleArn=arn%3Ap');
    expect(await refusal({ environment: { ...environment, AWS_ROLE_ARN: '' }, files })).toContain('no role');
  });

  test('goes to STS of the partition of the region', async () => {
    for (const [region, host] of [
      ['cn-north-1', 'sts.cn-north-1.amazonaws.com.cn'],
      ['eusc-de-east-1', 'sts.eusc-de-east-1.amazonaws.eu'],
    ] as const) {
      const { asked } = await find({ environment, files, servers: { [`https://${host}/`]: () => role('W') } }, region);
      expect(asked[0]?.url).toBe(`https://${host}/`);
    }
  });
});

describe('a container', () => {
  test('names a path of its metadata server', async () => {
    const environment = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials/1' };
    const servers = { 'http://169.254.170.2/v2/credentials/1': () => metadata('C') };
    expect((await find({ environment, servers })).found).toEqual(keysOf('C'));
  });

  test.each([
    'http://169.254.170.23/v1',
    'http://127.0.0.1:9/x',
    'http://[fd00:ec2::23]/v1',
    'https://keys.example.com/x',
  ])('names %s, and the token in a file', async (url) => {
    const environment = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: url,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'no',
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: '/run/eks',
    };
    const { found, asked } = await find({
      environment,
      files: { '/run/eks': 'tok-1' },
      servers: { [url]: () => metadata('E') },
    });
    expect([found, asked[0]?.headers.get('authorization')]).toEqual([keysOf('E'), 'tok-1']);
  });

  test('names no other address without https', async () => {
    for (const url of ['http://10.0.0.1/x', 'http://metadata.example.com/x', 'ftp://127.0.0.1/']) {
      const message = await refusal({ environment: { AWS_CONTAINER_CREDENTIALS_FULL_URI: url } });
      expect(message).toContain('neither https nor a metadata server');
    }
  });

  test('is asked three times', async () => {
    const environment = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/c' };
    let tries = 0;
    const answer = () => {
      tries += 1;
      return tries < 3 ? new Response('', { status: 500 }) : metadata('C');
    };
    expect((await find({ environment, servers: { 'http://169.254.170.2/c': answer } })).found).toEqual(keysOf('C'));
    tries = -1;
    expect(await refusal({ environment, servers: { 'http://169.254.170.2/c': answer } })).toContain('HTTP 500');
  });
});

describe('an instance', () => {
  const servers = {
    [`${INSTANCE}api/token`]: () => 'session-1',
    [`${INSTANCE}meta-data/iam/security-credentials/my-role`]: () => metadata('I'),
    [`${INSTANCE}meta-data/iam/security-credentials/`]: () => 'my-role\n',
  };

  test('is the last source, with a session', async () => {
    const { found, asked } = await find({ servers });
    expect(found).toEqual(keysOf('I'));
    expect(asked.map(({ method, url }) => [method, url.slice(INSTANCE.length)])).toEqual([
      ['PUT', 'api/token'],
      ['GET', 'meta-data/iam/security-credentials/'],
      ['GET', 'meta-data/iam/security-credentials/my-role'],
    ]);
    expect(asked[0]?.headers.get('x-aws-ec2-metadata-token-ttl-seconds')).toBe('21600');
    expect(asked.slice(1).map(({ headers }) => headers.get('x-aws-ec2-metadata-token'))).toEqual([
      'session-1',
      'session-1',
    ]);
  });

  test('may be switched off, be elsewhere, or have no role', async () => {
    expect(await refusal({ servers, environment: { AWS_EC2_METADATA_DISABLED: 'TRUE' } })).toContain(
      'no AWS credentials',
    );
    expect(await refusal({})).toContain('no AWS credentials were found');
    const empty = { [`${INSTANCE}api/token`]: () => 'session-1', [INSTANCE]: () => new Response('', { status: 404 }) };
    expect(await refusal({ servers: empty })).toContain('no AWS credentials');
  });

  test('that may not use its role says why', async () => {
    const failed = () => JSON.stringify({ Code: 'AssumeRoleUnauthorizedAccess', Message: 'no' });
    const path = `${INSTANCE}meta-data/iam/security-credentials/my-role`;
    expect(await refusal({ servers: { ...servers, [path]: failed } })).toContain('AssumeRoleUnauthorizedAccess');
  });
});
