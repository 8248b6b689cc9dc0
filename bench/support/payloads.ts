// Messages of an exact size, as the protocol has them: small calls, screens, a screenshot in base64.
// Exact, because floors know offsets without looking, and sizes name the rows.

export const KB = 1024;
export const MB = 1024 * KB;

export interface Payload {
  readonly name: string;
  /** Bytes of the body. All of it is ASCII. */
  readonly bytes: number;
  readonly body: string;
  readonly message: { readonly params: object; readonly [member: string]: unknown };
}

/** A notification whose body has exactly `bytes` bytes. */
export function payload(name: string, bytes: number): Payload {
  const make = bytes <= KB ? small : bytes < MB ? screen : picture;
  const empty = JSON.stringify(make('', bytes)).length;
  const message = make(
    'QUJD'.repeat(Math.ceil((bytes - empty) / 4)).slice(0, bytes - empty),
    bytes,
  );
  const body = JSON.stringify(message);
  if (Buffer.byteLength(body) !== bytes) throw new Error(`${name}: ${body.length} bytes`);
  return { name, bytes, body, message };
}

export function packetOf(body: string): Buffer {
  return Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function small(pad: string): Payload['message'] {
  const params = { ref: { id: 'e12', revision: '7' }, action: { type: 'fill', value: pad } };
  return { jsonrpc: '2.0', method: 'perform', params };
}

/** A tree of nodes, about 150 bytes each. */
function screen(pad: string, bytes: number): Payload['message'] {
  const nodes = Array.from({ length: Math.floor((bytes - 250) / 165) }, (_, index) => ({
    ref: { id: `e${index}`, revision: '7' },
    role: index % 3 === 0 ? 'button' : 'text',
    name: `Item ${index} of the list`,
    rect: { x: 16, y: index * 24, width: 320, height: 24 },
    enabled: true,
  }));
  return { jsonrpc: '2.0', method: 'screen', params: { location: pad, root: { children: nodes } } };
}

function picture(pad: string): Payload['message'] {
  const params = { width: 1280, height: 800, encoding: 'base64', data: pad };
  return { jsonrpc: '2.0', method: 'screenshot', params };
}
