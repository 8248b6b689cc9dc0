// A message's sections and fences, read back: the other half of `prompts.ts`. A header or a fence
// counts only as a whole line, and every body is JSON on one line or lies between fences, so what
// stands in a value can open nothing.
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { CHANGES_FENCE, SCREEN_FENCE, SECTION_HEADERS, type PromptKind } from './format.ts';

/** A fenced part of a message. */
export interface FencedBlock {
  readonly kind: 'screen' | 'changes';
  readonly text: string;
}

/** The fenced parts of a message, in order. */
export function readBlocks(text: string): readonly FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { readonly kind: FencedBlock['kind']; readonly lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    if (open === undefined) {
      if (line === SCREEN_FENCE.open) open = { kind: 'screen', lines: [] };
      else if (line === CHANGES_FENCE.open) open = { kind: 'changes', lines: [] };
    } else if (line === (open.kind === 'screen' ? SCREEN_FENCE : CHANGES_FENCE).close) {
      blocks.push({ kind: open.kind, text: open.lines.join('\n') });
      open = undefined;
    } else {
      open.lines.push(line);
    }
  }
  return blocks;
}

/** A message's sections, read back. */
export interface Sections {
  /** Absent in a message that opens no request, such as a tool call's result. */
  readonly kind?: PromptKind;
  readonly instruction?: string;
  readonly params?: JsonObject;
  readonly schema?: JsonValue;
  readonly context?: string;
  /** Completed steps as they are written. */
  readonly ledger?: readonly string[];
  /** The last fenced screen and change report, without their fences. */
  readonly screen?: string;
  readonly changes?: string;
}

/** Reads the sections of any message made here. Lines that belong to none are skipped. */
export function readSections(text: string): Sections {
  const bodies = new Map<string, string[]>();
  const known: ReadonlySet<string> = new Set(Object.values(SECTION_HEADERS));
  let body: string[] | undefined;
  for (const line of text.split('\n')) {
    if (known.has(line) && !bodies.has(line)) {
      body = [];
      bodies.set(line, body);
    } else {
      body?.push(line);
    }
  }
  const value = (header: string): JsonValue | undefined => parseJson(bodies.get(header)?.[0]);
  const kind = (['act', 'judge', 'extract'] as const).find((name) =>
    bodies.has(SECTION_HEADERS[name]),
  );
  const instruction = kind === undefined ? undefined : value(SECTION_HEADERS[kind]);
  const params = value(SECTION_HEADERS.params);
  const schema = value(SECTION_HEADERS.schema);
  const context = value(SECTION_HEADERS.context);
  const ledger = bodies.get(SECTION_HEADERS.ledger);
  const blocks = readBlocks(text);
  const screen = blocks.findLast((block) => block.kind === 'screen');
  const changes = blocks.findLast((block) => block.kind === 'changes');
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(typeof instruction === 'string' ? { instruction } : {}),
    ...(isObject(params) ? { params } : {}),
    ...(schema === undefined ? {} : { schema }),
    ...(typeof context === 'string' ? { context } : {}),
    ...(ledger === undefined ? {} : { ledger }),
    ...(screen === undefined ? {} : { screen: screen.text }),
    ...(changes === undefined ? {} : { changes: changes.text }),
  };
}

function parseJson(text: string | undefined): JsonValue | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
