// Where a wire leads, and the warning about one that anybody on the way can read. Both ends of a plain
// connection warn, each once per address, through Node's own channel for warnings: a host can listen
// to it, silence it, or turn it into an error, and nothing is printed by an import.
import process from 'node:process';

/** Whether an address of a socket (numeric, as the system gives it) stays on this machine. */
export function isLoopbackAddress(address: string): boolean {
  const plain = plainAddress(address);
  return plain === '::1' || /^127(\.\d{1,3}){3}$/u.test(plain);
}

/** An address without the prefix that IPv4 gets on a socket for both families. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/iu, '');
}

/** `host:port`, with brackets around IPv6. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const warned = new Set<string>();

/** Warns once per `code` and `key` in this process. */
export function warnOnce(code: string, key: string, message: string): void {
  const id = `${code} ${key}`;
  if (warned.has(id)) return;
  warned.add(id);
  process.emitWarning(message, { type: 'EnginewrightWarning', code });
}
