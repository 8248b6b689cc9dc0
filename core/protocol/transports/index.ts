// The transports' door (`./transports`): what reaches an engine server. Bytes only; the protocol
// itself is `./protocol`.
export type { Pem } from '../../base/pem.ts';
export { memoryStreams } from './memory.ts';
export { socketTransport, type SocketTransportOptions } from './socket.ts';
export { spawnTransport, type SpawnTransportOptions } from './spawn.ts';
export { tlsTransport, type TlsTransportOptions } from './tls.ts';
export type {
  ConnectionRole,
  EngineTransport,
  MessageStreams,
  TransportApp,
  TransportConnection,
  TransportContext,
} from './types.ts';
