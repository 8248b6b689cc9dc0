// What a person is told when a server fails: the engine, the transport's label, the method, and the
// server's last words (what it printed where the protocol speaks, and the transport's diagnostics).
// What the engine itself threw passes unchanged.
import { cutEnd } from '../../base/text.ts';
import { messageOf } from '../../base/thrown.ts';
import { EngineError, TestError, isEngineError } from '../../contract/errors.ts';
import { decodeFailure } from '../codecs/errors.ts';
import { WireValueError } from '../codecs/values.ts';
import { JSON_RPC, isRpcError } from '../messages.ts';
import { isConnectionClosedError } from '../peer.ts';

export interface Failures {
  /** `Engine "kiosk" (./kiosk-engine)`. */
  readonly subject: string;
  /** Keeps a complaint about what came in, for the error that it explains. */
  hear(error: Error): void;
  /** Why the connection is being given up, in place of how the streams ended. */
  giveUp(problem: string): void;
  /** The loss of a connection that nobody was calling on. */
  ofLoss(detail: string): Error;
  /** What a call rejects with. */
  ofCall(method: string, error: unknown): Error;
  /** What a failed handshake rejects with. */
  ofHandshake(error: unknown, signal: AbortSignal): Error;
}

/** Longest last words, UTF-16 units; and how many complaints are kept. */
const LAST_WORDS = 6000;
const COMPLAINTS = 3;

export function createFailures(subject: string, diagnostics: () => string | undefined): Failures {
  const complaints: string[] = [];
  let givenUp: string | undefined;

  const failure = (what: string, cause?: unknown): EngineError => {
    const spoken = diagnostics()?.trim() ?? '';
    const words = [...complaints, ...(spoken === '' ? [] : [spoken])].join('\n');
    const message = `${subject} ${what}`.replace(/[.\s]*$/u, '.');
    return new EngineError(
      'ENGINE_FAILURE',
      words === '' ? message : `${message}\n${cutEnd(words, LAST_WORDS)}`,
      cause === undefined ? {} : { cause },
    );
  };

  const ofCall = (method: string, error: unknown): Error => {
    if (isEngineError(error)) return error;
    if (isRpcError(error)) {
      const thrown = decodeFailure(error);
      const { code, message } = error;
      if (code === JSON_RPC.engineError || code === JSON_RPC.internalError) return thrown;
      return new EngineError(
        'ENGINE_FAILURE',
        `${subject} refused ${method} (${code}): ${message}`,
        { cause: thrown },
      );
    }
    if (error instanceof WireValueError) {
      return new EngineError(
        'ENGINE_FAILURE',
        `${subject} answered ${method} wrongly: ${error.message}`,
        { cause: error },
      );
    }
    if (isConnectionClosedError(error)) {
      return failure(`was lost during ${method}: ${givenUp ?? error.closure.detail}`, error);
    }
    // What the peer could not write: it names the offender among the params.
    if (error instanceof TypeError) return badArgument(method, error);
    return failure(`failed in ${method}: ${messageOf(error)}`, error);
  };

  return {
    subject,
    hear(error) {
      if (complaints.length < COMPLAINTS) complaints.push(cutEnd(error.message, 500));
    },
    giveUp(problem) {
      givenUp = problem;
    },
    ofLoss: (detail) => failure(`was lost: ${givenUp ?? detail}`),
    ofCall,
    ofHandshake(error, signal) {
      if (signal.aborted && error === signal.reason) {
        return failure('did not answer initialize in time', error);
      }
      if (isRpcError(error)) {
        return failure(`refused initialize: ${error.message}`, decodeFailure(error));
      }
      return ofCall('initialize', error);
    },
  };
}

/** A caller's value that cannot cross. */
export function badArgument(method: string, error: unknown): Error {
  return new TestError('INVALID_ARGUMENT', `${method}: ${messageOf(error)}`, { cause: error });
}
