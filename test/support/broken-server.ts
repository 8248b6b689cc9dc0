// An engine server that prints before it serves, as servers of the field do.
import { serveEngine } from '../../core/protocol/index.ts';
import { faultyEngine } from '../../testing/index.ts';

process.stdout.write('ready\n');
await serveEngine(() => faultyEngine());
