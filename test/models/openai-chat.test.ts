// The Chat dialect over a server that answers what each test says: what is sent, what is made of the
// answers, and what is learned from a refusal.
import { openaiChat, type OpenAIChatOptions } from '../../adapters/models/openai-chat.ts';
import { isStrictSchema } from '../../adapters/models/chat/strict.ts';
import type { ModelAnswer, ModelMessage, ModelRequest } from '../../core/agent/model.ts';
import type { JsonObject } from '../../core/base/json.ts';
import { assert, rejects, suite } from '../harness.ts';

const signal = new AbortController().signal;
const TOOL = {
  name: 'tap',
  description: 'Tap.',
  parameters: {
    type: 'object',
    properties: { target: { type: 'string' } },
    required: ['target'],
    additionalProperties: false,
  },
};
const REQUEST: ModelRequest = {
  messages: [
    { role: 'system', text: 'rules', cache: true },
    { role: 'user', content: [{ type: 'text', text: 'do it' }] },
  ],
  tools: [TOOL],
  toolChoice: 'auto',
  maxOutputTokens: 500,
};

type Body = Readonly<Record<string, never>> & Readonly<Record<string, unknown>>;
interface Reply {
  readonly status?: number;
  readonly body: unknown;
}

/** A model whose fetch answers from a list; the bodies that it sent beside it. */
function modelOf(replies: readonly Reply[], options: Partial<OpenAIChatOptions> = {}) {
  const sent: Body[] = [];
  const model = openaiChat({
    model: 'm-1',
    baseUrl: 'http://127.0.0.1:9/v1',
    retries: 0,
    fetch: async (_, init) => {
      sent.push(JSON.parse(init.body as string) as Body);
      const reply = replies[sent.length - 1];
      if (reply === undefined) throw new Error(`no reply for request ${sent.length}`);
      return new Response(JSON.stringify(reply.body), { status: reply.status ?? 200 });
    },
    ...options,
  });
  return { model, sent };
}
const says = (message: unknown, more: object = {}): Reply => ({
  body: { model: 'm-1-2026', choices: [{ message, finish_reason: 'stop' }], ...more },
});
async function answerTo(
  message: unknown,
  more: object = {},
  request = REQUEST,
): Promise<ModelAnswer> {
  return modelOf([says(message, more)]).model.generate(request, { signal });
}
async function bodyOf(
  request: Partial<ModelRequest>,
  options: Partial<OpenAIChatOptions> = {},
): Promise<Body> {
  const { model, sent } = modelOf([says({ content: 'ok' })], options);
  await model.generate({ ...REQUEST, ...request }, { signal });
  return sent[0] as Body;
}
const callsOf = (list: readonly unknown[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: list,
});
const call = (id: unknown, name: string, args: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

const requests = suite('openai-chat: requests');

requests('the whole body', async () => {
  assert.equal(await bodyOf({ toolChoice: { tool: 'tap' } }), {
    model: 'm-1',
    messages: [
      { role: 'system', content: 'rules' },
      { role: 'user', content: 'do it' },
    ],
    max_tokens: 500,
    tools: [{ type: 'function', function: TOOL }],
    tool_choice: { type: 'function', function: { name: 'tap' } },
  });
});

requests('no tools, no choice', async () => {
  const body = await bodyOf({ tools: [], toolChoice: 'auto' });
  assert.not.ok('tools' in body || 'tool_choice' in body);
});

requests('pictures follow after all results of a turn, as a user message', async () => {
  const image = {
    type: 'image',
    data: new Uint8Array([1, 2, 3]),
    mediaType: 'image/png',
    width: 1,
    height: 1,
  } as const;
  const result = (callId: string, isError: boolean, withImage: boolean): ModelMessage => ({
    role: 'tool',
    callId,
    name: 'tap',
    isError,
    content: [{ type: 'text', text: `of ${callId}` }, ...(withImage ? [image] : [])],
  });
  const body = await bodyOf({
    messages: [
      {
        role: 'assistant',
        text: '',
        toolCalls: [
          { id: 'a', name: 'tap', arguments: { target: 'e1' } },
          { id: 'b', name: 'tap', malformed: '{"x":' },
        ],
      },
      result('a', false, true),
      result('b', true, false),
      { role: 'user', content: [{ type: 'text', text: 'go on' }] },
    ],
  });
  const messages = body['messages'] as unknown as readonly { role: string; content: unknown }[];
  assert.equal(messages, [
    {
      role: 'assistant',
      content: null,
      tool_calls: [call('a', 'tap', '{"target":"e1"}'), call('b', 'tap', '{}')],
    },
    { role: 'tool', tool_call_id: 'a', content: 'of a' },
    { role: 'tool', tool_call_id: 'b', content: 'Error: of b' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'The picture that belongs to the result of tap:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
      ],
    },
    { role: 'user', content: 'go on' },
  ]);
});

