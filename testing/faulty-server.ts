// A server around the faulty engine, on connections in memory, that can also break what `serveEngine`
// never does: a fault of faulty-wire.ts sits between its ends.
import { PassThrough, Writable } from 'node:stream';
import { serveEngine, type EngineTransport } from '../core/protocol/index.ts';
import { createPacketReader } from './check/packets.ts';
import { ENGINE_FAULTS, faultyEngine, type EngineFault } from './faulty-engine.ts';
import {
  framed,
  packet,
  WIRE_FAULTS,
  type Json,
  type Middle,
  type ServerFault,
  type WireFault,
} from './faulty-wire.ts';

/** A transport to the faulty engine; each connection gets one of its own. No fault: a healthy one. */
export function faultyTransport(fault?: EngineFault | ServerFault): EngineTransport {
  const own = fault !== undefined && Object.hasOwn(ENGINE_FAULTS, fault);
  const faults = own ? [fault as EngineFault] : [];
  const wire: WireFault =
    fault === undefined || own ? { says: '' } : WIRE_FAULTS[fault as ServerFault];
  return {
    label: fault ?? 'healthy',
    async open() {
      const server = { input: new PassThrough(), output: new PassThrough() };
      const served = serveEngine(() => faultyEngine(faults), server, { localArtifacts: true });
      const client = between(server, wire);
      // The server's end, also by `exit`, is the client's.
      const over = served.then(() => client.input.push(null));
      return {
        ...client,
        async close() {
          server.input.end();
          await over;
          for (const { input, output } of [client, server]) {
            input.destroy();
            output.destroy();
          }
        },
      };
    },
  };
}

function between(
  server: { readonly input: PassThrough; readonly output: PassThrough },
  fault: WireFault,
): { readonly input: PassThrough; readonly output: Writable } {
  const input = new PassThrough();
  const write = (bytes: string | Uint8Array): void => {
    if (!input.writableEnded && !input.destroyed) input.write(bytes);
  };
  const middle: Middle = {
    write: (out) => {
      write(typeof out === 'string' ? out : framed(out));
    },
    end: () => {
      input.end();
    },
    notes: new Map(),
  };
  const reader = createPacketReader();
  server.output.on('data', (chunk: Buffer) => {
    if (fault.toClient === undefined) {
      write(chunk);
      return;
    }
    for (const event of reader.feed(chunk)) {
      if (event.kind !== 'body') continue;
      if (fault.toClient(event.value as Json, middle)) write(packet(event.text));
    }
  });
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const text = chunk.toString('utf8');
      const onward =
        fault.toServer === undefined ? chunk : fault.toServer(text, soleMessage(text), middle);
      if (onward !== undefined) server.input.write(onward === text ? chunk : onward);
      done();
    },
    final(done) {
      if (fault.deafToEnd !== true) server.input.end();
      done();
    },
  });
  return { input, output };
}

/** The message of a chunk that is one whole packet. */
function soleMessage(chunk: string): Json | undefined {
  const match = /^Content-Length: (\d+)\r\n\r\n(.*)$/su.exec(chunk);
  if (match === null || Buffer.byteLength(match[2] ?? '') !== Number(match[1])) return undefined;
  try {
    const value: unknown = JSON.parse(match[2] ?? '');
    return typeof value === 'object' && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
