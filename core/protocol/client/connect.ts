// `connectEngine`: an engine server as an engine handle, the value a session's `engine` takes. The
// manifest alone decides which members the handle has, so that it is checked before any server
// runs; `defineEngine` then holds it to the rules of every engine. Nothing is opened here.
import { defineEngine } from '../../contract/define.ts';
import type { EngineHandle } from '../../contract/engine.ts';
import { checkManifest } from '../manifest.ts';
import { createBody } from './body.ts';
import { checkLocators, checkOptions, type ConnectEngineOptions } from './options.ts';

/**
 * Turns an engine server into an engine handle. Throws `INVALID_CONFIG` for a malformed manifest or
 * option; what a server does wrong is `ENGINE_FAILURE` in the call that meets it. A handle has one
 * worker connection at a time; its `fork` answers a handle of its own for another session.
 */
export function connectEngine(options: ConnectEngineOptions): EngineHandle {
  checkOptions(options);
  const manifest = checkManifest(options.manifest);
  checkLocators(manifest, options.resolveLocators === true);
  const { body, onLost } = createBody(manifest, options);
  return defineEngine(body, {
    remote: true,
    onLost,
    fork: () => connectEngine(options),
  });
}
