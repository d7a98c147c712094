/**
 * Finds AWS access keys where AWS's own tools find them, in their order: variables, the role of a profile, a web
 * identity, a profile's own keys, the container, the instance. Source: botocore 1.44.5, `botocore.credentials`.
 */
import { Secret } from '../../lib/secret.ts';
import { findContainerKeys, findInstanceKeys } from './aws-metadata.ts';
import { type AwsProfile, type AwsProfiles, readProfiles } from './aws-profile.ts';
import { type AssumedRole, assumeRole, assumeRoleWithWebIdentity, type FoundKeys } from './aws-sts.ts';
import { readText, type Surroundings } from './surroundings.ts';

/** A source that is not configured gives null; one that is configured and fails rejects, and no other is asked. */
type Source = (profiles: AwsProfiles) => Promise<FoundKeys | null> | FoundKeys | null;

/** Rejects if no source has keys; the message names none of them. `region`: of the requests to AWS STS. */
export async function findAwsKeys(surroundings: Surroundings, region: string): Promise<FoundKeys> {
  const variables = findVariables(surroundings);
  if (variables !== null) return variables;
  const sources: readonly Source[] = [
    (profiles) => findProfileRole(surroundings, region, profiles, profiles.chosen, []),
    (profiles) => findWebIdentity(surroundings, region, profiles.all.get(profiles.chosen), true),
    (profiles) => findProfileKeys(profiles, profiles.chosen),
    () => findContainerKeys(surroundings),
    () => findInstanceKeys(surroundings),
  ];
  const profiles = await readProfiles(surroundings);
  for (const source of sources) {
    const found = await source(profiles);
    if (found !== null) return found;
  }
  throw new Error(
    `no AWS credentials were found: no AWS_ACCESS_KEY_ID, no AWS_WEB_IDENTITY_TOKEN_FILE, nothing in the profile ${profiles.chosen}, no container role, no instance role`,
  );
}

function findVariables({ environment }: Surroundings): FoundKeys | null {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = environment;
  if (!id) return null;
  if (!secret) throw new Error('AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not');
  return staticKeys(id, secret, token);
}

function staticKeys(id: string, secret: string, token: string | undefined): FoundKeys {
  const sessionToken = token ? new Secret(token) : null;
  return { accessKeyId: id, secretAccessKey: new Secret(secret), sessionToken, expiresMs: Number.POSITIVE_INFINITY };
}

/** Members that start a program or need a person to sign in. */
const REFUSED = ['credential_process', 'sso_session', 'sso_account_id', 'login_session'];

function findProfileKeys({ all }: AwsProfiles, name: string): FoundKeys | null {
  const profile = all.get(name);
  const id = profile?.get('aws_access_key_id');
  if (id) {
    const secret = profile?.get('aws_secret_access_key');
    if (!secret) throw new Error(`the AWS profile ${name} has aws_access_key_id, and no aws_secret_access_key`);
    return staticKeys(id, secret, profile?.get('aws_session_token'));
  }
  const refused = REFUSED.find((member) => profile?.has(member));
  if (refused === undefined) return null;
  throw new Error(
    `the AWS profile ${name} uses ${refused}, which a gateway does not: it starts no program and has no browser for a sign-in. Use a role, a web identity or access keys`,
  );
}

/** `through`: the profiles that lead to this one. */
async function findProfileRole(
  surroundings: Surroundings,
  region: string,
  profiles: AwsProfiles,
  name: string,
  through: readonly string[],
): Promise<FoundKeys | null> {
  const profile = profiles.all.get(name);
  const role = roleOf(profile);
  if (profile === undefined || role === null || profile.has('web_identity_token_file')) return null;
  if (profile.has('mfa_serial')) throw new Error(`the AWS profile ${name} asks for a code of a person (mfa_serial)`);
  const keys = await findRoleSource(surroundings, region, profiles, name, [...through, name]);
  return assumeRole(surroundings, region, role, keys);
}

async function findRoleSource(
  surroundings: Surroundings,
  region: string,
  profiles: AwsProfiles,
  name: string,
  through: readonly string[],
): Promise<FoundKeys> {
  const profile = profiles.all.get(name);
  const [source, word] = [profile?.get('source_profile'), profile?.get('credential_source')];
  if ((source === undefined) === (word === undefined)) {
    throw new Error(`the AWS profile ${name} has a role_arn and needs one of source_profile and credential_source`);
  }
  if (source === undefined) return findNamedSource(surroundings, name, word ?? '');
  const other = profiles.all.get(source);
  if (other === undefined) throw new Error(`the AWS profile ${name} names ${source}, which does not exist`);
  // A profile may name itself if it has keys, too.
  const isItself = source === name && other.has('aws_access_key_id');
  if (!isItself && through.includes(source)) throw new Error(`the AWS profiles ${through.join(', ')} name each other`);
  const found =
    (other.has('aws_access_key_id') ? null : await findProfileRole(surroundings, region, profiles, source, through)) ??
    (await findWebIdentity(surroundings, region, other, false)) ??
    findProfileKeys(profiles, source);
  if (found === null) throw new Error(`the AWS profile ${source} has no credentials for ${name}`);
  return found;
}

async function findNamedSource(surroundings: Surroundings, name: string, word: string): Promise<FoundKeys> {
  const sources: Readonly<Record<string, () => Promise<FoundKeys | null> | FoundKeys | null>> = {
    environment: () => findVariables(surroundings),
    ecscontainer: () => findContainerKeys(surroundings),
    ec2instancemetadata: () => findInstanceKeys(surroundings),
  };
  const source = sources[word.toLowerCase()];
  if (source === undefined) {
    throw new Error(
      `the AWS profile ${name} has credential_source ${word}; expected Environment, EcsContainer or Ec2InstanceMetadata`,
    );
  }
  const found = await source();
  if (found === null) throw new Error(`the AWS profile ${name} finds no credentials by credential_source ${word}`);
  return found;
}

function roleOf(profile: AwsProfile | undefined): AssumedRole | null {
  const arn = profile?.get('role_arn');
  if (profile === undefined || !arn) return null;
  return {
    arn,
    sessionName: profile.get('role_session_name'),
    externalId: profile.get('external_id'),
    durationSeconds: profile.get('duration_seconds'),
  };
}

/** The file is read at each exchange: the platform renews it. */
async function findWebIdentity(
  surroundings: Surroundings,
  region: string,
  profile: AwsProfile | undefined,
  usesVariables: boolean,
): Promise<FoundKeys | null> {
  const variables = usesVariables ? surroundings.environment : {};
  const file = variables.AWS_WEB_IDENTITY_TOKEN_FILE || profile?.get('web_identity_token_file');
  if (!file) return null;
  const arn = variables.AWS_ROLE_ARN || profile?.get('role_arn');
  if (!arn) throw new Error('a web identity is configured, and no role: set AWS_ROLE_ARN');
  const sessionName = variables.AWS_ROLE_SESSION_NAME || profile?.get('role_session_name');
  const token = new Secret((await readText(surroundings, file, `the web identity token ${file}`)).trim());
  return assumeRoleWithWebIdentity(surroundings, region, { arn, sessionName }, token);
}
