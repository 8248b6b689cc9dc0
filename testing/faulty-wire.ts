// What a server can get wrong on the wire, one entry a fault: packets, ids, answers, the life of a
// connection. Each is a few lines between the two ends of a connection: what the client writes on its
// way in, what the server writes on its way out.

export type Json = Record<string, unknown>;

/** One connection between the ends, as a fault sees it. */
export interface Middle {
  /** Writes to the client: a message in its packet, or bytes as they are. */
  write(out: Json | string): void;
  /** Closes the connection. */
  end(): void;
  /** What the fault remembers of this connection. */
  readonly notes: Map<string, unknown>;
}

export interface WireFault {
  readonly says: string;
  /** A chunk of the client; answers what goes on instead, `undefined` to swallow it. */
  toServer?(chunk: string, message: Json | undefined, middle: Middle): string | undefined;
  /** A message of the server; answers whether it goes on as it is. */
  toClient?(message: Json, middle: Middle): boolean;
  /** The server does not hear that its input ended. */
  readonly deafToEnd?: true;
}

export const packet = (body: string, length = Buffer.byteLength(body)): string =>
  `Content-Length: ${length}\r\n\r\n${body}`;
export const framed = (message: Json): string => packet(JSON.stringify(message));

/** Replaces a message of the server where `change` answers another one. */
const changing =
  (change: (message: Json) => Json | undefined): NonNullable<WireFault['toClient']> =>
  (message, middle) => {
    const changed = change(message);
    if (changed !== undefined) middle.write(changed);
    return changed === undefined;
  };

/** Answers a request of a method itself. */
const answering =
  (wanted: (method: string) => boolean, answer: Json): NonNullable<WireFault['toServer']> =>
  (chunk, message, middle) => {
    if (typeof message?.['method'] !== 'string' || message['id'] === undefined) return chunk;
    if (!wanted(message['method'])) return chunk;
    middle.write({ jsonrpc: '2.0', id: message['id'], ...answer });
    return undefined;
  };

const errorOf = (message: Json): Json | undefined => message['error'] as Json | undefined;
const isUnknown = (method: string): boolean => method.startsWith('check/');
/** Remembers the method of each request under its id. */
const note = (message: Json | undefined, { notes }: Middle): void => {
  if (message?.['id'] !== undefined) notes.set(JSON.stringify(message['id']), message['method']);
};
const methodOf = (message: Json, { notes }: Middle): unknown =>
  notes.get(JSON.stringify(message['id']));

/** The manifest with other methods, in the answer to `initialize`. */
const methods = (change: (listed: readonly string[]) => readonly string[]) =>
  changing((message) => {
    const result = message['result'] as Json | null | undefined;
    const manifest = result?.['manifest'] as Json | undefined;
    if (manifest === undefined) return undefined;
    const listed = change(manifest['methods'] as string[]);
    return { ...message, result: { ...result, manifest: { ...manifest, methods: listed } } };
  });

