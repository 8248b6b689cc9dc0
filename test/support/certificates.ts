// Certificates for tests, made by openssl at test time: none is in the repository, so none expires.
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate with its key, as PEM, and where the files are. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** SHA-256, with colons. */
  readonly fingerprint: string;
}

export interface Certificates {
  /** The folder with all files; removed by `remove`. */
  readonly folder: string;
  /** Signs `server`, `client` and `elsewhere`. */
  readonly ca: Certificate;
  /** For localhost, 127.0.0.1 and ::1. */
  readonly server: Certificate;
  /** For `other.test` only. */
  readonly elsewhere: Certificate;
  /** Common name `tester`. */
  readonly client: Certificate;
  readonly otherCa: Certificate;
  /** Signed by `otherCa`. */
  readonly stranger: Certificate;
  /** Signed by itself. */
  readonly device: Certificate;
  remove(): void;
}

/** Answers `undefined` on a machine without openssl. */
export function makeCertificates(): Certificates | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'enginewright-tls-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  };
  const read = (name: string): Certificate => {
    const certFile = join(folder, `${name}.pem`);
    const keyFile = join(folder, `${name}.key`);
    const cert = readFileSync(certFile, 'utf8');
    const key = readFileSync(keyFile, 'utf8');
    return { cert, key, certFile, keyFile, fingerprint: new X509Certificate(cert).fingerprint256 };
  };
  const ecKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const selfSigned = (name: string, ...extra: string[]): Certificate => {
    const subject = ['-subj', `/CN=${name}`, '-days', '2'];
    const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
    openssl('req', '-x509', ...ecKey, ...subject, ...files, ...extra);
    return read(name);
  };
  const signed = (name: string, by: string, extensions: string): Certificate => {
    openssl(
      'req',
      ...ecKey,
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
    );
    writeFileSync(join(folder, `${name}.ext`), extensions);
    const ca = ['-CA', `${by}.pem`, '-CAkey', `${by}.key`, '-CAcreateserial'];
    const out = ['-days', '2', '-extfile', `${name}.ext`, '-out', `${name}.pem`];
    openssl('x509', '-req', '-in', `${name}.csr`, ...ca, ...out);
    return read(name);
  };
  try {
    openssl('version');
  } catch {
    remove();
    return undefined;
  }
  const local = 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\n';
  const ca = selfSigned('ca');
  const otherCa = selfSigned('otherCa');
  return {
    folder,
    ca,
    otherCa,
    server: signed('server', 'ca', local),
    elsewhere: signed('elsewhere', 'ca', 'subjectAltName=DNS:other.test\n'),
    client: signed('tester', 'ca', 'extendedKeyUsage=clientAuth\n'),
    stranger: signed('stranger', 'otherCa', 'extendedKeyUsage=clientAuth\n'),
    device: selfSigned('device', '-addext', 'subjectAltName=DNS:device.test'),
    remove,
  };
}
