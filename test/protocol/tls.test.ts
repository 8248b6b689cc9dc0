// TLS on real sockets: who is trusted and who is not, each with a message that says what to do; and
// the two mistakes of everybody's first day, TLS to a plain port and the other way around.
import { createServer, type Server as PlainServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { tmpdir } from 'node:os';
import type { EngineHandle } from '../../core/contract/engine.ts';
import type { ListenTlsOptions } from '../../core/protocol/server/listen-options.ts';
import { tlsTransport, type TlsTransportOptions } from '../../core/protocol/transports/tls.ts';
import type { TransportContext } from '../../core/protocol/transports/types.ts';
import { assert, rejects, skipFile, suite } from '../harness.ts';
import { makeCertificates } from '../support/certificates.ts';
import { cleanup, initInfo, operation, until } from './engine-support.ts';
import {
  clientOf,
  hello,
  lineThat,
  listen,
  rawClient,
  type TestListener,
} from './listen-support.ts';

const made = makeCertificates();
if (made === undefined) skipFile('no openssl on this machine');
const certificates = made;

const test = suite('tls', { timeoutMs: 20_000 });
test.after(() => certificates.remove());

const { ca, server, client, device, elsewhere, otherCa, stranger } = certificates;
const CERT = { cert: server.cert, key: server.key };

function over(port: number, options: Partial<TlsTransportOptions> = {}): EngineHandle {
  return clientOf(port, {
    transport: tlsTransport({ host: '127.0.0.1', port, ca: ca.cert, ...options }),
  });
}

const context = (signal = new AbortController().signal): TransportContext => ({
  role: 'worker',
  env: {},
  cwd: tmpdir(),
  signal,
});

/** Runs a body against a TLS listener, and closes it. */
async function withServer(
  tls: ListenTlsOptions,
  body: (server: TestListener) => Promise<void>,
  host = '127.0.0.1',
): Promise<void> {
  const listening = await listen({ tls, host });
  try {
    await body(listening);
  } finally {
    await listening.listener.close({ drainMs: 0 });
  }
}

async function works(handle: EngineHandle): Promise<void> {
  await handle.init?.(initInfo());
  assert.is((await handle.observe?.(operation()))?.root.ref.id, 'root');
  await handle.dispose?.(cleanup());
}

async function fails(handle: EngineHandle, pattern: RegExp): Promise<string> {
  const error = await rejects(() => handle.init?.(initInfo()), pattern);
  assert.is(error.code, 'ENGINE_FAILURE');
  return error.message as string;
}

test('a server of a trusted CA, by address and by name', () =>
  withServer(CERT, async ({ port, lines }) => {
    await works(over(port));
    await works(over(port, { host: 'localhost' }));
    await works(over(port, { serverName: 'localhost' }));
    await works(over(port, { serverName: '127.0.0.1' }));
    await works(over(port, { ca: [otherCa.cert, Buffer.from(ca.cert)] }));
    assert.is(lines.length, 5);
  }));

test('IPv6', async () => {
  try {
    await withServer(
      CERT,
      async ({ port }) => {
        await works(over(port, { host: '::1' }));
        await works(over(port, { host: '[::1]' }));
      },
      '::1',
    );
  } catch (error) {
    // A machine without IPv6 cannot tell.
    assert.match(String(error), /EADDRNOTAVAIL|EAFNOSUPPORT/);
  }
});

test('an untrusted CA, and a certificate that signed itself', async () => {
  await withServer(CERT, async ({ port, lines }) => {
    const message = await fails(over(port, { ca: otherCa.cert }), /no trusted CA signed/);
    assert.match(message, new RegExp(`127\\.0\\.0\\.1:${port}`));
    assert.match(message, /pass its CA as ca, or pin its fingerprint/);
    assert.match(message, /\(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)/);
    await until(() => lines.length === 1, AbortSignal.timeout(5000));
  });
  await withServer({ cert: device.cert, key: device.key }, async ({ port }) => {
    const transport = tlsTransport({ host: '127.0.0.1', port });
    const error = await rejects(transport.open(context()), /no trusted CA signed/);
    assert.is(error.code, 'DEPTH_ZERO_SELF_SIGNED_CERT');
    assert.is(error.cause.code, 'DEPTH_ZERO_SELF_SIGNED_CERT');
  });
});

test('the environment cannot switch the check off', () =>
  withServer(CERT, async ({ port }) => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await fails(over(port, { ca: otherCa.cert }), /no trusted CA signed/);
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  }));