const TABLE = {
  printsOnStdout: {
    says: 'a line is printed between packets',
    toClient(_message, middle) {
      middle.write('kiosk is ready\n');
      return true;
    },
  },
  lengthInCharacters: {
    says: 'Content-Length counts characters',
    toClient(message, middle) {
      const body = JSON.stringify(message);
      middle.write(packet(body, [...body].length));
      return false;
    },
  },
  answersTwice: {
    says: 'answers are sent twice',
    toClient(message, middle) {
      if (message['id'] !== undefined) middle.write(message);
      return true;
    },
  },
  noAnswer: {
    says: 'an unknown method gets no answer',
    toServer: (chunk, message) => (isUnknown(String(message?.['method'])) ? undefined : chunk),
  },
  idAsText: {
    says: 'ids come back as texts',
    toClient: changing((message) =>
      typeof message['id'] === 'number' ? { ...message, id: String(message['id']) } : undefined,
    ),
  },
  noVersionMember: {
    says: 'messages lack "jsonrpc"',
    toClient: changing(({ jsonrpc: _left, ...rest }) => rest),
  },
  retryableCommit: {
    says: 'every error claims to be retryable',
    toClient: changing((message) => {
      const error = errorOf(message);
      const data = error?.['data'] as Json | undefined;
      if (data?.['type'] !== 'engine') return undefined;
      const code = data['code'] === 'NOT_ACTIONABLE' ? 'ACTION_MAY_HAVE_COMMITTED' : data['code'];
      return { ...message, error: { ...error, data: { ...data, code, retryable: true } } };
    }),
  },
  errorWithoutData: {
    says: 'errors of the engine carry no data',
    toClient: changing((message) => {
      const error = errorOf(message);
      if (error?.['code'] !== -32_000) return undefined;
      return { ...message, error: { code: -32_000, message: error['message'] } };
    }),
  },
  nullMember: {
    says: 'absent members are null',
    toClient: changing((message) => {
      const result = message['result'] as Json | null | undefined;
      if (result?.['root'] === undefined) return undefined;
      return { ...message, result: { ...result, truncated: null } };
    }),
  },
  reportsAfterEnd: {
    says: 'attempt/* is sent after endAttempt was answered',
    toServer(chunk, message, middle) {
      note(message, middle);
      return chunk;
    },
    toClient(message, middle) {
      if (methodOf(message, middle) !== 'lifecycle/endAttempt') return true;
      middle.write(message);
      const params = { attemptId: 'check-1', line: 'late' };
      middle.write({ jsonrpc: '2.0', method: 'attempt/navigation', params });
      return false;
    },
  },
  listedUnanswered: {
    says: 'a method that the manifest lists is unknown',
    toClient: methods((listed) => [...listed, 'session/back']),
  },
  unlistedAnswered: {
    says: 'a method that is answered is not in the manifest',
    toClient: methods((listed) => listed.filter((method) => method !== 'session/restart')),
  },
  unknownListed: {
    says: 'the manifest lists a method that there is not',
    toClient: methods((listed) => [...listed, 'session/forward']),
  },
  version2Accepted: {
    says: 'protocol version 2 is accepted',
    toServer(chunk, message) {
      const params = message?.['params'] as Json | undefined;
      if (params?.['protocolVersion'] !== 2) return chunk;
      return framed({ ...message, params: { ...params, protocolVersion: 1 } });
    },
  },
  answersBeforeInitialize: {
    says: 'shutdown is answered before initialize',
    toServer(chunk, message, middle) {
      if (message?.['method'] === 'initialize') middle.notes.set('initialized', true);
      if (message?.['method'] !== 'shutdown' || middle.notes.has('initialized')) return chunk;
      middle.write({ jsonrpc: '2.0', id: message['id'], result: null });
      return undefined;
    },
  },
  initializesTwice: {
    says: 'a second initialize is answered as the first',
    toServer(chunk, message, middle) {
      if (message?.['method'] !== 'initialize') return chunk;
      if (!middle.notes.has('initialized')) {
        middle.notes.set('initialized', true);
        return chunk;
      }
      const result = { protocolVersion: 1, manifest: {} };
      middle.write({ jsonrpc: '2.0', id: message['id'], result });
      return undefined;
    },
  },
  shutdownAnswersObject: {
    says: 'shutdown answers an object',
    toServer: answering((method) => method === 'shutdown', { result: {} }),
  },
  exitIgnored: {
    says: 'exit does not close the connection',
    toServer: (chunk, message) => (message?.['method'] === 'exit' ? undefined : chunk),
  },
  batchAnswered: {
    says: 'a batch is answered message by message',
    toServer(chunk, message, middle) {
      if (!chunk.includes('\r\n\r\n[{')) return chunk;
      for (const id of [1, 2]) middle.write({ jsonrpc: '2.0', id, result: null });
      return undefined;
    },
  },
  brokenJsonIgnored: {
    says: 'a body that is not JSON is passed over in silence',
    toServer: (chunk, message) =>
      message === undefined && chunk.includes('\r\n\r\n{') ? undefined : chunk,
  },
  brokenJsonEnds: {
    says: 'a body that is not JSON ends the connection',
    toServer(chunk, message, middle) {
      if (message !== undefined || !chunk.includes('\r\n\r\n{')) return chunk;
      middle.end();
      return undefined;
    },
  },
  unknownAnswered: {
    says: 'unknown methods are answered with null',
    toServer: answering(isUnknown, { result: null }),
  },
  unknownInternal: {
    says: 'unknown methods are internal errors',
    toServer: answering(isUnknown, { error: { code: -32_603, message: 'KeyError' } }),
  },
  notificationAnswered: {
    says: 'an unknown notification is answered with an error',
    toServer(chunk, message, middle) {
      if (message?.['id'] !== undefined || !isUnknown(String(message?.['method']))) return chunk;
      const error = { code: -32_601, message: 'unknown' };
      middle.write({ jsonrpc: '2.0', id: null, error });
      return undefined;
    },
  },
  headerByLetter: {
    says: 'only the header "Content-Length: " is read',
    toServer: (chunk, message) =>
      message === undefined && /^content-(?:length|type)/iu.test(chunk) ? undefined : chunk,
  },
  chunkIsPacket: {
    says: 'every chunk is taken for a packet',
    toServer: (chunk, message) => (message === undefined ? undefined : chunk),
  },
  abortRemembered: {
    says: 'an aborted id is never forgotten',
    toServer(chunk, message, { notes }) {
      const params = message?.['params'] as Json | undefined;
      if (message?.['method'] === '$/abort') notes.set(`aborted ${String(params?.['id'])}`, true);
      const operation = params?.['operation'] as Json | undefined;
      const signal = operation?.['signal'] as Json | undefined;
      if (!notes.has(`aborted ${String(signal?.['id'])}`)) return chunk;
      const late = { ...operation, signal: { ...signal, aborted: true } };
      return framed({ ...message, params: { ...params, operation: late } });
    },
  },
  versionAsText: {
    says: 'initialize answers the version as a text',
    toClient: changing((message) => {
      const result = message['result'] as Json | null | undefined;
      if (result?.['manifest'] === undefined) return undefined;
      return { ...message, result: { ...result, protocolVersion: '1' } };
    }),
  },
  endUnheard: {
    says: 'the server goes on when its input has ended',
    toServer: (chunk) => chunk,
    deafToEnd: true,
  },
  readsCharacters: {
    says: 'lengths of what is read are taken for characters',
    toServer(chunk, message) {
      const body = JSON.stringify(message);
      return message === undefined ? chunk : packet(body, body.length);
    },
  },
  largeLost: {
    says: 'messages above 64 KiB are lost',
    toServer: (chunk) => (chunk.length > 65_536 ? undefined : chunk),
  },
  rubbishHangs: {
    says: 'after rubbish nothing is read any more',
    toServer(chunk, message, { notes }) {
      if (message === undefined) notes.set('stuck', true);
      return notes.has('stuck') ? undefined : chunk;
    },
  },
  badParamsUnanswered: {
    says: 'a request with malformed params gets no answer',
    toServer(chunk, message) {
      const params = message?.['params'] as Json | undefined;
      const missing = message?.['method'] === 'engine/perform' && params?.['ref'] === undefined;
      return missing ? undefined : chunk;
    },
  },
  answersObjects: {
    says: 'methods that return nothing answer an object',
    toClient: changing((message) =>
      message['result'] === null ? { ...message, result: {} } : undefined,
    ),
  },
} satisfies Record<string, WireFault>;

export type ServerFault = keyof typeof TABLE;

export const WIRE_FAULTS: Readonly<Record<ServerFault, WireFault>> = TABLE;

/** Each fault of the wire, and what it does. */
export const SERVER_FAULTS: Readonly<Record<ServerFault, string>> = Object.freeze(
  Object.fromEntries(Object.entries(TABLE).map(([name, { says }]) => [name, says])),
) as Readonly<Record<ServerFault, string>>;
