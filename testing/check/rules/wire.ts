// Packets and JSON-RPC: what a server must read, what it must refuse, and what it must write. A server
// that fails here fails for some text, some chunk or some client, and seldom in its own tests.
import { launched, lists, onStage, ready, stageOn } from '../context.ts';
import { describe } from '../inspect.ts';
import { packet } from '../packets.ts';
import type { Wire } from '../wire.ts';
import { expect, type CheckRule } from '../types.ts';

const BASE = 'engine protocol, Messages (LSP base protocol)';
const RPC = 'JSON-RPC 2.0';
/** Bytes, UTF-16 units and characters of it are three different numbers. */
const WIDE = 'Größe 尺寸 📐';

/** Any answer is life: -32601 too. */
async function alive(wire: Wire, after: string): Promise<void> {
  try {
    await wire.request('$/ping');
  } catch (error) {
    throw new Error(`after ${after}: ${(error as Error).message}`, { cause: error });
  }
}

const ping = (id: number | string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: '$/ping' });

export const WIRE_RULES: readonly CheckRule[] = [
  {
    id: 'wire/packets-only',
    title: 'nothing but packets leaves the server: logs and banners go to stderr',
    spec: 'engine protocol, serveEngine',
    watch: 'packet',
    async run(context) {
      const stage = await onStage(context);
      if (lists(context, 'engine/observe')) await stage.observe();
      await stage.endAttempt();
    },
  },
  {
    id: 'wire/length-written',
    title: 'Content-Length of what the server writes counts bytes',
    spec: BASE,
    watch: 'length',
    async run(context) {
      const stage = await onStage(context);
      await stage.wire.request(`check/${WIDE}`);
      if (lists(context, 'engine/perform')) {
        const ref = { id: WIDE, revision: '' };
        await stage.call('engine/perform', { ref, action: { kind: 'tap' } });
      }
      if (lists(context, 'engine/observe')) await stage.observe();
    },
  },
  {
    id: 'wire/length-read',
    title: 'Content-Length of what the server reads counts bytes',
    spec: BASE,
    async run(context) {
      const wire = await ready(context);
      for (let turn = 0; turn < 3; turn += 1) {
        await wire.request('check/unknown', { text: WIDE.repeat(50) });
      }
      await alive(wire, 'text outside ASCII');
    },
  },
  {
    id: 'wire/message-shape',
    title: 'what the server writes is JSON-RPC 2.0',
    spec: RPC,
    watch: 'message',
    async run(context) {
      const stage = await onStage(context);
      await stage.wire.request('check/unknown');
      await stage.endAttempt();
    },
  },
  {
    id: 'wire/one-answer',
    title: 'every request is answered exactly once',
    spec: RPC,
    watch: 'answer',
    async run(context) {
      const wire = await launched(context);
      const stage = stageOn(context, wire);
      const many = Array.from({ length: 64 }, (_, index) =>
        wire.request(index % 2 === 0 ? '$/ping' : 'check/unknown'),
      );
      await Promise.all(many);
      await stage.startAttempt('check-1');
      await stage.endAttempt();
      await wire.quiet();
    },
  },
  {
    id: 'wire/ids',
    title: 'an id comes back as it was, a text as a text and 0 as 0',
    spec: RPC,
    async run(context) {
      const wire = await ready(context);
      const ids = [0, 4711, 2_147_483_647, 'a text', '4711', '', WIDE];
      const answers = ids.map((id) => wire.answerTo(id, '$/ping'));
      for (const id of ids) wire.write(packet(ping(id)));
      await Promise.all(answers);
    },
  },
  {
    id: 'wire/headers',
    title: 'header fields are read in any letter case, with or without blanks, beside others',
    spec: BASE,
    async run(context) {
      const wire = await ready(context);
      const forms: readonly ((length: number) => string)[] = [
        (length) => `content-length: ${length}`,
        (length) => `CONTENT-LENGTH:${length}`,
        (length) => `Content-Length:  ${length} `,
        (length) =>
          `Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: ${length}`,
        (length) => `Content-Length: ${length}\r\nContent-Type: application/vscode-jsonrpc`,
      ];
      for (const form of forms) {
        const id = wire.mintId();
        const body = ping(id);
        const answer = wire.answerTo(id, `a request after ${JSON.stringify(form(body.length))}`);
        wire.write(`${form(body.length)}\r\n\r\n${body}`);
        await answer;
      }
    },
  },
  {
    id: 'wire/cut',
    title: 'a packet may arrive in any number of pieces, cut inside a character too',
    spec: BASE,
    async run(context) {
      const wire = await ready(context);
      const id = wire.mintId();
      const message = { jsonrpc: '2.0', id, method: 'check/unknown', params: { text: WIDE } };
      const answer = wire.answerTo(id, 'a request in single bytes');
      for (const byte of Buffer.from(packet(JSON.stringify(message)))) {
        wire.write(Uint8Array.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await answer;
    },
  },
  {
    id: 'wire/joined',
    title: 'several packets may arrive in one piece',
    spec: BASE,
    async run(context) {
      const wire = await ready(context);
      const ids = Array.from({ length: 5 }, () => wire.mintId());
      const answers = ids.map((id) => wire.answerTo(id, 'a request among five in one piece'));
      wire.write(ids.map((id) => packet(ping(id))).join(''));
      await Promise.all(answers);
    },
  },
  {
    id: 'wire/large',
    title: 'a message of 1 MiB is read whole',
    spec: BASE,
    async run(context) {
      const wire = await ready(context);
      await wire.request('check/unknown', { text: 'x'.repeat(1024 * 1024) });
    },
  },
  {
    id: 'wire/bad-json',
    title:
      'a body that is not JSON is answered with -32700 and id null, and the connection lives on',
    spec: RPC,
    async run(context) {
      const wire = await ready(context);
      wire.write(packet('{"jsonrpc":"2.0","id":1,'));
      const error = await wire.namelessError();
      expect(error.code === -32_700, `broken JSON is -32700, not ${describe(error)}`);
      await alive(wire, 'a body that is not JSON');
    },
  },
  {
    id: 'wire/no-message',
    title: 'null, a number or an array as a body is answered with one -32600 and id null',
    spec: `${RPC}; contract, section 9`,
    async run(context) {
      const wire = await ready(context);
      for (const body of ['null', '42', '[]', `[${ping(1)},${ping(2)}]`]) {
        wire.write(packet(body));
        const error = await wire.namelessError();
        expect(error.code === -32_600, `the body ${body} is -32600, not ${describe(error)}`);
      }
      await alive(wire, 'bodies that are no messages');
    },
  },
  {
    id: 'wire/rubbish',
    title: 'rubbish between packets is skipped, or ends the connection; it never leaves it hanging',
    spec: BASE,
    async run(context) {
      for (const rubbish of ['hello?\r\n', 'Content-Length: abc\r\n\r\n', '\u0000\u0001\r\n\r\n']) {
        const wire = await ready(context);
        wire.lenient = true;
        wire.active = false;
        wire.write(rubbish);
        const answered = wire.request('$/ping').then(
          () => true,
          () => false,
        );
        const skipped = await answered;
        expect(
          skipped || wire.closed,
          `after ${JSON.stringify(rubbish)} a proper request is not answered, and the connection stays open`,
        );
      }
    },
  },
  {
    id: 'wire/unknown-method',
    title: 'an unknown method is answered with -32601',
    spec: RPC,
    async run(context) {
      const wire = await ready(context);
      for (const method of ['check/unknown', 'engine/', 'toString']) {
        const error = await wire.error(method, {});
        expect(error.code === -32_601, `${method} is -32601, not ${describe(error)}`);
      }
    },
  },
  {
    id: 'wire/unknown-let-through',
    title: 'unknown notifications, unknown members and answers to nothing are let through',
    spec: RPC,
    async run(context) {
      const wire = await ready(context);
      wire.notify('check/unknown', { any: 1 });
      wire.notify('$/unknown');
      wire.send({ jsonrpc: '2.0', id: 'nobody', result: 1 });
      const id = wire.mintId();
      const answer = wire.answerTo(id, 'a request with a member that nobody knows');
      wire.send({ jsonrpc: '2.0', id, method: '$/ping', params: { extra: 1 }, extra: { any: 1 } });
      await answer;
      await alive(wire, 'what is unknown');
      await wire.quiet();
      const [error] = wire.nameless;
      expect(error === undefined, 'an error came for what should have been let through');
    },
  },
  {
    id: 'wire/bad-params',
    title: 'params that are not what the method takes are an error, and the connection lives on',
    spec: RPC,
    needs: { methods: ['engine/perform'] },
    async run(context) {
      const { wire } = await onStage(context);
      for (const params of [{}, { ref: 7, action: { kind: 'tap' }, operation: {} }]) {
        await wire.error('engine/perform', params);
      }
      await alive(wire, 'malformed params');
    },
  },
  {
    id: 'wire/no-null',
    title: 'an absent member is left out, never null',
    spec: 'contract, head',
    watch: 'null',
    needs: { methods: ['engine/observe'] },
    async run(context) {
      const stage = await onStage(context);
      await stage.observe();
    },
  },
];
