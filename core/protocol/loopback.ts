// The one place where both sides of the protocol meet: an engine served in this process, over
// streams in memory. Every call still crosses the protocol, serialized as on any other transport;
// only files are shared, since both sides have the same disk.
import { systemClock } from '../base/clock.ts';
import { createDeadline, race } from '../base/deadline.ts';
import { isEngineHandle } from '../contract/define.ts';
import { ConfigurationError } from '../contract/errors.ts';
import type { EngineSource } from './server/dispatch.ts';
import { serveEngine } from './server/serve.ts';
import { memoryStreams } from './transports/memory.ts';
import type { EngineTransport } from './transports/types.ts';

/**
 * Serves an engine in this process; a factory makes one per connection. Throws `INVALID_CONFIG`
 * for anything else.
 */
export function loopbackTransport(engine: EngineSource): EngineTransport {
  if (!isEngineHandle(engine) && typeof engine !== 'function') {
    throw new ConfigurationError(
      'INVALID_CONFIG',
      'loopbackTransport takes an engine handle, what defineEngine returns.',
    );
  }
  return {
    label: 'loopback',
    async open({ signal }) {
      signal.throwIfAborted();
      const [client, server] = memoryStreams();
      const served = serveEngine(engine, server, { localArtifacts: true });
      return {
        ...client,
        async close(timeoutMs) {
          client.output.end();
          const deadline = createDeadline({ clock: systemClock, ms: timeoutMs });
          // The engine may still be ending what its client left; beyond the budget it is left to it.
          await race(served, deadline.signal).catch(() => undefined);
          deadline.dispose();
          for (const { input, output } of [client, server]) {
            input.destroy();
            output.destroy();
          }
        },
      };
    },
  };
}
