// What `connectEngine` takes, and its check: a slip in a key or a combination that cannot work is
// INVALID_CONFIG before any server runs.
import type { Clock } from '../../base/clock.ts';
import { findJsonIssue, type JsonValue } from '../../base/json.ts';
import type { Engine, EngineSession } from '../../contract/engine.ts';
import { ConfigurationError } from '../../contract/errors.ts';
import { rejectUnknownKeys } from '../../contract/options.ts';
import type { Secret } from '../../contract/secrets.ts';
import type { EngineTransport } from '../transports/types.ts';
import type { EngineManifest } from '../types.ts';
import type { LivenessOptions } from './liveness.ts';

export interface ConnectEngineOptions {
  /** What the server is; the server's manifest from `initialize` must match it. */
  readonly manifest: EngineManifest;
  /** How to reach the server. */
  readonly transport: EngineTransport;
  /** Engine options the server receives in `initialize`, as JSON. */
  readonly initializationOptions?: JsonValue;
  /** The secrets the server may resolve. */
  readonly secrets?: readonly Secret[];
  /** Fixtures that run on the client, beside the test. */
  readonly fixtures?: Engine['fixtures'];
  /** Checks the target's app when the session opens, on the client. */
  readonly validateApp?: Engine['validateApp'];
  /** Answers locators on the client from observations, for a server without `engine/locate`. */
  readonly resolveLocators?: boolean;
  /** Session hooks the client answers instead of the server. */
  readonly session?: EngineSession;
  /** When an idle server is asked for a sign of life. */
  readonly liveness?: LivenessOptions;
  /** Time for budgets and pings; the process's own by default. */
  readonly clock?: Clock;
}

const OPTION_NAMES = Object.keys({
  manifest: true,
  transport: true,
  initializationOptions: true,
  secrets: true,
  fixtures: true,
  validateApp: true,
  resolveLocators: true,
  session: true,
  liveness: true,
  clock: true,
} satisfies Record<keyof ConnectEngineOptions, true>);

/** Throws `INVALID_CONFIG` for what is wrong apart from the manifest. */
export function checkOptions(options: ConnectEngineOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw invalid('connectEngine takes { manifest, transport, ... }.');
  }
  rejectUnknownKeys('connectEngine options', options, OPTION_NAMES);
  const { transport, initializationOptions } = options;
  if (typeof transport?.open !== 'function' || typeof transport.label !== 'string') {
    throw invalid(
      'connectEngine: transport must be a transport, such as spawnTransport({ command }).',
    );
  }
  if (initializationOptions !== undefined) {
    const issue = findJsonIssue(initializationOptions, {
      name: 'initializationOptions',
      allowUndefined: true,
    });
    if (issue !== undefined) throw invalid(`connectEngine: ${issue.path} ${issue.problem}.`);
  }
  const { session, liveness } = options;
  if (liveness !== undefined) checkLiveness(liveness);
  if (session !== undefined && (typeof session !== 'object' || session === null)) {
    throw invalid('connectEngine: session must be an object of hooks.');
  }
}

function checkLiveness(liveness: LivenessOptions): void {
  if (typeof liveness !== 'object' || liveness === null) {
    throw invalid('connectEngine: liveness must be { intervalMs?, timeoutMs? }.');
  }
  rejectUnknownKeys('connectEngine liveness', liveness, ['intervalMs', 'timeoutMs']);
  for (const [name, value] of Object.entries(liveness) as [string, unknown][]) {
    if (value === undefined || (typeof value === 'number' && value > 0)) continue;
    throw invalid(`connectEngine: liveness.${name} must be a number of ms above 0.`);
  }
}

/** `resolveLocators` stands in for a method that the server must not answer itself. */
export function checkLocators(manifest: EngineManifest, resolveLocators: boolean): void {
  if (!resolveLocators) return;
  if (manifest.methods.includes('engine/locate')) {
    throw invalid(
      'connectEngine: resolveLocators is for a server without engine/locate, which the manifest lists: leave one out.',
    );
  }
  if (!manifest.methods.includes('engine/observe')) {
    throw invalid('connectEngine: resolveLocators needs engine/observe in manifest.methods.');
  }
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('INVALID_CONFIG', message);
}