test('a certificate for another name', () =>
  withServer({ cert: elsewhere.cert, key: elsewhere.key }, async ({ port }) => {
    await works(over(port, { serverName: 'other.test' }));
    await fails(over(port), /certificate of the server is not for "127\.0\.0\.1".*serverName/);
    await fails(over(port, { serverName: '127.0.0.1' }), /is not for "127\.0\.0\.1"/);
    await fails(over(port, { serverName: 'third.test' }), /not for "third\.test".*ALTNAME_INVALID/);
  }));

test('a pinned fingerprint stands for a CA, or beside one', () =>
  withServer({ cert: device.cert, key: device.key }, async ({ port }) => {
    const pin = (options: Partial<TlsTransportOptions>): EngineHandle =>
      clientOf(port, { transport: tlsTransport({ host: '127.0.0.1', port, ...options }) });
    await works(pin({ fingerprint: device.fingerprint }));
    await works(pin({ fingerprint: device.fingerprint.replaceAll(':', '').toLowerCase() }));
    await works(pin({ fingerprint: `SHA256:${device.fingerprint}` }));
    const wrong = await fails(pin({ fingerprint: server.fingerprint }), /is not the one expected/);
    assert.ok(wrong.includes(device.fingerprint), 'it shows what the server has');
    const both = { fingerprint: device.fingerprint, ca: device.cert };
    await works(pin({ ...both, serverName: 'device.test' }));
    await fails(pin(both), /is not for "127\.0\.0\.1"/);
    await fails(pin({ ...both, ca: ca.cert }), /no trusted CA signed/);
    const named = { fingerprint: device.fingerprint, serverName: 'device.test' };
    await fails(pin(named), /no trusted CA signed/);
    await fails(
      pin({ ...both, serverName: 'device.test', fingerprint: ca.fingerprint }),
      /not the pinned one/,
    );
  }));

test('a wrong pin is refused before anything is sent', () =>
  withServer({ cert: device.cert, key: device.key }, async ({ port, seen, lines }) => {
    const transport = tlsTransport({ host: '127.0.0.1', port, fingerprint: ca.fingerprint });
    await rejects(transport.open(context()), /not the pinned one/);
    await until(() => lines.length === 1, AbortSignal.timeout(5000));
    assert.is(seen.made, 0);
  }));

test('client certificates: demanded, missing, of another CA, and named in the log', ({ signal }) =>
  withServer({ ...CERT, ca: ca.cert }, async ({ port, lines, seen, listener }) => {
    const known = over(port, { cert: client.cert, key: client.key });
    await known.init?.(initInfo());
    assert.is(listener.connections[0]?.certificate, 'tester');
    await known.dispose?.(cleanup());
    await lineThat(lines, /\(certificate "tester"\) at 127\.0\.0\.1:\d+ worker ended/, signal);
    assert.is(seen.made, 1);
    await fails(over(port), /demands a client certificate: pass cert and key/);
    await lineThat(lines, /TLS could not be set up \(ERR_SSL_PEER_DID_NOT_RETURN/, signal);
    const unknown = over(port, { cert: stranger.cert, key: stranger.key });
    await fails(unknown, /if it demands client certificates, its CA may not be the one/);
    await until(() => lines.length === 3, signal);
    assert.is(seen.made, 1);
  }));

test('a session of TLS cannot be taken up again to get around the certificate', () =>
  withServer({ ...CERT, ca: ca.cert }, async ({ port, seen }) => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const sessions: Buffer[] = [];
      for (let round = 0; round < 2; round += 1) {
        const session = sessions.at(-1);
        const socket = tlsConnect({
          host: '127.0.0.1',
          port,
          ca: ca.cert,
          minVersion: version,
          maxVersion: version,
          ...(session !== undefined && { session }),
        });
        socket.on('error', () => undefined);
        socket.on('session', (one) => sessions.push(one));
        socket.once('secureConnect', () => {
          const body = JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'initialize',
            params: hello(),
          });
          socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
        });
        let text = '';
        socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
        await new Promise((resolve) => socket.once('close', resolve));
        assert.is(text, '');
      }
    }
    assert.is(seen.made, 0);
  }));

