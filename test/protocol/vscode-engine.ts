// An engine server written with vscode-jsonrpc alone, as somebody would who knows the specification
// and not our code: what the interoperation tests connect to. Run as a program it serves over stdio.
import process from 'node:process';
import {
  createMessageConnection,
  ErrorCodes,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import type { EngineManifest } from '../../core/protocol/types.ts';

/** Text that crosses both ways unharmed: several bytes per character, a header, control characters. */
export const TEXT = 'h\u00e9llo \u4e16\u754c \u{1f600} Content-Length: 5\r\n\r\n\u0000';

export const MANIFEST: EngineManifest = {
  name: 'foreign',
  version: '1.0.0',
  spiVersion: 1,
  platform: 'test',
  methods: [
    'engine/observe',
    'engine/perform',
    'artifacts/screenshot',
    'state/capture',
    'state/restore',
    'lifecycle/init',
    'lifecycle/startAttempt',
    'lifecycle/endAttempt',
    'lifecycle/dispose',
  ],
  actions: ['tap', 'fill'],
};

interface Signalled {
  readonly operation: { readonly signal: { readonly id: number | string } };
}

/** Serves until `exit`; `onExit` then ends what carries it. */
export function serveForeign(connection: MessageConnection, onExit: () => void): void {
  let attemptId = '';
  const aborts = new Map<unknown, (reason: unknown) => void>();
  const failure = (code: string, retryable: boolean, message: string): ResponseError<unknown> =>
    new ResponseError(-32000, message, { type: 'engine', code, retryable });

  connection.onRequest('initialize', ({ protocolVersion }: { protocolVersion: number }) => {
    if (protocolVersion !== 1) throw new ResponseError(ErrorCodes.InvalidParams, 'only 1');
    return { protocolVersion: 1, manifest: MANIFEST };
  });
  connection.onNotification('initialized', () => undefined);
  connection.onRequest('shutdown', () => null);
  connection.onNotification('exit', onExit);
  connection.onRequest('$/ping', () => null);
  connection.onNotification('$/abort', ({ id, reason }: { id: unknown; reason?: unknown }) => {
    aborts.get(id)?.(reason);
  });
  connection.onRequest('lifecycle/init', async () => {
    await connection.sendNotification('engine/log', { line: 'up' });
    return null;
  });
  connection.onRequest('lifecycle/startAttempt', (params: { attemptId: string }) => {
    attemptId = params.attemptId;
    return null;
  });
  connection.onRequest('lifecycle/endAttempt', () => null);
  connection.onRequest('lifecycle/dispose', () => null);
  connection.onRequest('engine/observe', () => ({
    root: {
      ref: { id: 'root', revision: '1' },
      children: [{ ref: { id: 'pay', revision: '1' }, role: 'button', name: TEXT }],
    },
    viewport: { width: 320, height: 240, scale: 1 },
  }));
  connection.onRequest('artifacts/screenshot', () => ({
    data: png(3, 2).toString('base64'),
    mediaType: 'image/png',
  }));
  let state: unknown;
  connection.onRequest('state/capture', () => state);
  connection.onRequest('state/restore', (params: { state: unknown }) => {
    ({ state } = params);
    return null;
  });
  connection.onRequest('engine/perform', async (params: Signalled & { ref: { id: string } }) => {
    const { id } = params.ref;
    if (id === 'stale') throw failure('NODE_STALE', true, 'pay is gone');
    if (id === 'broken') throw new ResponseError(ErrorCodes.InternalError, 'it broke');
    if (id === 'secret') {
      const answer = await connection.sendRequest<{ value: string }>('attempt/resolveSecret', {
        attemptId,
        name: 'pin',
      });
      await connection.sendNotification('attempt/appLog', {
        attemptId,
        entry: { level: 'info', text: `typed ${answer.value.length}`, at: '2026-01-01T00:00:00Z' },
      });
    }
    if (id === 'wait') {
      return await new Promise((_resolve, reject) => {
        aborts.set(params.operation.signal.id, (reason) => {
          const { code, message, data } = reason as {
            code: number;
            message: string;
            data: unknown;
          };
          reject(new ResponseError(code, message, data));
        });
      });
    }
    return null;
  });
}

/** The least that has a PNG's signature and header. */
function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(33);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

if (process.argv[2] === 'serve-foreign') {
  const connection = createMessageConnection(
    new StreamMessageReader(process.stdin),
    new StreamMessageWriter(process.stdout),
  );
  serveForeign(connection, () => process.exit(0));
  connection.onClose(() => process.exit(0));
  connection.listen();
}
