/** Declares the types of server-environment.cjs, which is plain JavaScript so that an old Node can run it. */

type Environment = Readonly<Record<string, string | undefined>>;

export const HEADER_LIMIT: string;
export function headerLimitFlags(environment: Environment): string[];
export function serverEnvironment(environment: Environment): Record<string, string | undefined>;
