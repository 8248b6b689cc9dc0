// The two ends of a round trip, four ways: our peer, vscode-jsonrpc's connection, a raw echo of
// bytes, and an echo that also parses and stringifies. `asker` sends requests and keeps so many in
// flight; `answerer` sends each one's params back. The same bytes cross for all of them.
import type { Readable, Writable } from 'node:stream';
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import { createPeer } from '../../core/protocol/peer.ts';
import type { Work } from './measure.ts';
import { packetOf } from './payloads.ts';

export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

export const WAYS = ['ours', 'rival', 'raw', 'codec'] as const;
export type Way = (typeof WAYS)[number];

const METHOD = 'echo';

/** Answers until its input ends. */
export function answerer(way: Way, streams: Streams, packetBytes: number): void {
  const { input, output } = streams;
  switch (way) {
    case 'ours':
      createPeer({
        streams,
        onRequest: (_method, params) => params,
        onNotification: () => undefined,
      });
      return;
    case 'rival': {
      const connection = connect(streams);
      connection.onRequest(METHOD, (params: unknown) => params);
      connection.listen();
      return;
    }
    case 'raw':
      input.on('data', (chunk: Buffer) => output.write(chunk));
      return;
    case 'codec':
      eachPacket(input, packetBytes, (bodies) => {
        output.write(Buffer.concat(bodies.map((body) => recode(body))));
      });
      return;
  }
}

/** Makes round trips with `inFlight` calls at a time. `request` is the text of one message. */
export function asker(
  way: Way,
  streams: Streams,
  { request, inFlight }: { readonly request: string; readonly inFlight: number },
): Work {
  const { params } = JSON.parse(request) as { params: object };
  switch (way) {
    case 'ours': {
      const peer = createPeer({
        streams,
        onRequest: () => undefined,
        onNotification: () => undefined,
      });
      return inTurns(inFlight, () => peer.request(METHOD, params));
    }
    case 'rival': {
      const connection = connect(streams);
      connection.listen();
      return inTurns(inFlight, () => connection.sendRequest(METHOD, params));
    }
    case 'raw':
      return raw(streams, { packet: packetOf(request), inFlight });
    case 'codec':
      return codec(streams, { request, inFlight });
  }
}

/** The text of a request with a body of `bytes` bytes; its id has four digits. */
export function requestOf(bytes: number): string {
  const make = (text: string): string =>
    JSON.stringify({ jsonrpc: '2.0', id: 1000, method: METHOD, params: { text } });
  return make('x'.repeat(bytes - make('').length));
}

function connect({ input, output }: Streams): MessageConnection {
  return createMessageConnection(new StreamMessageReader(input), new StreamMessageWriter(output));
}

function inTurns(inFlight: number, call: () => Promise<unknown>): Work {
  return async (count) => {
    let left = count;
    const worker = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await call();
      }
    };
    await Promise.all(Array.from({ length: Math.min(inFlight, count) }, worker));
  };
}

/** Counts bytes: as many packets as came back are sent anew, each as a write of its own. */
function raw(
  { input, output }: Streams,
  { packet, inFlight }: { readonly packet: Buffer; readonly inFlight: number },
): Work {
  let onPackets: (count: number) => void = () => undefined;
  let pending = 0;
  input.on('data', (chunk: Buffer) => {
    pending += chunk.length;
    const count = Math.floor(pending / packet.length);
    pending -= count * packet.length;
    if (count > 0) onPackets(count);
  });
  return (total) =>
    windowed(total, inFlight, {
      send: (count) => {
        for (let index = 0; index < count; index += 1) output.write(packet);
      },
      listen: (listener) => {
        onPackets = listener;
      },
    });
}

function codec(
  { input, output }: Streams,
  { request, inFlight }: { readonly request: string; readonly inFlight: number },
): Work {
  const message = JSON.parse(request) as object;
  let onPackets: (count: number) => void = () => undefined;
  eachPacket(input, packetOf(request).length, (bodies) => {
    for (const body of bodies) JSON.parse(body);
    onPackets(bodies.length);
  });
  return (total) =>
    windowed(total, inFlight, {
      send: (count) =>
        output.write(Buffer.concat(Array.from({ length: count }, () => encode(message)))),
      listen: (listener) => {
        onPackets = listener;
      },
    });
}

interface Window {
  send(count: number): void;
  listen(onPackets: (count: number) => void): void;
}

function windowed(total: number, inFlight: number, { send, listen }: Window): Promise<void> {
  return new Promise((resolve) => {
    let unsent = total;
    let unanswered = total;
    const sendUpTo = (count: number): void => {
      const now = Math.min(unsent, count);
      unsent -= now;
      if (now > 0) send(now);
    };
    listen((count) => {
      unanswered -= count;
      if (unanswered === 0) resolve();
      else sendUpTo(count);
    });
    sendUpTo(inFlight);
  });
}

/** Bodies by known offsets. */
function eachPacket(input: Readable, bytes: number, onBodies: (bodies: string[]) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  input.on('data', (chunk: Buffer) => {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const bodies: string[] = [];
    let at = 0;
    for (; at + bytes <= all.length; at += bytes) {
      bodies.push(all.toString('utf8', all.indexOf(0x7b, at), at + bytes));
    }
    rest = all.subarray(at);
    if (bodies.length > 0) onBodies(bodies);
  });
}

function recode(body: string): Buffer {
  return encode(JSON.parse(body) as object);
}

function encode(message: object): Buffer {
  return packetOf(JSON.stringify(message));
}
