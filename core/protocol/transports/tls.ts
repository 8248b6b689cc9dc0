// Reaches a server that listens for TLS: what socket.ts does, encrypted, to a server that proves who
// it is. It proves it by a certificate that a trusted CA signed for its name, or by being exactly the
// certificate whose fingerprint was pinned (a device with a certificate of its own making). Nothing
// is written before that is settled. Certificates come as PEM text, never as paths: who reads files
// is the caller's business.
import { isIP } from 'node:net';
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  type ConnectionOptions,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import { pemText, type Pem } from '../../base/pem.ts';
import { messageOf } from '../../base/thrown.ts';
import { labelOf, readConnectTimeout, readHostAndPort } from './address.ts';
import { checkOptionNames } from './options.ts';
import { createConnection, openSocket, type SocketKind } from './socket-connection.ts';
import type { EngineTransport } from './types.ts';

export interface TlsTransportOptions {
  /** Host name or address; an IPv6 address with or without brackets. */
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number;
  /** Certificates of the CAs to trust, as PEM, in place of those that come with Node. */
  readonly ca?: Pem | readonly Pem[];
  /** This client's certificate (with what it is signed by, if need be), as PEM. With `key`. */
  readonly cert?: Pem;
  /** The private key of `cert`, as PEM. */
  readonly key?: Pem;
  /** Opens an encrypted `key`. */
  readonly passphrase?: string;
  /** The name that the server's certificate must be for; default `host`. */
  readonly serverName?: string;
  /**
   * The SHA-256 fingerprint of the server's certificate, 64 hexadecimal digits with or without
   * colons: no other certificate is accepted. Without `ca` and `serverName` it is all that is asked
   * of the certificate; with either of them a trusted CA must have signed it too.
   */
  readonly fingerprint?: string;
  /** Longest wait for the connection and its encryption together, ms; default 10000. */
  readonly connectTimeoutMs?: number;
}

const SUBJECT = 'tlsTransport';
const OPTION_NAMES = Object.keys({
  host: true,
  port: true,
  ca: true,
  cert: true,
  key: true,
  passphrase: true,
  serverName: true,
  fingerprint: true,
  connectTimeoutMs: true,
} satisfies Record<keyof TlsTransportOptions, true>);

const NO_TLS = 'the server does not speak TLS: serve with a certificate, or use socketTransport';
const UNTRUSTED =
  'no trusted CA signed the certificate of the server: pass its CA as ca, or pin its fingerprint';
const DEMANDS_CERT =
  'the server demands a client certificate: pass cert and key, signed by the CA that it was told';
const REFUSES_CERT = 'the server does not accept this client certificate: check cert, and its CA';

const REMEDIES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_SIGNATURE_FAILURE: UNTRUSTED,
  CERT_HAS_EXPIRED: 'the certificate of the server has expired: renew it, or check the clocks',
  CERT_NOT_YET_VALID: 'the certificate of the server is not valid yet: check the clocks',
  CERT_REVOKED: 'the certificate of the server was revoked: renew it',
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  ERR_SSL_RECORD_LAYER_FAILURE: NO_TLS,
  ERR_SSL_UNKNOWN_PROTOCOL: NO_TLS,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION:
    'the server speaks only versions of TLS that are too old: it must speak 1.2 or later',
  ERR_SSL_UNSUPPORTED_PROTOCOL:
    'the server speaks only versions of TLS that are too old: it must speak 1.2 or later',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: DEMANDS_CERT,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE:
    'the server and this client agree on no way to encrypt, or it demands a client certificate (cert and key)',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: REFUSES_CERT,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: REFUSES_CERT,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: REFUSES_CERT,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: REFUSES_CERT,
  ECONNRESET:
    'the server ended the connection while it was being encrypted: check that it speaks TLS at this port',
};

/**
 * Connects to a server that listens for TLS 1.2 or 1.3, once per connection. Throws a TypeError on
 * malformed options and on certificates that cannot be read; opening rejects with an error that names
 * the address, the cause and the remedy, with the `code` of the system's or TLS's error.
 */
