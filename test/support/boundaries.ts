// The table "Which way imports point" of the design, as data, and the function that holds sources
// against it. First row that a file matches counts; a file that matches none is a failure too, so
// that a new folder gets its row. `core/base` is a leaf that everything may import.

import { posix } from 'node:path';
import { importsOf, type Import } from './imports.ts';

interface Row {
  /** As in the design. */
  readonly module: string;
  readonly files: RegExp;
  /** What of ours it may import; itself, where that is allowed, is listed. */
  readonly may: readonly RegExp[];
  /** Allowed as types, which the compiler erases. */
  readonly mayAsTypes?: readonly RegExp[];
  /** Allowed by `import()` only. */
  readonly mayLazily?: readonly RegExp[];
  /** npm packages: what the build bundles, and `peers` also those, lazily or as types. */
  readonly npm?: 'peers' | 'bundled';
  /** Built-ins of Node. Default: allowed. */
  readonly node?: false;
}

const BASE = /^core\/base\//;
/** The door, and from inside core also its parts. */
const CONTRACT = /^core\/contract(\.ts$|\/)/;
const CONTRACT_DOOR = /^core\/contract\.ts$/;
const PROTOCOL_DOOR = /^core\/protocol\/index\.ts$/;
const TRANSPORTS_DOOR = /^core\/protocol\/transports\/index\.ts$/;
const PIXELS_DOOR = /^core\/pixels\/index\.ts$/;
const AGENT_DOOR = /^core\/agent\/index\.ts$/;
const HOST_DOOR = /^core\/host\/index\.ts$/;
const REGISTRY = /^adapters\/registry\.ts$/;
/** What model adapters share: http.ts and the parts it was split into. */
const MODEL_HELPERS = /^adapters\/models\/(http|failures|redact|retry)\.ts$/;
const ADAPTER_DOORS = [
  /^adapters\/models\/(?!(http|failures|redact|retry)\.ts$)[^/]+\.ts$/,
  /^adapters\/engines\/[^/]+\/index\.ts$/,
];
const TESTING_DOOR = /^testing\/index\.ts$/;

/** With its parts beside it, framing-*.ts. */
const FRAMING = /^core\/protocol\/framing(-[\w-]+)?\.ts$/;
const MESSAGES = /^core\/protocol\/messages\.ts$/;
/** With its parts beside it, peer-*.ts. It speaks over a transport's streams, so it knows their type. */
const PEER = /^core\/protocol\/peer(-[\w-]+)?\.ts$/;
const TRANSPORT_TYPES = /^core\/protocol\/transports\/types\.ts$/;
/** All of the protocol but its two ends, the place where they meet, its door and the transports. */
const PROTOCOL_MIDDLE = /^core\/protocol\/(?!(client|server|transports)\/|loopback\.ts|index\.ts)/;
const PROTOCOL_SHARED = [BASE, CONTRACT, TRANSPORT_TYPES, PROTOCOL_MIDDLE];

const DOORS = [
  CONTRACT_DOOR,
  PROTOCOL_DOOR,
  TRANSPORTS_DOOR,
  PIXELS_DOOR,
  AGENT_DOOR,
  HOST_DOOR,
  REGISTRY,
  ...ADAPTER_DOORS,
  TESTING_DOOR,
  /^index\.ts$/,
];

