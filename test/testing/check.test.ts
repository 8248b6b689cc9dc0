// The conformance check against the faulty engine: healthy it passes every rule, and each fault is
// caught by the rules that are about it. A fault without a row here, and a rule that no fault breaks,
// are failures too: a rule that cannot fail checks nothing.
import { readFileSync } from 'node:fs';
import {
  CHECK_RULES,
  checkEngine,
  COMMON_PROBES,
  ENGINE_FAULTS,
  faultyTransport,
  formatCheckReport,
  SERVER_FAULTS,
  type CheckEngineOptions,
  type CheckOutcome,
  type CheckReport,
  type EngineFault,
  type ServerFault,
} from '../../testing/index.ts';
import { assert, rejects, suite } from '../harness.ts';

type Fault = EngineFault | ServerFault;

/** The rules that must catch each fault. */
const CAUGHT_BY: Readonly<Record<Fault, readonly string[]>> = {
  rootIdChanges: ['observe/root-restart', 'observe/root-reset'],
  rootMovesOnOpen: ['observe/root-open'],
  idsChange: ['observe/ids-stay'],
  idReused: ['stale/ids'],
  staleActs: ['stale/does-nothing', 'stale/refused'],
  unknownIdActs: ['errors/unknown-node'],
  revisionStamped: ['observe/shape'],
  secureValueReported: ['secure/silent'],
  pixelsUnmasked: ['secure/masked'],
  pixelSizeWrong: ['observe/pixels'],
  nameTooLong: ['observe/limits', 'long-text/cut'],
  textCutAtFront: ['long-text/cut'],
  nestedNotShifted: ['nested/box'],
  tapDoesNothing: ['tap/acts'],
  pointMisses: ['tap/point'],
  unlistedActs: ['manifest/actions'],
  abortIgnored: ['signals/aborted', 'signals/under-way'],
  abortPlain: ['signals/reason', 'signals/under-way-reason'],
  budgetIgnored: ['signals/timeout'],
  endAgainFails: ['lifecycle/end-again'],
  initOnce: ['lifecycle/init-again'],
  prepareFails: ['lifecycle/run'],
  attemptAbortSticks: ['signals/attempt-signal'],
  disposeAloneFails: ['lifecycle/dispose-alone'],
  locateWrong: ['locate/agrees'],
  screenshotOutside: ['artifacts/screenshot'],
  screenshotText: ['artifacts/screenshot'],
  stateLost: ['state/capture'],
  printsOnStdout: ['wire/packets-only'],
  lengthInCharacters: ['wire/length-written'],
  answersTwice: ['wire/one-answer'],
  noAnswer: ['wire/one-answer'],
  idAsText: ['wire/ids'],
  noVersionMember: ['wire/message-shape'],
  retryableCommit: ['errors/retryable'],
  errorWithoutData: ['errors/shape'],
  nullMember: ['wire/no-null'],
  reportsAfterEnd: ['lifecycle/silence'],
  listedUnanswered: ['manifest/listed'],
  unlistedAnswered: ['manifest/unlisted'],
  unknownListed: ['handshake/manifest'],
  version2Accepted: ['handshake/version'],
  answersBeforeInitialize: ['handshake/before-initialize'],
  initializesTwice: ['handshake/twice'],
  shutdownAnswersObject: ['handshake/shutdown'],
  exitIgnored: ['handshake/exit'],
  batchAnswered: ['wire/no-message'],
  brokenJsonIgnored: ['wire/bad-json'],
  brokenJsonEnds: ['wire/bad-json'],
  unknownAnswered: ['wire/unknown-method'],
  unknownInternal: ['wire/unknown-method'],
  notificationAnswered: ['wire/unknown-let-through'],
  headerByLetter: ['wire/headers'],
  chunkIsPacket: ['wire/joined', 'wire/cut'],
  abortRemembered: ['signals/abort-forgets', 'signals/attempt-forgets', 'signals/unknown'],
  versionAsText: ['handshake/initialize'],
  endUnheard: ['handshake/stream-end'],
  readsCharacters: ['wire/length-read'],
  largeLost: ['wire/large'],
  rubbishHangs: ['wire/rubbish'],
  badParamsUnanswered: ['wire/bad-params'],
  answersObjects: ['lifecycle/order'],
};

/** What does not come is waited for so long; a healthy engine in memory answers at once. */
const QUICK: CheckEngineOptions = {
  probes: COMMON_PROBES,
  destructive: true,
  timeoutMs: 1000,
  launchTimeoutMs: 1000,
  abortTimeoutMs: 500,
  quietMs: 30,
};
/** For what must pass on a busy machine: nothing is waited for so long. */
const PATIENT = { timeoutMs: 10_000, launchTimeoutMs: 10_000, abortTimeoutMs: 5000 };

const outcomeOf = (report: CheckReport, id: string): CheckOutcome => {
  const found = report.rules.find((rule) => rule.id === id);
  if (found === undefined) throw new Error(`no outcome of ${id}`);
  return found;
};

const test = suite('conformance check', { timeoutMs: 60_000 });

test('the healthy engine passes every rule', async ({ signal }) => {
  const report = await checkEngine(faultyTransport(), { ...QUICK, ...PATIENT, signal });
  assert.ok(report.ok, formatCheckReport(report));
  const left = report.rules.filter(({ status }) => status === 'not-applicable');
  assert.equal(
    left.map(({ id, reason }) => [id, reason]),
    [['handshake/exit-code', 'the transport tells no exit code']],
  );
  assert.is(report.passed, CHECK_RULES.length - 1);
  assert.is(report.manifest?.name, 'faulty');
});