export function tlsTransport(options: TlsTransportOptions): EngineTransport {
  checkOptionNames(SUBJECT, options, OPTION_NAMES);
  const address = readHostAndPort(SUBJECT, options);
  const limit = readConnectTimeout(SUBJECT, options.connectTimeoutMs);
  const { ca, cert, key, serverName } = options;
  if ((cert === undefined) !== (key === undefined)) {
    throw new TypeError(`${SUBJECT}: cert and key go together.`);
  }
  const fingerprint = readFingerprint(options.fingerprint);
  const pinnedOnly = fingerprint !== undefined && ca === undefined && serverName === undefined;
  const secureContext = readCertificates(options);
  const label = labelOf(address);
  const kind: SocketKind = {
    remedies: {
      ...REMEDIES,
      ERR_TLS_CERT_ALTNAME_INVALID: `the certificate of the server is not for ${JSON.stringify(serverName ?? address.host)}: connect by a name that it is for, or pass that as serverName`,
    },
    silentEnd:
      cert === undefined
        ? undefined
        : 'if it demands client certificates, its CA may not be the one that signed this cert',
  };
  const start = (): TLSSocket =>
    connect({
      ...address,
      secureContext,
      minVersion: 'TLSv1.2',
      // Said either way: the environment could turn it off for the whole process.
      rejectUnauthorized: !pinnedOnly,
      ...expectName(serverName ?? address.host),
    });
  return {
    label,
    async open(context) {
      const socket = await openSocket({
        start,
        ready: 'secureConnect',
        refuse: (opened) => otherThanPinned(opened, fingerprint),
        label,
        limit,
        context,
        ...kind,
      });
      return createConnection(socket, `${label} over TLS`, kind);
    },
  };
}

function expectName(name: string): ConnectionOptions {
  // An address must not be sent as a name, but a certificate may be for one.
  if (isIP(name) === 0) return { servername: name };
  return {
    checkServerIdentity: (_host, certificate) =>
      isForAddress(certificate, name) ? undefined : checkServerIdentity(name, certificate),
  };
}

/** Whether the certificate names this address. Node 22.23 itself finds no IPv6 address in one. */
function isForAddress({ subjectaltname = '' }: PeerCertificate, address: string): boolean {
  // Node quotes a name that could pass for two; such a certificate is left to Node's own reading.
  if (subjectaltname.includes('"')) return false;
  const prefix = 'IP Address:';
  return subjectaltname
    .split(', ')
    .some(
      (name) =>
        name.startsWith(prefix) && canonical(name.slice(prefix.length)) === canonical(address),
    );
}

/** An address in the one spelling that URLs give it. */
function canonical(address: string): string {
  const host = isIP(address) === 6 ? `[${address}]` : address;
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : address;
}

function readFingerprint(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const digits = typeof text === 'string' ? text.replace(/^sha-?256[:=]/iu, '') : '';
  const hex = digits.replaceAll(':', '').trim().toUpperCase();
  if (/^[0-9A-F]{64}$/u.test(hex)) return hex;
  throw new TypeError(
    `${SUBJECT}: fingerprint must be a SHA-256 one, 64 hexadecimal digits with or without colons (openssl x509 -in cert.pem -noout -fingerprint -sha256).`,
  );
}

function otherThanPinned(socket: TLSSocket, pinned: string | undefined): string | undefined {
  if (pinned === undefined) return undefined;
  const shown = socket.getPeerCertificate().fingerprint256;
  if (shown?.replaceAll(':', '') === pinned) return undefined;
  return `its certificate has the SHA-256 fingerprint ${shown ?? '(none)'}, which is not the pinned one; if it got a new certificate, pin that one`;
}

function readCertificates(options: TlsTransportOptions): SecureContext {
  const { ca, cert, key, passphrase } = options;
  const read = (name: string, value: Pem): string => {
    const text = pemText(value);
    if (text !== undefined) return text;
    throw new TypeError(
      `${SUBJECT}: ${name} must be PEM text ("-----BEGIN ..."), such as readFileSync(path, 'utf8').`,
    );
  };
  const settings = {
    ...(ca !== undefined && { ca: [ca].flat().map((one) => read('ca', one as Pem)) }),
    ...(cert !== undefined && { cert: read('cert', cert) }),
    ...(key !== undefined && { key: read('key', key) }),
    ...(passphrase !== undefined && { passphrase }),
  };
  try {
    return createSecureContext({ minVersion: 'TLSv1.2', ...settings });
  } catch (error) {
    // Node's own message names no option; none of them has the key in it.
    throw new TypeError(
      `${SUBJECT}: ca, cert, key and passphrase do not fit together or cannot be read: ${messageOf(error)}.`,
      { cause: error },
    );
  }
}
