// The transport policy against a real server on 127.0.0.1 that misbehaves. Waits go to a clock that
// notes them and lets them pass at once; silence passes when a test says so. Nothing here depends on
// how fast the machine is.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { openaiChat, type OpenAIChatOptions } from '../../adapters/models/openai-chat.ts';
import { redactor, safeCause } from '../../adapters/models/redact.ts';
import { backoff, parseDuration, waitHint } from '../../adapters/models/retry.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../core/base/version.ts';
import manifest from '../../package.json' with { type: 'json' };
import { systemClock } from '../../core/base/clock.ts';
import { assert, rejects, suite } from '../harness.ts';

const KEY = 'sk-very-secret-key-0123456789';
const ANSWER = JSON.stringify({
  model: 'm',
  choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }],
});
const REQUEST = {
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  toolChoice: 'auto',
  maxOutputTokens: 10,
} as const;

type Reply = (response: ServerResponse, request: IncomingMessage, bench: Bench) => void;
const STALL_MS = 77_777;

interface Bench {
  /** The waits before retries, ms. */
  readonly waits: readonly number[];
  /** Requests that arrived. */
  readonly count: number;
  /** Timers that have neither fired nor been cancelled. */
  readonly pending: number;
  /** Lets the limit on silence pass. */
  stall(): void;
  /** Is called instead of letting a wait pass. */
  onWait: (() => void) | undefined;
  ask(
    options?: Partial<OpenAIChatOptions>,
    signal?: AbortSignal,
  ): Promise<{ text: string; requests: number }>;
}