requests('half characters never leave', async () => {
  const text = 'a\ud83d';
  const { model } = modelOf([], {
    fetch: async (_, init) => {
      assert.not.match(init.body as string, /\\ud83d/u);
      return new Response(JSON.stringify(says({ content: 'ok' }).body));
    },
  });
  const messages: readonly ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text }] }];
  await model.generate({ ...REQUEST, messages }, { signal });
});

requests('a response schema is strict only where strict mode takes it', async () => {
  const closed: JsonObject = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  const open: JsonObject = { type: 'object', properties: { a: { type: 'string', minLength: 1 } } };
  const format = async (schema: JsonObject) =>
    (await bodyOf({ responseSchema: { name: 'x', schema } }))['response_format'] as unknown;
  assert.equal(await format(closed), {
    type: 'json_schema',
    json_schema: { name: 'x', schema: closed, strict: true },
  });
  assert.equal(await format(open), {
    type: 'json_schema',
    json_schema: { name: 'x', schema: open },
  });
  assert.is(
    isStrictSchema({ ...closed, properties: { a: { type: 'array', items: open } } }),
    false,
  );
  assert.is(
    isStrictSchema({ ...closed, properties: { a: { anyOf: [closed, { type: 'null' }] } } }),
    true,
  );
  assert.is(isStrictSchema({ anyOf: [closed] }), false);
});

requests('OpenAI itself gets the key, the new limit and the cache key', async () => {
  let seen: { url: string; init: RequestInit } | undefined;
  const model = openaiChat({
    model: 'gpt-x',
    apiKey: 'sk-test-0123456789',
    body: { reasoning_effort: 'low' },
    fetch: async (url, init) => {
      seen = { url, init };
      return new Response(JSON.stringify(says({ content: 'ok' }).body));
    },
  });
  await model.generate({ ...REQUEST, cacheKey: 'run-1' }, { signal });
  assert.is(seen?.url, 'https://api.openai.com/v1/chat/completions');
  const headers = seen?.init.headers as Record<string, string>;
  assert.is(headers['authorization'], 'Bearer sk-test-0123456789');
  assert.match(headers['user-agent'] ?? '', /^enginewright\/\d+\.\d+\.\d+/u);
  assert.is(seen?.init.redirect, 'error');
  const body = JSON.parse(seen?.init.body as string) as Body;
  assert.is(body['max_completion_tokens'] as unknown, 500);
  assert.is(body['prompt_cache_key'] as unknown, 'run-1');
  assert.is(body['reasoning_effort'] as unknown, 'low');
  assert.is(model.images, true);
});

requests('a key of the environment goes nowhere else', async () => {
  const before = process.env['OPENAI_API_KEY'];
  process.env['OPENAI_API_KEY'] = 'sk-env-0123456789';
  try {
    let headers: Record<string, string> = {};
    const model = openaiChat({
      model: 'm',
      baseUrl: 'http://localhost:11434/v1/',
      fetch: async (url, init) => {
        assert.is(url, 'http://localhost:11434/v1/chat/completions');
        headers = init.headers as Record<string, string>;
        return new Response(JSON.stringify(says({ content: 'ok' }).body));
      },
    });
    await model.generate(REQUEST, { signal });
    assert.not.ok('authorization' in headers);
    assert.is(openaiChat({ model: 'm' }).modelId, 'm');
    delete process.env['OPENAI_API_KEY'];
    assert.throws(() => openaiChat({ model: 'm' }), /set OPENAI_API_KEY/u);
  } finally {
    if (before === undefined) delete process.env['OPENAI_API_KEY'];
    else process.env['OPENAI_API_KEY'] = before;
  }
});

