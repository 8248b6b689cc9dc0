// How a connection opens and closes: the Language Server Protocol's life of one, and the manifest that
// opens it. Each rule has connections of its own, because each ends in another state.
import { isPlainObject } from '../../../core/contract.ts';
import { checkManifest } from '../../../core/protocol/index.ts';
import { initializeParams, launched, ready } from '../context.ts';
import { describe } from '../inspect.ts';
import { CheckFailure, NotApplicable, expect, type CheckRule } from '../types.ts';

const LIFECYCLE = 'engine protocol, Messages: Lifecycle';
const LIFE = 'contract, section 9';

export const HANDSHAKE_RULES: readonly CheckRule[] = [
  {
    id: 'handshake/initialize',
    title: 'initialize answers protocol version 1 and a manifest',
    spec: LIFECYCLE,
    async run(context) {
      const wire = await context.connect();
      const { launchTimeoutMs } = context.limits;
      const result = await wire.result('initialize', initializeParams(context), launchTimeoutMs);
      wire.active = true;
      expect(isPlainObject(result), 'the result of initialize is an object');
      expect(result['protocolVersion'] === 1, 'result.protocolVersion is the number 1');
      expect(isPlainObject(result['manifest']), 'result.manifest is an object');
    },
  },
  {
    id: 'handshake/manifest',
    title: 'the manifest is well-formed',
    spec: 'engine protocol, Messages: Manifest',
    async run(context) {
      const wire = await context.connect();
      const { launchTimeoutMs } = context.limits;
      const result = await wire.result('initialize', initializeParams(context), launchTimeoutMs);
      wire.active = true;
      try {
        checkManifest(isPlainObject(result) ? result['manifest'] : undefined);
      } catch (error) {
        throw new CheckFailure((error as Error).message);
      }
    },
  },
  {
    id: 'handshake/version',
    title: 'any protocolVersion but the number 1 is refused, and the connection waits for exit',
    spec: `${LIFECYCLE}; ${LIFE}`,
    async run(context) {
      for (const protocolVersion of [2, '1']) {
        const wire = await context.connect();
        const params = { ...initializeParams(context), protocolVersion };
        const answer = await wire.request('initialize', params, context.limits.launchTimeoutMs);
        const version = JSON.stringify(protocolVersion);
        if (!('error' in answer)) throw new CheckFailure(`protocolVersion ${version} was accepted`);
        const { code, data } = answer.error;
        const supported = isPlainObject(data) ? data['supported'] : undefined;
        expect(
          code === -32_602 && supported === 1,
          `protocolVersion ${version} is refused with -32602 and data { "supported": 1 }, not ${describe(answer.error)}`,
        );
        const after = await wire.request('shutdown');
        expect('error' in after, 'a request after a refused initialize was answered with a result');
        wire.notify('exit');
        expect(await wire.waitClosed(), 'exit did not close the connection after the refusal');
      }
    },
  },
  {
    id: 'handshake/before-initialize',
    title: 'a request before initialize is refused with -32002, and initialize still works',
    spec: LIFE,
    async run(context) {
      const wire = await context.connect();
      for (const method of ['engine/observe', 'shutdown']) {
        const error = await wire.error(method, {}, context.limits.launchTimeoutMs);
        expect(error.code === -32_002, `${method} is refused with -32002, not ${describe(error)}`);
      }
      await wire.result('initialize', initializeParams(context), context.limits.launchTimeoutMs);
      wire.active = true;
    },
  },
  {
    id: 'handshake/twice',
    title: 'a second initialize is refused with -32600, and the connection lives on',
    spec: LIFE,
    async run(context) {
      const wire = await ready(context);
      const error = await wire.error('initialize', initializeParams(context));
      expect(
        error.code === -32_600,
        `a second initialize is refused with -32600, not ${describe(error)}`,
      );
      await wire.result('shutdown');
      wire.active = false;
    },
  },
  {
    id: 'handshake/shutdown',
    title: 'shutdown answers null, and every request after it is refused with -32600',
    spec: `${LIFECYCLE}; ${LIFE}`,
    async run(context) {
      const wire = await ready(context);
      const result = await wire.result('shutdown');
      wire.active = false;
      expect(result === null, `the result of shutdown is null, not ${JSON.stringify(result)}`);
      for (const method of ['engine/observe', 'shutdown', 'initialize']) {
        const error = await wire.error(method, {});
        expect(
          error.code === -32_600,
          `${method} after shutdown is refused with -32600, not ${describe(error)}`,
        );
      }
    },
  },
  {
    id: 'handshake/exit',
    title: 'exit closes the connection',
    spec: LIFECYCLE,
    async run(context) {
      const wire = await ready(context);
      await wire.result('shutdown');
      wire.active = false;
      wire.notify('exit');
      expect(await wire.waitClosed(), `the connection is open ${limit(context)} after exit`);
    },
  },
  {
    id: 'handshake/exit-code',
    title: 'a spawned server exits with 0 after shutdown and exit, and with 1 without shutdown',
    spec: LIFE,
    async run(context) {
      for (const orderly of [true, false]) {
        const wire = await ready(context);
        if (orderly) await wire.result('shutdown');
        wire.active = false;
        wire.notify('exit');
        expect(await wire.waitClosed(), `the connection is open ${limit(context)} after exit`);
        const code = /exited with code (\d+)/u.exec(wire.diagnostics)?.[1];
        if (code === undefined) throw new NotApplicable('the transport tells no exit code');
        const wanted = orderly ? '0' : '1';
        const how = orderly ? 'after shutdown and exit' : 'after exit without shutdown';
        expect(code === wanted, `the exit code ${how} is ${wanted}, not ${code}`);
      }
    },
  },
  {
    id: 'handshake/stream-end',
    title: 'the server closes when its input ends without a word',
    spec: LIFE,
    async run(context) {
      const wire = await launched(context);
      wire.active = false;
      wire.end();
      expect(
        await wire.waitClosed(),
        `the connection is open ${limit(context)} after its input ended`,
      );
    },
  },
];

const limit = ({ limits }: { readonly limits: { readonly timeoutMs: number } }): string =>
  `${limits.timeoutMs} ms`;
