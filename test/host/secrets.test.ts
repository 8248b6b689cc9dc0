// Values of secrets: where they come from, who gets them, and that nobody else sees one.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, rejects, suite } from '../harness.ts';
import { createSecret } from '../../core/contract/secrets.ts';
import type { EngineAttemptContext } from '../../core/contract/engine.ts';
import { createRedactor } from '../../core/agent/redaction.ts';
import { credentials, secrets } from '../../core/host/index.ts';
import { createVault, type VaultOptions } from '../../core/host/secrets.ts';
import { createTestEngine, open, settle } from './support.ts';

const test = suite('host secrets');

const { signal } = new AbortController();
const vaultOf = (options: Partial<VaultOptions> & { env?: Record<string, string> }) => {
  const redactor = options.redactor ?? createRedactor();
  const { env = {}, ...rest } = options;
  return createVault({
    credentials: undefined,
    secrets: undefined,
    engineSecrets: [],
    readEnv: (name) => env[name],
    redactor,
    ...rest,
  });
};

test('a user has a plain name and a password handle', async () => {
  const { session } = await open(createTestEngine(), {
    credentials: { member: { username: 'ada', password: 'correct horse' } },
  });
  const member = session.credentials.user('member');
  assert.is(member.name, 'member');
  assert.is(member.username, 'ada');
  assert.is(member.password.purpose, 'password');
  assert.throws(() => JSON.stringify(member), /cannot become JSON/u);
  const error = await rejects(async () => session.credentials.user('membr'));
  assert.is(error.code, 'AUTH_CREDENTIAL_UNAVAILABLE');
  assert.match(error.message, /did you mean "member"/u);
  await session.close();
});

test('a value joins the redaction before anybody has it', async () => {
  const redactor = createRedactor();
  const vault = vaultOf({ redactor, secrets: { token: 'abcdef-123456' } });
  assert.is(redactor.text('abcdef-123456'), 'abcdef-123456');
  const pending = vault.resolve(vault.get('token'), signal);
  assert.is(await pending, 'abcdef-123456');
  assert.is(redactor.text('is abcdef-123456.'), 'is <secret:token>.');
});

test('a provider is called at each use, with a signal that ends the wait', async () => {
  let calls = 0;
  const redactor = createRedactor();
  const vault = vaultOf({
    redactor,
    secrets: { code: { value: () => `code-${(calls += 1)}`, purpose: 'one-time-code' } },
  });
  const code = vault.get('code');
  assert.is(code.purpose, 'one-time-code');
  assert.is(await vault.resolve(code, signal), 'code-1');
  assert.is(await vault.resolve(code, signal), 'code-2');
  assert.is(redactor.text('code-1 code-2'), '<secret:code> <secret:code>');
  const abort = new AbortController();
  const stuck = vaultOf({ secrets: { code: () => new Promise<string>(() => undefined) } });
  const waiting = stuck.resolve(stuck.get('code'), abort.signal);
  const reason = new Error('deadline');
  abort.abort(reason);
  assert.is(await rejects(waiting), reason);
});

test('the environment overrides what is configured', async () => {
  const vault = vaultOf({
    credentials: { 'team-lead': { username: 'ada', password: 'configured' } },
    secrets: { 'api.key': 'configured', unset: undefined },
    engineSecrets: [createSecret('ENGINE')],
    env: {
      E2E_USER_TEAM_LEAD_USERNAME: 'grace',
      E2E_USER_TEAM_LEAD_PASSWORD: 'from the env',
      E2E_SECRET_API_KEY: 'key of the env',
      E2E_SECRET_UNSET: 'now it is set',
      E2E_SECRET_ENGINE: 'for the engine',
      E2E_SECRET_STRANGER: 'not asked for',
    },
  });
  const lead = vault.user('team-lead');
  assert.is(lead.username, 'grace');
  assert.is(await vault.resolve(lead.password, signal), 'from the env');
  assert.is(await vault.resolve(vault.get('api.key'), signal), 'key of the env');
  assert.is(await vault.resolve(vault.get('unset'), signal), 'now it is set');
  assert.is(await vault.resolve(vault.get('ENGINE'), signal), 'for the engine');
  assert.is(vault.has('STRANGER'), false);
});