requests('checks its options, without showing a key', () => {
  const make = (options: object) => () =>
    openaiChat({ model: 'm', baseUrl: 'http://x/v1', ...options } as OpenAIChatOptions);
  assert.throws(make({ baseURL: 'x' }), /did you mean "baseUrl"/u);
  assert.throws(make({ model: '' }), /"model" must be/u);
  assert.throws(make({ baseUrl: 'localhost:1' }), /"baseUrl" must be an http/u);
  assert.throws(make({ baseUrl: 'http://user:pw@x' }), /no user info/u);
  assert.throws(make({ retries: 9 }), /0 to 5/u);
  assert.throws(make({ apiKey: 'sk-secret\n' }), (error: Error) => {
    assert.match(error.message, /"apiKey" holds characters/u);
    assert.not.match(error.message, /secret/u);
    return true;
  });
});
requests.run();

const answers = suite('openai-chat: answers');

answers('calls, usage and the model that answered', async () => {
  const answer = await answerTo(callsOf([call('c1', 'tap', '{"target":"e1"}')]), {
    usage: {
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
      cost: 0.25,
    },
  });
  assert.equal(answer, {
    text: '',
    toolCalls: [{ id: 'c1', name: 'tap', arguments: { target: 'e1' } }],
    stopReason: 'tool-calls',
    modelId: 'm-1-2026',
    requests: 1,
    usage: {
      inputTokens: 10,
      outputTokens: 5,
      cachedInputTokens: 4,
      reasoningTokens: 2,
      cost: 0.25,
    },
  });
});

answers('usage that is missing, null or no count stays absent', async () => {
  for (const usage of [
    undefined,
    null,
    {},
    { prompt_tokens: null },
    { prompt_tokens: 'many' },
    { prompt_tokens: -1 },
  ]) {
    assert.is(
      (await answerTo({ content: 'x' }, { usage })).usage,
      undefined,
      JSON.stringify(usage),
    );
  }
  assert.equal((await answerTo({ content: 'x' }, { usage: { prompt_tokens: 3 } })).usage, {
    inputTokens: 3,
  });
});

answers('arguments: empty is {}, an object is taken, anything else is malformed', async () => {
  const read = async (args: unknown) => {
    const [first] = (await answerTo(callsOf([call('c', 'tap', args)]))).toolCalls;
    return first?.arguments ?? first?.malformed;
  };
  assert.equal(await read(''), {});
  assert.equal(await read('  '), {});
  assert.equal(await read(undefined), {});
  assert.equal(await read({ target: 'e1' }), { target: 'e1' });
  assert.is(await read('{"target":'), '{"target":');
  assert.is(await read('[1]'), '[1]');
  assert.is(await read(7), '7');
  assert.equal(await read('{"target":"\\ud83d"}'), { target: '\ufffd' });
});

answers('text from strings, parts, refusals and nothing', async () => {
  assert.is((await answerTo({ content: [{ type: 'text', text: 'a' }, { text: 'b' }] })).text, 'ab');
  assert.is((await answerTo({})).text, '');
  assert.is((await answerTo({ content: null, reasoning_content: 'hm' })).text, '');
  const refused = await answerTo({ content: null, refusal: 'I will not' });
  assert.is(refused.stopReason, 'refusal');
  assert.is(refused.text, 'I will not');
});