const SAYS = { ...ENGINE_FAULTS, ...SERVER_FAULTS };
for (const fault of Object.keys(SAYS) as Fault[]) {
  test(`catches: ${SAYS[fault]}`, async ({ signal }) => {
    const only = CAUGHT_BY[fault];
    assert.ok(only.length > 0, `no rule is named for ${fault}`);
    const report = await checkEngine(faultyTransport(fault), { ...QUICK, only, signal });
    for (const id of only) {
      const { status, reason = '', exchange = [] } = outcomeOf(report, id);
      assert.is(status, 'failed', formatCheckReport(report));
      assert.ok(reason.length > 10, reason);
      assert.ok(exchange.length > 0, 'no exchange is told');
    }
    assert.not.ok(report.ok);
  });
}

test('an exit code that is wrong is caught where the transport tells it', async ({ signal }) => {
  const healthy = faultyTransport();
  const transport = {
    label: 'spawned',
    open: async (context: Parameters<typeof healthy.open>[0]) => ({
      ...(await healthy.open(context)),
      diagnostics: () => 'engine server "x" exited with code 0',
    }),
  };
  const only = ['handshake/exit-code'];
  const report = await checkEngine(transport, { ...QUICK, only, signal });
  const { status, reason } = outcomeOf(report, 'handshake/exit-code');
  assert.is(status, 'failed');
  assert.match(reason ?? '', /exit without shutdown is 1, not 0/u);
});

test('the document and the code name the same common probes', () => {
  const text = readFileSync(new URL('../../docs/engine-conformance.md', import.meta.url), 'utf8');
  const block = /```json\n(\{.*?\})\n```/su.exec(text)?.[1] ?? '';
  assert.equal(JSON.parse(block), COMMON_PROBES);
});

test('every rule is broken by some fault', () => {
  const broken = new Set([...Object.values(CAUGHT_BY).flat(), 'handshake/exit-code']);
  assert.equal(
    CHECK_RULES.map(({ id }) => id).filter((id) => !broken.has(id)),
    [],
  );
  const ids = CHECK_RULES.map(({ id }) => id);
  assert.is(new Set(ids).size, ids.length);
});

test('a watching rule fails for what another rule has seen', async ({ signal }) => {
  const report = await checkEngine(faultyTransport('retryableCommit'), { ...QUICK, signal });
  const { status, reason } = outcomeOf(report, 'errors/retryable');
  assert.is(status, 'failed');
  assert.match(reason ?? '', /^[A-Z_]+ claims to be retryable/u);
  assert.match(reason ?? '', /seen in [a-z]+\/[a-z-]+ \(and \d+ more of the kind\)/u);
});

test('without probes their rules are not applicable, and say why', async ({ signal }) => {
  const { probes: _left, ...rest } = QUICK;
  const only = ['stale/ids', 'signals/under-way', 'observe/root-reset', 'observe/shape'];
  const report = await checkEngine(faultyTransport(), {
    ...rest,
    ...PATIENT,
    destructive: false,
    only,
    signal,
  });
  assert.ok(report.ok);
  const reasons = Object.fromEntries(report.rules.map(({ id, reason }) => [id, reason]));
  assert.equal(reasons, {
    'stale/ids': 'no probe (stale)',
    'signals/under-way': 'no probe (slow)',
    'observe/root-reset': 'destructive rules are off',
    'observe/shape': undefined,
  });
  assert.match(formatCheckReport(report), /not applicable: no probe \(stale\)/u);
  assert.match(formatCheckReport(report), /1 passed, 0 failed, 3 not applicable/u);
});

test('wrong options are refused before anything is opened', async () => {
  const transport = { label: 'none', open: () => Promise.reject(new Error('opened')) };
  const refused = (options: object, says: RegExp): Promise<unknown> =>
    rejects(checkEngine(transport, options), (error: { code: string; message: string }) => {
      assert.is(error.code, 'INVALID_CONFIG');
      assert.match(error.message, says);
    });
  await refused({ probe: {} }, /unknown key "probe"; did you mean "probes"/u);
  await refused({ probes: { tab: 'x' } }, /unknown key "tab"; did you mean "tap"/u);
  await refused({ probes: { tap: 'Add one' } }, /write role=/u);
  await refused({ probes: { tap: { kind: 'query' } } }, /probes\.tap: /u);
  await refused({ probes: { open: 7 } }, /probes\.open must be a url/u);
  await refused({ probes: { longText: 'testId=x' } }, /probes\.longText must be/u);
  await refused({ timeoutMs: 0 }, /"timeoutMs" must be a number of milliseconds/u);
  await refused({ only: ['stale/id'] }, /no rule "stale\/id"; did you mean "stale\/ids"/u);
  await rejects(checkEngine(transport), (error: { code: string; message: string }) => {
    assert.is(error.code, 'ENGINE_FAILURE');
    assert.match(error.message, /\(none\) cannot be reached: opened/u);
  });
});

test('engine options reach the server and stay out of the report', async ({ signal }) => {
  const report = await checkEngine(faultyTransport('shutdownAnswersObject'), {
    ...QUICK,
    initializationOptions: { password: 'swordfish' },
    only: ['handshake/shutdown'],
    signal,
  });
  assert.not.ok(report.ok);
  assert.match(JSON.stringify(report), /"method\\":\\"initialize/u);
  assert.not.match(JSON.stringify(report), /swordfish/u);
});

test('an abort ends the check with its reason', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const check = checkEngine(faultyTransport(), {
    ...QUICK,
    ...PATIENT,
    signal: controller.signal,
    onRule: () => {
      controller.abort(reason);
    },
  });
  assert.is(await rejects(check), reason);
});
test.run();