test('the environment is read when the session opens, and only then', async () => {
  const environment: Record<string, string> = { E2E_SECRET_TOKEN: 'first value' };
  const engine = createTestEngine({ members: { secrets: [createSecret('TOKEN')] } });
  const { session } = await open(engine, { environment });
  environment['E2E_SECRET_TOKEN'] = 'second value';
  await session.attempt(async () => {
    const context = engine.given['startAttempt'] as EngineAttemptContext;
    assert.is(await context.resolveSecret(createSecret('TOKEN')), 'first value');
  });
  await session.close();
});

test('malformed entries are refused without showing a value', () => {
  for (const [options, message] of [
    [{ secrets: { token: 'short' } }, /"secrets.token" must have at least 6/u],
    [{ secrets: { token: '👩👩👩👩👩' } }, /at least 6/u],
    [{ secrets: { token: 7 } }, /"secrets.token" must be a string, a function that answers/u],
    [
      { secrets: { token: { value: 'x'.repeat(9), purpos: 'password' } } },
      /"secrets.token.purpos"/u,
    ],
    [{ secrets: { token: { value: 'x'.repeat(9), purpose: 'pin' } } }, /"secrets.token.purpose"/u],
    [{ secrets: { 'a b': 'x'.repeat(9) } }, /"secrets\[\\"a b\\"\]" must have a name/u],
    [{ credentials: { ada: { password: 'x'.repeat(9) } } }, /"credentials.ada.username"/u],
    [{ credentials: { ada: { username: 'a', password: 'tiny' } } }, /"credentials.ada.password"/u],
    [{ credentials: { ada: { username: 'a', pasword: 'tiny' } } }, /did you mean "password"/u],
    [{ credentials: { ada: { username: 'a', allowedOrigins: 5 } } }, /"credentials.ada.allowed/u],
    [
      {
        credentials: { ada: { username: 'a', password: 'x'.repeat(9) } },
        secrets: { 'ada.password': 'y'.repeat(9) },
      },
      /second value/u,
    ],
  ] as const) {
    assert.throws(
      () => vaultOf(options),
      (error: Error & { code: string }) => {
        assert.match(error.message, message);
        assert.not.match(error.message, /short|tiny|xxxx|yyyy/u);
        return error.code === 'INVALID_CONFIG';
      },
    );
  }
});

test('a value that cannot be had is named by its code', async () => {
  const vault = vaultOf({
    credentials: { ada: { username: 'ada', password: undefined } },
    secrets: {
      none: undefined,
      short: () => 'abc',
      odd: (() => 5) as never,
      broken: () => {
        throw new Error('vault sealed');
      },
    },
  });
  const codeOf = async (name: string): Promise<string> =>
    (await rejects(vault.resolve(vault.get(name), signal))).code as string;
  assert.is(await codeOf('ada.password'), 'AUTH_CREDENTIAL_UNAVAILABLE');
  assert.is(await codeOf('none'), 'SECRET_UNAVAILABLE');
  assert.is(await codeOf('short'), 'SECRET_UNAVAILABLE');
  assert.is(await codeOf('odd'), 'SECRET_UNAVAILABLE');
  const error = await rejects(vault.resolve(vault.get('broken'), signal));
  assert.is(error.cause.message, 'vault sealed');
  const unknown = await rejects(vault.resolve(createSecret('nne'), signal));
  assert.match(unknown.message, /did you mean "none"/u);
});

test('module handles are resolved by name, a user name as it is', async () => {
  const redactor = createRedactor();
  const vault = vaultOf({
    redactor,
    credentials: { ada: { username: 'ada', password: 'correct horse' } },
    secrets: { token: 'abcdef-123456' },
  });
  const ada = credentials.user('ada');
  assert.is(await vault.resolve(ada.username, signal), 'ada');
  assert.is(await vault.resolve(ada.password, signal), 'correct horse');
  assert.is(await vault.resolve(secrets.get('token'), signal), 'abcdef-123456');
  // The user's name is no secret: masking it would blind the agent to the screen.
  assert.is(redactor.text('Hello ada'), 'Hello ada');
  assert.throws(() => secrets.get('no spaces'), /invalid/u);
});

test('a credential keeps where it may be filled', () => {
  const vault = vaultOf({
    credentials: {
      ada: {
        username: 'ada',
        password: 'correct horse',
        allowedOrigins: ['https://id.example/login', 'com.shop / Sign in'],
      },
    },
    secrets: { token: 'abcdef-123456' },
  });
  assert.equal(vault.allowedOrigins('ada.password'), ['https://id.example', 'com.shop / Sign in']);
  assert.is(vault.allowedOrigins('token'), undefined);
});

test('an engine gets the secrets it declares, and its derived forms are masked too', async () => {
  const declared = createSecret('basic');
  const engine = createTestEngine({ members: { secrets: [declared] } });
  const { session, events } = await open(engine, {
    secrets: { basic: 'user:password', other: 'something else' },
  });
  let kept: EngineAttemptContext | undefined;
  await session.attempt(async () => {
    const context = engine.given['startAttempt'] as EngineAttemptContext;
    kept = context;
    const plaintext = await context.resolveSecret(declared, {
      derived: async (value) => [Buffer.from(value).toString('base64')],
    });
    assert.is(plaintext, 'user:password');
    context.appLog({
      level: 'info',
      at: '2026-01-01T00:00:00Z',
      text: `Authorization: Basic ${Buffer.from(plaintext).toString('base64')}`,
    });
    const refused = await rejects(context.resolveSecret(createSecret('other')));
    assert.is(refused.code, 'POLICY_DENIED');
    assert.match(refused.message, /"other" is not declared/u);
    await rejects(
      context.resolveSecret(declared, {
        derived: () => {
          throw new Error('cannot derive');
        },
      }),
      /cannot derive/u,
    );
  });
  const line = events.find((event) => event.type === 'notice' && event.source === 'app');
  assert.is(line?.type === 'notice' ? line.text : '', 'Authorization: Basic <secret:basic>');
  assert.is((await rejects(kept?.resolveSecret(declared) ?? Promise.resolve())).code, 'CANCELLED');
  await session.close();
});

test('errors and events carry no value, not even down their causes', async () => {
  const declared = createSecret('token');
  const engine = createTestEngine({ members: { secrets: [declared] } });
  const { session, events, clock } = await open(engine, { secrets: { token: 'abcdef-123456' } });
  const attempt = session.attempt(async ({ app, keyboard }) => {
    const context = engine.given['startAttempt'] as EngineAttemptContext;
    await context.resolveSecret(declared);
    await app.open();
    engine.fail.set(
      'press Enter',
      new Error('typed abcdef-123456', { cause: new Error('ABCDEF-123456 was refused') }),
    );
    await keyboard.press('Enter');
  });
  const error = await rejects(settle(clock, attempt));
  assert.is(error.code, 'ENGINE_FAILURE');
  for (let cause = error; cause !== undefined; cause = cause.cause) {
    assert.not.match(`${cause.message} ${cause.stack}`, /abcdef-123456/iu);
  }
  assert.match(error.message, /typed <secret:token>/u);
  assert.match(String(error.cause.message), /<secret:token>/u);
  await session.close();
  assert.not.match(JSON.stringify(events), /abcdef-123456/iu);
});

test('an empty variable is an unset one, and a short one is named', async () => {
  const token = { secrets: { token: 'abcdef-123456' } };
  const vault = vaultOf({ ...token, env: { E2E_SECRET_TOKEN: '' } });
  assert.is(await vault.resolve(vault.get('token'), signal), 'abcdef-123456');
  assert.throws(
    () => vaultOf({ ...token, env: { E2E_SECRET_TOKEN: 'abc' } }),
    /^Variable E2E_SECRET_TOKEN must have at least 6 characters/u,
  );
  const unset = vaultOf({ secrets: { 'api-key': undefined } });
  await rejects(unset.resolve(unset.get('api-key'), signal), /or set E2E_SECRET_API_KEY/u);
  const member = { username: 'ada lovelace', password: undefined };
  const users = vaultOf({ credentials: { member }, env: { E2E_USER_MEMBER_USERNAME: 'ada' } });
  assert.is(users.user('member').username, 'ada', 'a user name may be short');
});

test('a credential may name a host as a person writes it, and no wildcard', () => {
  const placesOf = (...allowedOrigins: string[]): readonly string[] | undefined =>
    vaultOf({
      credentials: { ada: { username: 'ada', password: 'correct horse', allowedOrigins } },
    }).allowedOrigins('ada.password');
  assert.equal(placesOf('shop.example'), ['shop.example', 'https://shop.example']);
  assert.equal(placesOf('localhost:3000/login'), ['localhost:3000/login', 'http://localhost:3000']);
  assert.equal(placesOf('*Untitled - Editor'), ['*Untitled - Editor']);
  for (const wildcard of ['*', '*.shop.example', 'https://*.shop.example']) {
    assert.throws(() => placesOf(wildcard), /"credentials.ada.allowedOrigins\[0\]".*no wildcards/u);
  }
});

test('derived forms that are no list of strings mask nothing by the letter', async () => {
  const declared = createSecret('basic');
  const redactor = createRedactor();
  const vault = vaultOf({
    redactor,
    engineSecrets: [declared],
    secrets: { basic: 'user:password' },
  });
  for (const forms of ['letters', [5], undefined]) {
    const derived = (): never => forms as never;
    const error = await rejects(vault.resolveForEngine(declared, { derived }, signal));
    assert.is(error.code, 'ENGINE_FAILURE');
  }
  assert.is(redactor.text('letters'), 'letters');
});

test('names of files carry no value', async () => {
  const declared = createSecret('token');
  let label: string | undefined;
  const engine = createTestEngine({
    members: {
      secrets: [declared],
      artifacts: {
        screenshot: async (given) => {
          label = given;
          return 'none.png';
        },
      },
    },
  });
  const { session } = await open(engine, {
    secrets: { token: 'abcdef-123456' },
    artifactsDir: await mkdtemp(join(tmpdir(), 'enginewright-host-')),
  });
  let dir = '';
  const look = async (): Promise<void> => {
    const context = engine.given['startAttempt'] as EngineAttemptContext;
    await context.resolveSecret(declared);
    dir = context.artifactsDir;
  };
  await rejects(
    session.attempt(async ({ app }) => {
      await look();
      await app.screenshot('after abcdef-123456');
    }),
    /names no file/u,
  );
  assert.match(label ?? '', /^after-secret-token-/u);
  await session.attempt(look, { id: 'as abcdef-123456' });
  assert.not.match(dir, /abcdef/u);
  await session.close();
  await rm(join(dir, '..', '..'), { recursive: true, force: true });
});

test('a secret that spells a keyword or a number breaks no record', async () => {
  const declared = createSecret('word');
  const engine = createTestEngine({ members: { secrets: [declared] } });
  const { session, events } = await open(engine, { secrets: { word: 'passed' } });
  await session.attempt(
    async () => {
      const context = engine.given['startAttempt'] as EngineAttemptContext;
      await context.resolveSecret(declared);
      context.environment({ passed: 'has passed' });
    },
    { title: 'the test that passed' },
  );
  await session.close();
  const finished = events.find((event) => event.type === 'attempt-finished');
  assert.is(finished?.status, 'passed');
  assert.is(finished?.title, 'the test that <secret:word>');
  assert.equal(finished?.environment, { '<secret:word>': 'has <secret:word>' });
});

test.run();