answers('stop reasons', async () => {
  const stop = async (reason: unknown, message: unknown = { content: 'x' }) => {
    const { model } = modelOf([{ body: { choices: [{ message, finish_reason: reason }] } }]);
    return (await model.generate(REQUEST, { signal })).stopReason;
  };
  assert.is(await stop('length'), 'length');
  assert.is(await stop('content_filter'), 'content-filter');
  assert.is(await stop(null), 'stop');
  assert.is(await stop('stop', callsOf([call('c', 'tap', '{}')])), 'tool-calls');
  assert.is(await stop('tool_calls'), 'stop');
  assert.is(await stop('weird'), 'other');
});

answers('ids are unique within the conversation', async () => {
  const earlier: ModelMessage = {
    role: 'assistant',
    text: '',
    toolCalls: [{ id: '0', name: 'tap', arguments: {} }],
  };
  const list = [
    call('0', 'tap', '{}'),
    call('0', 'tap', '{}'),
    call(undefined, 'tap', '{}'),
    call('', 'tap', '{}'),
  ];
  const { toolCalls } = await answerTo(callsOf(list), {}, { ...REQUEST, messages: [earlier] });
  const ids = toolCalls.map(({ id }) => id);
  assert.is(new Set(['0', ...ids]).size, 5, ids.join());
});

answers('a known prefix goes, where the rest is a tool that is offered', async () => {
  const names = ['functions.tap', 'default_api:tap', 'functions.other', 'x.tap'];
  const list = names.map((name, index) => call(String(index), name, '{}'));
  const { toolCalls } = await answerTo(callsOf(list));
  assert.equal(
    toolCalls.map(({ name }) => name),
    ['tap', 'tap', 'functions.other', 'x.tap'],
  );
});

answers('reasoning goes back as it came, to the same model alone', async () => {
  const { model, sent } = modelOf([
    says({
      ...callsOf([
        { ...call('c', 'tap', '{}'), extra_content: { google: { thought_signature: 's' } } },
      ]),
      reasoning_content: 'hm',
    }),
    says({ content: 'done' }),
    says({ content: 'done' }),
  ]);
  const first = await model.generate(REQUEST, { signal });
  const turn = (providerState: ModelAnswer['providerState']): ModelRequest => ({
    ...REQUEST,
    messages: [
      ...REQUEST.messages,
      {
        role: 'assistant',
        text: '',
        toolCalls: first.toolCalls,
        ...(providerState === undefined ? {} : { providerState }),
      },
      { role: 'tool', callId: 'c', name: 'tap', isError: false, content: [] },
    ],
  });
  await model.generate(turn(first.providerState), { signal });
  const { providerState } = first;
  assert.ok(providerState !== undefined);
  await model.generate(
    turn({ ...(providerState as NonNullable<typeof providerState>), modelId: 'other' }),
    { signal },
  );
  const assistant = (index: number) =>
    (sent[index]?.['messages'] as unknown as Record<string, unknown>[] | undefined)?.[2];
  assert.is(assistant(1)?.['reasoning_content'], 'hm');
  assert.match(JSON.stringify(assistant(1)), /thought_signature/u);
  assert.not.match(JSON.stringify(assistant(2)), /hm|thought_signature/u);
});

answers(
  "a call that the server could not read is the model's fault, not the transport's",
  async () => {
    const { model } = modelOf([
      {
        status: 400,
        body: { error: { code: 'tool_use_failed', message: 'Failed to call a function' } },
      },
    ]);
    const answer = await model.generate(REQUEST, { signal });
    assert.is(answer.stopReason, 'other');
    assert.match(answer.text, /Failed to call/u);
  },
);
answers.run();

const lessons = suite('openai-chat: lessons');
const refusal = (message: string, more: object = {}): Reply => ({
  status: 400,
  body: { error: { message, ...more } },
});
const ok = says({ content: 'ok' });

