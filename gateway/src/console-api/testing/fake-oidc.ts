/** Serves a small OpenID Connect provider that signs its id_tokens; a test sets the claims of the next user. */
import { createHash, createSign, generateKeyPairSync, randomUUID } from 'node:crypto';

type Claims = Readonly<Record<string, unknown>>;

export interface FakeOidc {
  readonly issuer: string;
  /** The claims of the next id_token, in addition to those of every token. */
  claims: Claims;
  /** The response of the userinfo endpoint. */
  userInfo: Claims;
  sendsIdToken: boolean;
  /** False: every request gets 503. */
  isUp: boolean;
  /** Signs the user in at the authorization URL and returns the callback query. */
  signIn(authorizeUrl: string): URLSearchParams;
  stop(): Promise<void>;
}

export const CLIENT_ID = 'tollgate';

export function startFakeOidc(): FakeOidc {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const codes = new Map<string, { readonly nonce: string; readonly challenge: string }>();

  function sign(token: object): string {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const text = `${encode({ alg: 'RS256', kid: 'k' })}.${encode(token)}`;
    return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url')}`;
  }

  function describe(base: string): Response {
    return Response.json({
      issuer: base,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      userinfo_endpoint: `${base}/userinfo`,
      jwks_uri: `${base}/jwks`,
      id_token_signing_alg_values_supported: ['RS256'],
    });
  }

  function redeem(base: string, form: URLSearchParams): Response {
    const grant = codes.get(form.get('code') ?? '');
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant === undefined || verifier !== grant.challenge) return new Response('no', { status: 400 });
    const nowSeconds = Math.floor(Date.now() / 1_000);
    const times = { iat: nowSeconds, exp: nowSeconds + 60 };
    const token = { iss: base, aud: CLIENT_ID, ...times, nonce: grant.nonce, ...oidc.claims };
    const idToken = oidc.sendsIdToken ? { id_token: sign(token) } : {};
    return Response.json({ access_token: 'access', token_type: 'Bearer', ...idToken });
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { origin, pathname } = new URL(request.url);
      if (!oidc.isUp) return new Response(null, { status: 503 });
      if (pathname === '/.well-known/openid-configuration') return describe(origin);
      if (pathname === '/userinfo') return Response.json(oidc.userInfo);
      if (pathname !== '/jwks') return redeem(origin, new URLSearchParams(await request.text()));
      const key = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' };
      return Response.json({ keys: [key] });
    },
  });

  const oidc: FakeOidc = {
    issuer: `http://127.0.0.1:${server.port}`,
    claims: {},
    userInfo: {},
    sendsIdToken: true,
    isUp: true,
    signIn(authorizeUrl) {
      const grant = new URL(authorizeUrl).searchParams;
      const code = randomUUID();
      codes.set(code, { nonce: grant.get('nonce') ?? '', challenge: grant.get('code_challenge') ?? '' });
      return new URLSearchParams({ code, state: grant.get('state') ?? '' });
    },
    stop: () => server.stop(true),
  };
  return oidc;
}
