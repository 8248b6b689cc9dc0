// The protocol's door (`./protocol`): an engine server as a handle, an engine as a server, and what
// there is to know about the wire. The transports of the specification are re-exported from their
// own door, `./transports`.
export { connectEngine } from './client/connect.ts';
export type { ConnectEngineOptions } from './client/options.ts';
export { fetchManifest, type FetchManifestOptions } from './client/fetch-manifest.ts';
export type { LivenessOptions } from './client/liveness.ts';
export { serveEngine, type ServeEngineOptions } from './server/serve.ts';
export type { EngineClient, EngineSource } from './server/dispatch.ts';
export { listenEngine, type EngineListener } from './server/listen.ts';
export type { ListenEngineOptions, ListenTlsOptions } from './server/listen-options.ts';
export type { EngineConnection } from './server/admission.ts';
export { withToken } from './token.ts';
export { loopbackTransport } from './loopback.ts';
export { checkManifest, compareManifests, describeEngine } from './manifest.ts';
export {
  ENGINE_METHODS,
  ENGINE_METHOD_NAMES,
  PROTOCOL_MESSAGES,
  PROTOCOL_VERSION,
  isEngineMethod,
  type EngineMethod,
  type MessageRow,
  type MethodRow,
  type ProtocolMessage,
  type TimeClass,
} from './methods.ts';
export type { EngineManifest } from './types.ts';
export {
  socketTransport,
  spawnTransport,
  tlsTransport,
  type ConnectionRole,
  type EngineTransport,
  type MessageStreams,
  type Pem,
  type SocketTransportOptions,
  type SpawnTransportOptions,
  type TlsTransportOptions,
  type TransportConnection,
  type TransportContext,
} from './transports/index.ts';