test('a handshake that never ends, and silence after it, are dropped in time', async ({
  signal,
}) => {
  const { listener, port, lines, seen } = await listen({ tls: CERT, helloTimeoutMs: 300 });
  const half = await rawClient(port);
  half.socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]));
  await half.ended;
  half.socket.destroy();
  const silent = tlsConnect({ host: '127.0.0.1', port, ca: ca.cert });
  silent.on('error', () => undefined);
  await new Promise((resolve) => silent.once('close', resolve));
  await until(() => lines.length === 2, signal);
  for (const line of lines) assert.match(line, /not let in within 300 ms|HANDSHAKE_TIMEOUT/);
  await listener.close();
  assert.is(seen.made, 0);
});

test('a plain client at a TLS server reads what is wrong', ({ signal }) =>
  withServer(CERT, async ({ port, lines }) => {
    await fails(clientOf(port), /This engine server speaks TLS only: use tlsTransport/);
    await lineThat(lines, /127\.0\.0\.1:\d+ does not speak TLS$/, signal);
    const http = await rawClient(port);
    http.write('GET / HTTP/1.1\r\n\r\n');
    assert.match(JSON.stringify(await http.receive()), /speaks TLS only/);
    await http.ended;
    http.socket.destroy();
  }));

test('a TLS client at a plain server reads what is wrong, whoever the server is', async ({
  signal,
}) => {
  const plain = await listen();
  await fails(over(plain.port), /does not speak TLS.*use socketTransport \(ERR_SSL_WRONG_VERSION/);
  await lineThat(plain.lines, /speaks TLS, which this server does not$/, signal);
  await plain.listener.close();
  const ending: PlainServer = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.resume();
    socket.end();
  });
  await new Promise<void>((resolve) => ending.listen(0, '127.0.0.1', resolve));
  const { port } = ending.address() as AddressInfo;
  await fails(over(port), /ended the connection while it was being encrypted.*\(ECONNRESET\)/);
  await new Promise((resolve) => ending.close(resolve));
});

test('a server that accepts and says nothing is given up; an abort ends the wait', async () => {
  const sockets = new Set<{ destroy(): void }>();
  const silent = createServer((socket) => {
    socket.on('error', () => undefined);
    sockets.add(socket);
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const transport = tlsTransport({ host: '127.0.0.1', port, connectTimeoutMs: 50 });
  const error = await rejects(transport.open(context()), /did not accept the connection within 50/);
  assert.is(error.code, 'ETIMEDOUT');
  const patient = tlsTransport({ host: '127.0.0.1', port });
  const controller = new AbortController();
  const opening = patient.open(context(controller.signal));
  const reason = new Error('enough');
  controller.abort(reason);
  assert.is(await rejects(opening), reason);
  assert.is(await rejects(patient.open(context(AbortSignal.abort(reason)))), reason);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
  const refused = await rejects(transport.open(context()), /nothing listens there.*ECONNREFUSED/);
  assert.is(refused.code, 'ECONNREFUSED');
});

test('malformed options are refused, by name', () => {
  const bad = (options: object): void =>
    void tlsTransport({ host: 'a', port: 1, ...options } as TlsTransportOptions);
  assert.throws(() => bad({ host: '' }), /tlsTransport needs host and port/);
  assert.throws(() => bad({ port: 0 }), /port must be 1 to 65535/);
  assert.throws(() => bad({ fingerprnt: 'x' }), /did you mean "fingerprint"/);
  assert.throws(() => bad({ fingerprint: 'AB:CD' }), /64 hexadecimal digits/);
  assert.throws(() => bad({ cert: client.cert }), /cert and key go together/);
  assert.throws(() => bad({ ca: '/etc/ca.pem' }), /ca must be PEM text.*readFileSync/);
  const mismatch = { cert: client.cert, key: server.key };
  assert.throws(() => bad(mismatch), /do not fit together or cannot be read/);
  assert.throws(() => bad({ connectTimeoutMs: -1 }), /connectTimeoutMs/);
});

test('malformed certificates of a listener are refused before it listens', async () => {
  const refuses = (tls: object, pattern: RegExp): Promise<unknown> =>
    rejects(listen({ tls: tls as ListenTlsOptions }), pattern);
  await refuses({ cert: server.certFile, key: server.key }, /tls\.cert must be PEM/);
  await refuses({ cert: server.cert }, /tls\.key must be PEM/);
  await refuses({ ...CERT, caa: 'x' }, /did you mean "ca"/);
  const error = await rejects(
    listen({ tls: { cert: server.cert, key: client.key } }),
    /do not fit/,
  );
  assert.is(error.code, 'INVALID_CONFIG');
});

test.run();