lessons('a named choice becomes "required" with that tool alone, and stays so', async () => {
  const { model, sent } = modelOf([
    {
      status: 400,
      body: {
        error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
      },
    },
    ok,
    ok,
  ]);
  const other = { ...TOOL, name: 'other' };
  const request = { ...REQUEST, tools: [TOOL, other], toolChoice: { tool: 'tap' } } as const;
  assert.is((await model.generate(request, { signal })).requests, 2);
  assert.is((await model.generate(request, { signal })).requests, 1);
  for (const body of sent.slice(1)) {
    assert.is(body['tool_choice'] as unknown, 'required');
    assert.is((body['tools'] as unknown as unknown[]).length, 1);
  }
});

lessons('a thinking model that refuses any force is left free', async () => {
  const { model, sent } = modelOf([refusal('Thinking mode does not support this tool_choice'), ok]);
  await model.generate({ ...REQUEST, toolChoice: { tool: 'tap' } }, { signal });
  assert.is(sent[1]?.['tool_choice'] as unknown, 'auto');
});

lessons('the limit by its other name, in both directions', async () => {
  const old = modelOf([
    refusal(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { param: 'max_tokens' },
    ),
    ok,
  ]);
  await old.model.generate(REQUEST, { signal });
  assert.is(old.sent[1]?.['max_completion_tokens'] as unknown, 500);
  assert.not.ok('max_tokens' in (old.sent[1] as object));
  const fresh = modelOf([refusal('Unknown parameter: max_completion_tokens'), ok], {
    baseUrl: 'https://api.openai.com/v1',
    apiKey: 'k-0123456789',
  });
  await fresh.model.generate(REQUEST, { signal });
  assert.is(fresh.sent[1]?.['max_tokens'] as unknown, 500);
});

lessons('an optional member that is refused is left out from then on', async () => {
  const { model, sent } = modelOf(
    [refusal("Unsupported value: 'temperature'", { param: 'temperature' }), ok, ok],
    { body: { temperature: 0, seed: 1 } },
  );
  await model.generate(REQUEST, { signal });
  await model.generate(REQUEST, { signal });
  for (const body of sent.slice(1)) {
    assert.not.ok('temperature' in body);
    assert.is(body['seed'] as unknown, 1);
  }
});

lessons('a response format steps down and the schema is told in words', async () => {
  const { model, sent } = modelOf([
    refusal('response_format json_schema is not supported'),
    refusal("'response_format' is unknown"),
    ok,
  ]);
  const schema: JsonObject = { type: 'object' };
  await model.generate({ ...REQUEST, responseSchema: { name: 'x', schema } }, { signal });
  assert.equal(sent[1]?.['response_format'] as unknown, { type: 'json_object' });
  assert.not.ok('response_format' in (sent[2] as object));
  assert.match(JSON.stringify(sent[2]), /Answer with JSON alone/u);
});

lessons('a refusal that names nothing we send is final', async () => {
  const { model, sent } = modelOf([refusal('messages[3] is not to our taste'), ok]);
  const error = await rejects(model.generate(REQUEST, { signal }), /not to our taste/u);
  assert.is(error.failure, 'bad-request');
  assert.is(error.status, 400);
  assert.is(sent.length, 1);
});

lessons('a lesson that helped nothing is forgotten', async () => {
  const { model, sent } = modelOf([
    refusal('max_tokens is too large: 500'),
    refusal('max_completion_tokens is too large: 500'),
    ok,
  ]);
  await rejects(model.generate(REQUEST, { signal }), /too large/u);
  await model.generate({ ...REQUEST, maxOutputTokens: 5 }, { signal });
  assert.is(sent[2]?.['max_tokens'] as unknown, 5);
});

lessons('a server that refuses everything ends', async () => {
  const replies = Array.from({ length: 20 }, () =>
    refusal('max_tokens max_completion_tokens tool_choice response_format'),
  );
  const { model, sent } = modelOf(replies);
  const request = {
    ...REQUEST,
    toolChoice: 'required',
    responseSchema: { name: 'x', schema: {} },
  } as const;
  const error = await rejects(model.generate(request, { signal }));
  assert.is(error.failure, 'bad-request');
  assert.ok(sent.length <= 7, String(sent.length));
  assert.is(error.requests, sent.length);
});
lessons.run();
