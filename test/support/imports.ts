// Reads the imports of a TypeScript source without a TypeScript parser (TypeScript 7 has no API):
// comments and the insides of template literals are blanked first, so that what looks like an
// import in them is none; then the few forms an import can have are matched.

export interface Import {
  /** As written, without `?inline` and the like. */
  readonly specifier: string;
  /** `type`: erased by the compiler. `lazy`: loaded when the code comes to it. */
  readonly kind: 'value' | 'type' | 'lazy';
  readonly line: number;
}

const STATEMENT = /(?:^|[;}])\s*(import|export)\b(?!\s*\()([^'"`;]*?)(['"])([^'"\n]+)\3/gm;
const CALL = /(\btypeof\s+)?(?<![.\w])import\s*\(\s*(['"])([^'"\n]+)\2[^)]*\)(\s*\.\s*(\w+))?/g;

export function importsOf(source: string): readonly Import[] {
  const code = blank(source);
  const found: Import[] = [];
  for (const match of code.matchAll(STATEMENT)) {
    const [whole, keyword = '', clause = '', , specifier = ''] = match;
    // `export const x = 'y'` has no from; `import 'x'` needs none.
    if (!(/\bfrom\s*$/.test(clause) || (keyword === 'import' && clause.trim() === ''))) continue;
    const at = match.index + whole.indexOf(keyword);
    found.push({ specifier: bare(specifier), kind: kindOf(clause), line: lineAt(code, at) });
  }
  for (const match of code.matchAll(CALL)) {
    const [, typeOf, , specifier = '', , member] = match;
    // import('x').Name stands for a type; a promise has but three members.
    const isType = typeOf !== undefined || (member !== undefined && !PROMISE.has(member));
    found.push({
      specifier: bare(specifier),
      kind: isType ? 'type' : 'lazy',
      line: lineAt(code, match.index),
    });
  }
  return found.sort((one, other) => one.line - other.line);
}

const PROMISE = new Set(['then', 'catch', 'finally']);

function kindOf(clause: string): Import['kind'] {
  if (/^\s+type\b(?!\s*,|\s+from\b)/.test(clause)) return 'type';
  const names = /^\s*\{([^}]*)\}\s*from\s*$/.exec(clause)?.[1];
  if (names === undefined) return 'value';
  const list = names.split(',').filter((name) => name.trim() !== '');
  return list.length > 0 && list.every((name) => /^\s*type\s+\w/.test(name)) ? 'type' : 'value';
}

function bare(specifier: string): string {
  return specifier.replace(/\?(inline|file)$/, '');
}

function lineAt(code: string, index: number): number {
  return code.slice(0, index).split('\n').length;
}

/** A slash after one of these begins a regular expression, not a division. */
const BEFORE_REGEX =
  /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|await))\s*$/;

/** The same text, line for line, with comments, template literals and regular expressions blanked. */
function blank(source: string): string {
  let out = '';
  let at = 0;
  const drop = (end: number): void => {
    out += source.slice(at, end).replace(/[^\n]/g, ' ');
    at = end;
  };
  while (at < source.length) {
    const char = source[at];
    if (source.startsWith('//', at)) drop(endOf(source, '\n', at, 0));
    else if (source.startsWith('/*', at)) drop(endOf(source, '*/', at + 2, 2));
    else if (char === '`') drop(endOfTemplate(source, at));
    else if (char === "'" || char === '"') {
      const end = endOfQuoted(source, at, char);
      out += source.slice(at, end);
      at = end;
    } else if (char === '/' && BEFORE_REGEX.test(out.slice(-20))) drop(endOfRegex(source, at));
    else {
      out += char;
      at += 1;
    }
  }
  return out;
}

function endOf(source: string, mark: string, from: number, width: number): number {
  const end = source.indexOf(mark, from);
  return end < 0 ? source.length : end + width;
}

function endOfQuoted(source: string, start: number, quote: string): number {
  let at = start + 1;
  while (at < source.length && source[at] !== quote && source[at] !== '\n') {
    at += source[at] === '\\' ? 2 : 1;
  }
  return at + 1;
}

function endOfRegex(source: string, start: number): number {
  let inClass = false;
  let at = start + 1;
  for (; at < source.length && source[at] !== '\n'; at += 1) {
    const char = source[at];
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return at + 1;
  }
  return at;
}

/** With what is nested in `${}`: an import() in there is not seen. */
function endOfTemplate(source: string, start: number): number {
  let at = start + 1;
  while (at < source.length) {
    const char = source[at];
    if (char === '\\') at += 2;
    else if (char === '`') return at + 1;
    else if (source.startsWith('${', at)) at = endOfHole(source, at + 2);
    else at += 1;
  }
  return at;
}

function endOfHole(source: string, start: number): number {
  let depth = 1;
  let at = start;
  while (at < source.length && depth > 0) {
    const char = source[at] ?? '';
    if (char === '`') at = endOfTemplate(source, at);
    else if (char === "'" || char === '"') at = endOfQuoted(source, at, char);
    else {
      if (char === '{') depth += 1;
      if (char === '}') depth -= 1;
      at += 1;
    }
  }
  return at;
}