export const TABLE: readonly Row[] = [
  { module: 'core/base', files: BASE, may: [BASE] },
  { module: 'core/contract.ts', files: CONTRACT_DOOR, may: [BASE, /^core\/contract\//] },
  { module: 'core/contract/*', files: /^core\/contract\//, may: [BASE, /^core\/contract\//] },
  { module: 'core/protocol/framing', files: FRAMING, may: [BASE, FRAMING] },
  { module: 'core/protocol/messages', files: MESSAGES, may: [BASE] },
  {
    module: 'core/protocol/peer',
    files: PEER,
    may: [BASE, FRAMING, MESSAGES, PEER],
    mayAsTypes: [TRANSPORT_TYPES],
  },
  {
    module: 'core/protocol/client/*',
    files: /^core\/protocol\/client\//,
    may: [...PROTOCOL_SHARED, /^core\/protocol\/client\//],
  },
  {
    module: 'core/protocol/server/*',
    files: /^core\/protocol\/server\//,
    may: [...PROTOCOL_SHARED, /^core\/protocol\/server\//],
  },
  {
    module: 'core/protocol/loopback.ts',
    files: /^core\/protocol\/loopback\.ts$/,
    may: [
      ...PROTOCOL_SHARED,
      /^core\/protocol\/(client|server)\//,
      /^core\/protocol\/transports\/memory\.ts$/,
    ],
  },
  {
    module: 'core/protocol/transports/*',
    files: /^core\/protocol\/transports\//,
    may: [BASE, /^core\/protocol\/transports\//],
  },
  {
    module: 'core/protocol/index.ts',
    files: PROTOCOL_DOOR,
    may: [BASE, CONTRACT, /^core\/protocol\//],
  },
  { module: 'rest of core/protocol', files: /^core\/protocol\//, may: PROTOCOL_SHARED },
  { module: 'core/pixels/*', files: /^core\/pixels\//, may: [BASE, /^core\/pixels\//] },
  {
    module: 'core/agent/*',
    files: /^core\/agent\//,
    may: [BASE, CONTRACT, /^core\/pixels\//, /^core\/agent\//],
  },
  {
    module: 'core/host/*',
    files: /^core\/host\//,
    may: [BASE, CONTRACT, /^core\/agent\//, /^core\/host\//],
  },
  {
    module: 'adapters/engines/document/*',
    files: /^adapters\/engines\/document\//,
    may: [/^adapters\/engines\/document\//],
    mayAsTypes: [BASE, CONTRACT, PIXELS_DOOR],
    node: false,
  },
  {
    module: 'adapters/engines/*',
    files: /^adapters\/engines\/([^/]+)\//,
    // `$1`: the engine's own folder, filled in below.
    may: [BASE, CONTRACT_DOOR, PIXELS_DOOR, /^adapters\/engines\/document\//],
    npm: 'peers',
  },
  {
    module: 'adapters/models/plain-words',
    files: /^adapters\/models\/plain-words(\.ts$|\/)/,
    may: [
      BASE,
      /^core\/agent\/model\.ts$/,
      /^core\/agent\/screen\/read\.ts$/,
      /^adapters\/models\/plain-words\//,
    ],
  },
  {
    module: 'adapters/models/*',
    files: /^adapters\/models\//,
    // The contract's door for its errors: a missing key is a configuration error.
    may: [
      BASE,
      CONTRACT_DOOR,
      /^core\/agent\/model\.ts$/,
      MODEL_HELPERS,
      /^adapters\/models\/chat\//,
    ],
    npm: 'peers',
  },
  {
    module: 'adapters/registry.ts',
    files: REGISTRY,
    may: [BASE, CONTRACT_DOOR],
    mayAsTypes: [AGENT_DOOR, /^core\/agent\/model\.ts$/, ...ADAPTER_DOORS],
    mayLazily: ADAPTER_DOORS,
  },
  {
    module: 'testing/',
    files: /^testing\//,
    may: [BASE, CONTRACT_DOOR, PROTOCOL_DOOR, AGENT_DOOR, /^testing\//],
  },
  {
    // The demo shows an extraction with a schema library, as a host would write it.
    module: 'cli/demo',
    files: /^cli\/demo[./-]/,
    may: [BASE, ...DOORS, /^cli\//],
    npm: 'bundled',
  },
  { module: 'cli/', files: /^cli\//, may: [BASE, ...DOORS, /^cli\//] },
  { module: 'index.ts', files: /^index\.ts$/, may: [BASE, ...DOORS] },
];

/** npm packages that the build may bundle (scripts/rollup-plugins.mjs). */
const BUNDLED = /^valibot(\/|$)/;

/** Folders in which an import must not lead back to where it came from, not even as a type. */
const ACYCLIC = /^core\/contract(\.ts$|\/)/;

/** What is wrong, one sentence each. `sources`: path from the root, with `/`, to text. */
export function violations(sources: ReadonlyMap<string, string>): readonly string[] {
  const found: string[] = [];
  const edges = new Map<string, string[]>();
  for (const [file, text] of sources) {
    const row = TABLE.find(({ files }) => files.test(file));
    if (row === undefined) {
      found.push(`${file}: no row of the import table is for it (test/support/boundaries.ts)`);
      continue;
    }
    for (const item of importsOf(text)) {
      const reason = judge(row, file, item);
      if (reason !== undefined) {
        found.push(`${file}:${item.line} imports ${item.specifier}: ${row.module} ${reason}`);
      }
      const target = targetOf(file, item);
      if (target === undefined || item.kind === 'lazy') continue;
      if (item.kind === 'value' || (ACYCLIC.test(file) && ACYCLIC.test(target))) {
        edges.set(file, [...(edges.get(file) ?? []), target]);
      }
    }
  }
  for (const cycle of cycles(edges)) found.push(`imports in a circle: ${cycle.join(' -> ')}`);
  return found;
}

function judge(row: Row, file: string, item: Import): string | undefined {
  const { specifier, kind } = item;
  if (specifier.startsWith('node:')) {
    return row.node === false ? 'runs in a page and has no built-ins of Node' : undefined;
  }
  const target = targetOf(file, item);
  if (target === undefined) {
    if (row.npm === undefined) return 'may import no npm package';
    if (BUNDLED.test(specifier)) return undefined;
    if (row.npm === 'bundled') return 'may import no npm package but what the build bundles';
    return kind === 'value'
      ? 'loads an optional peer lazily, or has it injected: no static import'
      : undefined;
  }
  if (!/\.(ts|json)$/.test(target)) return 'names the file with its .ts';
  if (target.endsWith('.json') || row.may.some((pattern) => pattern.test(target))) return undefined;
  const own = row.files.exec(file)?.[0] ?? '';
  if (row.module === 'adapters/engines/*' && target.startsWith(own)) return undefined;
  if (kind === 'type' && row.mayAsTypes?.some((pattern) => pattern.test(target))) return undefined;
  if (kind === 'lazy' && row.mayLazily?.some((pattern) => pattern.test(target))) return undefined;
  if (row.mayLazily?.some((pattern) => pattern.test(target))) return 'may import that lazily only';
  if (row.mayAsTypes?.some((pattern) => pattern.test(target)))
    return 'may import that as types only';
  return 'may not import that';
}

function targetOf(file: string, { specifier }: Import): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined;
}

/** Each circle once, beginning with its first file by name. */
function cycles(edges: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const found: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const seen = path.indexOf(file);
    if (seen >= 0) {
      found.push([...path.slice(seen), file]);
      return;
    }
    if (done.has(file)) return;
    path.push(file);
    for (const target of edges.get(file) ?? []) visit(target);
    path.pop();
    done.add(file);
  };
  for (const file of [...edges.keys()].sort()) visit(file);
  return found;
}