/** A server that gives one reply after another; the last one again and again. */
async function bench(
  replies: readonly Reply[],
  act: (bench: Bench) => Promise<void>,
): Promise<void> {
  const waits: number[] = [];
  const timers = new Set<{ readonly ms: number; fire(): void }>();
  let count = 0;
  const server: Server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const reply = replies[Math.min(count, replies.length - 1)];
      count += 1;
      reply?.(response, request, self);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const clock = {
    now: systemClock.now,
    iso: () => '2026-01-01T00:00:00.000Z',
    setTimer(ms: number, callback: () => void) {
      const timer = {
        ms,
        fire() {
          if (timers.delete(timer)) callback();
        },
      };
      timers.add(timer);
      if (ms !== STALL_MS) {
        waits.push(ms);
        setImmediate(self.onWait ?? timer.fire);
      }
      return () => {
        timers.delete(timer);
      };
    },
  };
  const self: Bench = {
    waits,
    get count() {
      return count;
    },
    get pending() {
      return timers.size;
    },
    stall() {
      for (const timer of timers) if (timer.ms === STALL_MS) timer.fire();
    },
    onWait: undefined,
    ask(options = {}, signal = new AbortController().signal) {
      const model = openaiChat({
        model: 'm-1',
        baseUrl: `http://127.0.0.1:${port}/v1`,
        apiKey: KEY,
        clock,
        stallMs: STALL_MS,
        random: () => 0,
        ...options,
      });
      return model.generate(REQUEST, { signal });
    },
  };
  try {
    await act(self);
    assert.is(self.pending, 0, 'a timer is left');
  } finally {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}
const reply =
  (status: number, body: string, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };
const ok = reply(200, ANSWER);
const errorBody = (error: object): string => JSON.stringify({ error });

const retries = suite('model transport: retries');
for (const status of [408, 409, 429, 500, 502, 503, 504, 529]) {
  retries(`${status} is sent again`, async () => {
    await bench([reply(status, '{}'), ok], async ({ ask }) => {
      const answer = await ask();
      assert.is(answer.text, 'ok');
      assert.is(answer.requests, 2);
    });
  });
}
const FINAL: readonly (readonly [number, object, string])[] = [
  [400, { message: 'bad' }, 'bad-request'],
  [401, { message: 'bad key', code: 'invalid_api_key' }, 'auth'],
  [402, { message: 'pay' }, 'quota'],
  [403, { message: 'no' }, 'auth'],
  [404, { message: 'no model', code: 'model_not_found' }, 'not-found'],
  [413, { message: 'too big' }, 'request-too-large'],
  [422, { message: 'odd' }, 'bad-request'],
  [429, { message: 'You exceeded your current quota', code: 'insufficient_quota' }, 'quota'],
  [429, { message: 'limit', code: 'enforced_spend_limit_reached' }, 'quota'],
  [400, { message: 'x', code: 'context_length_exceeded' }, 'context-overflow'],
  [400, { message: "This model's maximum context length is 8192 tokens" }, 'context-overflow'],
  [
    400,
    {
      message: 'the request exceeds the available context size',
      type: 'exceed_context_size_error',
    },
    'context-overflow',
  ],
  [500, { message: 'prompt is too long: 9 tokens > 8 maximum' }, 'context-overflow'],
];
for (const [status, error, failure] of FINAL) {
  retries(`${status} ${JSON.stringify(error)} is final: ${failure}`, async () => {
    await bench([reply(status, errorBody(error)), ok], async (here) => {
      const { ask } = here;
      const thrown = await rejects(ask());
      assert.is(thrown.name, 'ModelError');
      assert.is(thrown.failure, failure);
      assert.is(thrown.status, status);
      assert.is(thrown.requests, 1);
      assert.is(thrown.mayHaveAnswered, false);
      assert.is(here.count, 1);
    });
  });
}

retries('at most five retries, with a growing wait', async () => {
  await bench([reply(503, 'busy')], async (here) => {
    const { ask } = here;
    const error = await rejects(
      ask(),
      /openai-chat:m-1 at http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions is overloaded.*6 requests.*busy/u,
    );
    assert.is(error.failure, 'overloaded');
    assert.is(error.requests, 6);
    assert.equal(here.waits, [500, 1000, 2000, 4000, 8000]);
  });
});

retries('"retries" lowers it', async () => {
  await bench([reply(500, '{}')], async (here) => {
    const { ask } = here;
    await rejects(ask({ retries: 1 }));
    assert.is(here.count, 2);
  });
});

retries('x-should-retry has the last word, but not over what is final', async () => {
  const yes = { 'x-should-retry': 'true' };
  await bench([reply(500, '{}', { 'x-should-retry': 'false' }), ok], async ({ ask }) => {
    await rejects(ask());
  });
  await bench([reply(400, '{}', yes), ok], async ({ ask }) => {
    assert.is((await ask()).requests, 2);
  });
  await bench([reply(429, errorBody({ code: 'insufficient_quota' }), yes), ok], async ({ ask }) => {
    assert.is((await rejects(ask())).failure, 'quota');
  });
});

retries('a hint is waited for', async () => {
  await bench([reply(429, '{}', { 'retry-after': '7' }), ok], async (here) => {
    const { ask } = here;
    await ask();
    assert.equal(here.waits, [7000]);
  });
});

retries('a wait longer than any step is final at once, and says so', async () => {
  await bench([reply(429, '{}', { 'retry-after': '3600' }), ok], async (here) => {
    const { ask } = here;
    const error = await rejects(ask(), /asks to wait 3600 s/u);
    assert.is(error.failure, 'rate-limit');
    assert.is(here.count, 1);
  });
});
retries.run();

const hints = suite('model transport: hints');
const HINTS: readonly (readonly [Record<string, string>, number | undefined])[] = [
  [{ 'retry-after-ms': '12.5', 'retry-after': '9' }, 12.5],
  [{ 'retry-after-ms': '0', 'retry-after': '9' }, 9000],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after': '-1' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Thu, 01 Jan 2020 00:00:30 GMT' }, undefined],
  [{ 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-reset-tokens': '6m0s' }, 360_000],
  [
    {
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-tokens': '6m0s',
    },
    1000,
  ],
  [{}, undefined],
];
for (const [headers, expected] of HINTS) {
  hints(JSON.stringify(headers), () => {
    const wallClock = (): number => Date.UTC(2026, 0, 1);
    assert.is(waitHint({ headers: new Headers(headers), wallClock }), expected);
  });
}
hints("the body's hint stands before the rate-limit headers", () => {
  const headers = new Headers({ 'x-ratelimit-reset-requests': '1s' });
  assert.is(waitHint({ headers, bodyHintMs: 34_400, wallClock: () => 0 }), 34_400);
});
hints('durations and backoff', () => {
  assert.is(parseDuration('1h2m3.5s'), 3_723_500);
  assert.is(parseDuration('12ms'), 12);
  assert.is(parseDuration('12'), undefined);
  assert.equal(
    [0, 1, 4, 9].map((retry) => backoff(retry, () => 0)),
    [500, 1000, 8000, 8000],
  );
  assert.is(
    backoff(0, () => 1),
    375,
  );
});
hints.run();

const bodies = suite('model transport: bodies');

bodies('an answer that is cut in the middle is asked for again', async () => {
  const cut: Reply = (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write(ANSWER.slice(0, 20), () => response.destroy());
  };
  await bench([cut, ok], async ({ ask }) => {
    assert.is((await ask()).requests, 2);
  });
  await bench([cut], async ({ ask }) => {
    const error = await rejects(ask());
    assert.is(error.failure, 'transport');
    assert.is(error.mayHaveAnswered, true);
    assert.ok(error.cause instanceof Error);
  });
});

bodies('a connection that is closed before headers is tried again', async () => {
  await bench([(response) => response.destroy(), ok], async ({ ask }) => {
    assert.is((await ask()).requests, 2);
  });
});

bodies('damaged JSON, an empty body and a cut gzip are asked for again', async () => {
  const gzip = gzipSync(ANSWER);
  const cutGzip: Reply = (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(gzip.subarray(0, gzip.length - 12));
  };
  for (const bad of [reply(200, ANSWER.slice(0, 30)), reply(200, ''), cutGzip]) {
    await bench([bad, ok], async ({ ask }) => {
      assert.is((await ask()).requests, 2);
    });
  }
  await bench([reply(200, '{"choices":')], async ({ ask }) => {
    const error = await rejects(ask(), /cut or damaged: \{"choices":/u);
    assert.is(error.failure, 'bad-response');
    assert.is(error.mayHaveAnswered, true);
  });
});

bodies('an answer without choices is asked for once more', async () => {
  await bench([reply(200, '{"choices":[]}')], async (here) => {
    const { ask } = here;
    const error = await rejects(ask(), /an empty list of choices/u);
    assert.is(error.failure, 'bad-response');
    assert.is(here.count, 2);
  });
  await bench([reply(200, '[]'), ok], async ({ ask }) => {
    assert.is((await ask()).text, 'ok');
  });
});

bodies('HTML is named as such', async () => {
  const html =
    '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';
  await bench([reply(502, html)], async ({ ask }) => {
    const error = await rejects(ask(), /HTTP 502.*an HTML page: 502 Bad Gateway$/u);
    assert.is(error.failure, 'server');
    assert.is(error.requests, 6);
  });
  await bench([reply(200, html)], async (here) => {
    const { ask } = here;
    await rejects(ask(), /an HTML page: 502 Bad Gateway \(is the base URL that of an API\?\)/u);
    assert.is(here.count, 1);
  });
});

bodies('an error inside a 200 counts as its own status', async () => {
  const limited = reply(
    200,
    errorBody({ code: 429, message: 'slow down', metadata: { raw: 'upstream says 429' } }),
  );
  await bench([limited, ok], async ({ ask }) => {
    assert.is((await ask()).requests, 2);
  });
  await bench([limited], async ({ ask }) => {
    const error = await rejects(ask(), /slow down; upstream says 429/u);
    assert.is(error.failure, 'rate-limit');
    assert.is(error.mayHaveAnswered, true);
  });
  const overflow = errorBody({ code: 400, message: 'maximum context length is 5 tokens' });
  await bench([reply(200, overflow), ok], async ({ ask }) => {
    assert.is((await rejects(ask())).failure, 'context-overflow');
  });
});

bodies('digits in prose are no status', async () => {
  await bench(
    [reply(400, errorBody({ message: 'the prompt said 429 and 503' })), ok],
    async (here) => {
      const { ask } = here;
      assert.is((await rejects(ask())).failure, 'bad-request');
      assert.is(here.count, 1);
    },
  );
});

bodies('other shapes of errors are read', async () => {
  const shapes: readonly (readonly [unknown, RegExp])[] = [
    [{ error: 'a bare string' }, /a bare string$/u],
    [{ object: 'error', message: 'of vLLM', code: 400 }, /of vLLM$/u],
    [{ detail: [{ loc: ['body'], msg: 'of FastAPI' }] }, /of FastAPI/u],
    [[{ error: { message: 'in an array' } }], /in an array$/u],
    [{ message: 'alone' }, /alone$/u],
    ['just text', /just text/u],
  ];
  for (const [body, says] of shapes) {
    await bench([reply(400, JSON.stringify(body))], async ({ ask }) => {
      await rejects(ask(), says);
    });
  }
});

bodies('a huge error body is quoted in part', async () => {
  await bench([reply(400, 'x'.repeat(5_000_000))], async ({ ask }) => {
    const { message } = await rejects(ask());
    assert.ok(message.length < 1400, String(message.length));
  });
});

bodies('a redirect is refused: the key goes to nobody else', async () => {
  let followed = false;
  const redirect: Reply = (response, { url }) => {
    if (url === '/elsewhere') followed = true;
    response.writeHead(url === '/elsewhere' ? 200 : 302, { location: '/elsewhere' });
    response.end(ANSWER);
  };
  await bench([redirect], async (here) => {
    const { ask } = here;
    const error = await rejects(ask(), /it redirects.*final address as base URL/u);
    assert.is(error.failure, 'transport');
    assert.is(here.count, 1);
  });
  assert.is(followed, false);
});
bodies.run();

const time = suite('model transport: time');

time('silence is cut off and asked again: before headers and in the body', async () => {
  const silent: Reply = (_response, _request, { stall }) => {
    stall();
  };
  const halfway: Reply = (response, _request, { stall }) => {
    response.writeHead(200);
    response.write('{');
    setTimeout(stall, 20);
  };
  for (const stalled of [silent, halfway]) {
    await bench([stalled, ok], async ({ ask }) => {
      assert.is((await ask()).requests, 2);
    });
    await bench([stalled], async ({ ask }) => {
      const error = await rejects(ask({ retries: 1 }), /no byte arrived for 77777 ms/u);
      assert.is(error.failure, 'timeout');
      assert.is(error.mayHaveAnswered, true);
      assert.is(error.requests, 2);
    });
  }
});

time("the caller's abort ends everything at once, with its own reason", async () => {
  const abort = new AbortController();
  const reason = new Error('the step is over');
  const hang: Reply = (response) => {
    response.writeHead(200);
    response.write('{');
    setImmediate(() => abort.abort(reason));
  };
  await bench([hang], async (here) => {
    assert.is(await rejects(here.ask({}, abort.signal)), reason);
    assert.is(here.count, 1);
  });
});

time('also where fetch does not listen', async () => {
  const abort = new AbortController();
  const reason = new Error('over');
  await bench([ok], async ({ ask }) => {
    const fetch = (): Promise<Response> => {
      setImmediate(() => abort.abort(reason));
      return new Promise(() => undefined);
    };
    assert.is(await rejects(ask({ fetch }, abort.signal)), reason);
  });
});

time('an abort ends the wait for a retry', async () => {
  const abort = new AbortController();
  const reason = new Error('over');
  await bench([reply(429, '{}')], async (here) => {
    here.onWait = () => abort.abort(reason);
    assert.is(await rejects(here.ask({}, abort.signal)), reason);
    assert.equal(here.waits, [500]);
  });
});

time('a server that is not there', async () => {
  await bench([ok], async ({ ask }) => {
    const error = await rejects(
      ask({ baseUrl: 'http://127.0.0.1:2/v1', retries: 1 }),
      /ECONNREFUSED/u,
    );
    assert.is(error.failure, 'transport');
    assert.is(error.mayHaveAnswered, false);
    assert.is(error.requests, 2);
  });
});
time.run();

const keys = suite('model transport: keys');

keys('a key that is echoed shows up nowhere', async () => {
  const echoes = [
    errorBody({ message: `Incorrect API key provided: ${KEY}` }),
    errorBody({ message: 'Incorrect API key provided: sk-very-s*********6789. You can find it' }),
    JSON.stringify({ error: `header was Bearer ${KEY}` }),
    `<html>${encodeURIComponent(KEY)} ${Buffer.from(KEY).toString('base64')}</html>`,
    `x`.repeat(1010) + KEY,
  ];
  for (const body of echoes) {
    await bench([reply(401, body)], async ({ ask }) => {
      const shown = inspect(await rejects(ask()), { depth: 10, showHidden: true });
      assert.not.match(shown, /very-s|6789|c2stdmVyeS1z/u, shown);
    });
  }
});

keys('nor one that a wrapped fetch prints', async () => {
  await bench([ok], async ({ ask }) => {
    const fetch = async (_: string, init: RequestInit): Promise<Response> => {
      const cause = Object.assign(new Error('inner'), { init });
      throw new TypeError(`failed with ${JSON.stringify(init.headers)}`, { cause });
    };
    const error = await rejects(ask({ fetch, retries: 0 }), /failed with/u);
    const shown = inspect(error, { depth: 10, showHidden: true });
    assert.not.match(shown, /very-secret/u, shown);
  });
});

keys('what begins like a key is taken for it', () => {
  const redact = redactor(['AbCdEfGh-IjKlMnOp-4711']);
  assert.is(redact('key AbCdEfGh****4711, please'), 'key <redacted>, please');
  assert.is(redact('abcdefgh-ijklmnop-4711'), '<redacted>');
  assert.is(redact('AbCdEf is short'), 'AbCdEf is short');
});

keys('a cause without a key is kept as it is', () => {
  const cause = new Error('plain');
  assert.is(safeCause(cause, redactor([KEY])), cause);
});

keys('every request says who sends it', async () => {
  let agent: string | undefined;
  const look: Reply = (response, request, here) => {
    agent = request.headers['user-agent'];
    ok(response, request, here);
  };
  await bench([look], async ({ ask }) => {
    await ask();
  });
  assert.is(agent, `${manifest.name}/${manifest.version}`);
  assert.equal([PACKAGE_NAME, PACKAGE_VERSION], [manifest.name, manifest.version]);
});
keys.run();
