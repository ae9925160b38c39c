import { expect, test } from 'vitest';
import { createRedactor } from '../../src/faults/redactor.ts';

const redactor = createRedactor();
const R = '[redacted]';

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Composed from parts, so that no secret scanner stops at this file. */
function random(length: number, characters = ALPHANUMERIC): string {
  let state = 7 + length;
  return Array.from({ length }, () => {
    state = (state * 16_807) % 2_147_483_647;
    return characters[state % characters.length];
  }).join('');
}
const hex = (length: number) => random(length, '0123456789abcdef');
const upper = (length: number) => random(length, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567');

const KEYS = [
  `sk-${random(48)}`,
  `sk-ant-api03-${random(93)}-${random(6)}AA`,
  `gsk_${random(52)}`,
  `hf_${random(34)}`,
  `r8_${random(37)}`,
  `nvapi-${random(64)}`,
  `fw_${random(24)}`,
  `pa-${random(43)}`,
  `jina_${random(40)}`,
  `pcsk_${random(6)}_${random(60)}`,
  `tvly-dev-${random(32)}`,
  `lsv2_pt_${hex(32)}_${hex(10)}`,
  `ghp_${random(36)}`,
  `github_pat_${random(22)}_${random(59)}`,
  `glpat-${random(20)}`,
  `npm_${random(36)}`,
  `dckr_pat_${random(27)}`,
  `AKIA${upper(16)}`,
  `AIza${random(35)}`,
  `ya29.${random(60)}`,
  `GOCSPX-${random(28)}`,
  `${random(3)}8Q~${random(34)}`,
  `dop_v1_${hex(64)}`,
  `hvs.${random(90)}`,
  `dp.st.prd.${random(43)}`,
  `dapi${hex(32)}`,
  `sbp_${hex(40)}`,
  `AGE-SECRET-KEY-1${upper(58)}`,
  `xoxb-${random(12, '0123456789')}-${random(24)}`,
  `xapp-1-A${upper(10)}-${random(13, '0123456789')}-${hex(64)}`,
  `hooks.slack.com/services/T${upper(8)}/B${upper(8)}/${random(24)}`,
  `M${random(23)}.${random(6)}.${random(27)}`,
  `123456789:AA${random(33)}`,
  `SG.${random(22)}.${random(43)}`,
  `${hex(32)}-us12`,
  `sk_live_${random(24)}`,
  `whsec_${random(32)}`,
  `shpat_${hex(32)}`,
  `lin_api_${random(40)}`,
  `ntn_${random(46)}`,
  `PMAK-${hex(24)}-${hex(34)}`,
  `ATATT3${random(180)}`,
  `glsa_${random(32)}_${hex(8)}`,
  `eyJ${random(20)}.eyJ${random(40)}.${random(43)}`,
];

test.each(KEYS)('removes the key %s', (key) => {
  expect(redactor.text(key)).toBe(R);
  expect(redactor.text(`it is ${key}, keep it`)).toBe(`it is ${R}, keep it`);
  // In a streamed event the line breaks are escaped.
  expect(redactor.text(`data: {"content":"\\n${key}"}`)).toBe(`data: {"content":"\\n${R}"}`);
});

const AWS_SECRET = random(40, `${ALPHANUMERIC}+/`);

test.each([
  ['postgres://', 'u:p', '@h/db'],
  ['redis://', `:${random(12)}`, '@cache:6379/0'],
  ['mongodb+srv://', `app:${random(16)}`, '@cluster0.test'],
  ['COHERE_API_KEY=', random(40), ''],
  ['export MISTRAL_API_KEY="', random(32), '"'],
  ['aws_secret_access_key = ', AWS_SECRET, '\nregion = eu-west-1'],
  ['os.environ["TOGETHER_API_KEY"] = "', hex(64), '"'],
  ['setenv("WANDB_API_KEY", "', hex(40), '")'],
  ['AccountName=x;AccountKey=', `${random(86, `${ALPHANUMERIC}+/`)}==`, ';EndpointSuffix=core.test'],
  ['SharedAccessKey=', `${random(43)}=`, ''],
  ['api-key: ', hex(32), ''],
  ['curl --api-key ', random(32), ' https://a.test'],
  ["clientSecret: '", random(32), "',"],
  ['{\\"auth_token\\": \\"', random(40), '\\"}'],
  ['DB_PASSWORD=', 'Tr0ub4dor', ''],
  ['<password>', 'S3cr3tPhrase', '</password>'],
  ['"auths": {"registry.test": {"auth": "', `${random(26)}==`, '"}}'],
  ['machine api.test login me password ', 's3cretphrase', '\n'],
  ['curl -u admin:', 's3cretphrase', ' https://a.test'],
  ['Set-Cookie: sid=', hex(32), '; Path=/; HttpOnly'],
  ['ALGOLIA_ADMIN_KEY=', hex(32), ''],
])('removes the value from %s', (before, secret, after) => {
  expect(redactor.text(`${before}${secret}${after}`)).toBe(`${before}${R}${after}`);
});

test('removes a random value of a field whose name says that it is a secret', () => {
  const value = { dbPassword: 'Tr0ub4dor', service: { bot_token: random(40) }, secret_id: random(40) };
  expect(redactor.value(value)).toEqual({ ...value, dbPassword: R, service: { bot_token: R } });
});

const HARMLESS = [
  'The API key is read from the environment variable OPENAI_API_KEY.',
  'OPENAI_API_KEY=your-api-key-here',
  'API_KEY=$SECRET_FROM_VAULT_2 or {{ secrets.KEY_2 }}',
  'password: string, at least 8 characters',
  'class OAuth2PasswordBearer, OAuth2PasswordRequestForm2Strict',
  'class OAuth2PasswordRequestForm\n\n::: fastapi.security.OAuth2PasswordRequestFormStrict',
  'A basic HTTP/1.1 client',
  'docker run -u 1000:1000 image',
  'Set-Cookie: theme=dark; Path=/',
  '{"auth": "required"}',
  'token: claude-3-5-sonnet-20241022',
  'max_tokens: 4096, prompt_tokens: 1234',
  'tokenizer.json: da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
  'secret_id: 0cf4addb-7a90-410b-a3a7-a15bbe2b7909',
  'token expires 2026-11-18T05:20:01Z',
  'const accessToken = await getAccessTokenV2FromCache()',
  'sha256:9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3',
  'commit 803a21f2da7e51d8e8bc1a007e73748fab69ee5a',
  'request 550e8400-e29b-41d4-a716-446655440000',
  'chatcmpl-9x8Y7w6V5u4T3s2R1q0P, call_a1B2c3D4e5F6g7H8i9J0k1L2',
  'prompt_cache_key: 5f4dcc3b5aa765d61d8327deb882cf99',
  'integrity: sha512-twhs1C2C/BFkz1yc5OY0KIU2GUq6DURO7hD4bx5Q2Qy3nAMJwRXW8xU3NVczE29VA9lolLOYepoD8fjTGOfIqw==',
  'postgres://user:password@localhost/db and redis://:$REDIS_PASSWORD@cache',
  'Basic authentication and Bearer authentication',
  'https://docs.test/global-load-balancer-glb-concepts-and-settings',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2a1b3c4d5e6f7g8h9i0 user@host',
];

test.each(HARMLESS)('does not redact %s', (text) => {
  expect(redactor.text(text)).toBe(text);
});

test('does not redact embeddings in base64 and texts that are redacted already', () => {
  const embedding = { object: 'embedding', embedding: random(40_000, `${ALPHANUMERIC}+/`) };
  expect(redactor.value(embedding)).toEqual(embedding);
  expect(redactor.text(JSON.stringify(embedding))).toBe(JSON.stringify(embedding));
  const once = redactor.text(KEYS.map((key) => `API_KEY=${key}`).join('\n'));
  expect(redactor.text(once)).toBe(once);
});
