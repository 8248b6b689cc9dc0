// The rollup plugins of both builds, dist/ and the tests, so that a test runs what is shipped.
// Ours instead of packages: each is a dozen lines, and the gate in `externalGate` is a rule of
// the house (no run-time dependencies) that fails the build, not a warning.

import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, transform } from 'esbuild';
import { ROOT } from './paths.mjs';

/**
 * npm packages that may be bundled: into adapters, which parse foreign JSON with them, and into the
 * demo, which shows an extraction with a schema. Their types stay private.
 */
const BUNDLED = ['valibot'];

const TARGET = 'node20';

/** Strips types from .ts, and lowers what Node 20 has not (`using`). */
export function typescript() {
  return {
    name: 'typescript',
    async transform(code, id) {
      if (!id.endsWith('.ts')) return null;
      const result = await transform(code, {
        loader: 'ts',
        target: TARGET,
        format: 'esm',
        sourcefile: id,
        sourcemap: true,
        legalComments: 'none',
        tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      });
      return { code: result.code, map: result.map };
    },
  };
}

/**
 * Takes the white space out of what is shipped, a third of its bytes, and nothing else: names stay,
 * and lines stay short, so that a stack trace still says where.
 */
export function compact() {
  return {
    name: 'compact',
    async renderChunk(code) {
      const result = await transform(code, {
        loader: 'js',
        target: TARGET,
        format: 'esm',
        minifyWhitespace: true,
        lineLimit: 160,
        charset: 'utf8',
        legalComments: 'none',
      });
      return { code: result.code, map: null };
    },
  };
}

/** A .json import gives its value, as Node's own import attribute does. */
export function json() {
  return {
    name: 'json',
    transform(code, id) {
      if (!id.endsWith('.json')) return null;
      return { code: `export default ${JSON.stringify(JSON.parse(code))};`, map: { mappings: '' } };
    },
  };
}

/** `./page.ts?inline`: in-page code bundled to one script, exported as a string. */
export function inlinePage() {
  const SUFFIX = '?inline';
  return {
    name: 'inline-page',
    resolveId(id, importer) {
      if (!id.endsWith(SUFFIX) || importer === undefined) return null;
      // Written as a virtual module that keeps its folder, so that preserveModules can place it.
      return resolve(dirname(clean(importer)), id.slice(0, -SUFFIX.length)) + SUFFIX;
    },
    async load(id) {
      if (!id.endsWith(SUFFIX)) return null;
      const file = id.slice(0, -SUFFIX.length);
      const result = await build({
        entryPoints: [file],
        absWorkingDir: ROOT,
        bundle: true,
        write: false,
        format: 'iife',
        platform: 'browser',
        target: 'es2022',
        minify: true,
        charset: 'ascii',
        legalComments: 'none',
        metafile: true,
        logLevel: 'silent',
      });
      for (const input of Object.keys(result.metafile.inputs)) this.addWatchFile(join(ROOT, input));
      return {
        code: `export default ${JSON.stringify(result.outputFiles[0].text.trimEnd())};`,
        map: { mappings: '' },
      };
    },
  };
}

/**
 * Decides what stays an import. Built-ins and optional peers do; in dist nothing else may, and a
 * package that is neither stops the build.
 */
export function externalGate(pkg, { base = ROOT, mayBundle = true } = {}) {
  const place = (importer) => placeIn(base, importer);
  const requireAdapter = (id, importer, also = /^$/) => {
    const from = place(importer);
    if (importer === undefined || /^(adapters|\.\.|node_modules)\//.test(from)) return;
    if (also.test(from)) return;
    throw new Error(`${from} imports ${id}: npm packages appear only in adapters`);
  };
  const peers = Object.keys(pkg.peerDependencies ?? {});
  const bare = new Set(builtinModules);
  return (id, importer) => {
    if (isOurs(id)) return false;
    if (id.startsWith('node:')) return true;
    if (bare.has(id)) throw new Error(`${place(importer)} imports ${id}: write node:${id}`);
    if (peers.some((peer) => isPart(id, peer))) {
      requireAdapter(id, importer);
      return true;
    }
    if (BUNDLED.some((name) => isPart(id, name))) {
      requireAdapter(id, importer, /^cli\/demo[./-]/);
      if (!mayBundle) throw new Error(`${place(importer)} shows types of ${id}: keep them private`);
      return false;
    }
    throw new Error(
      `${place(importer)} imports ${id}: enginewright has no run-time dependencies. ` +
        'Make it an optional peer that an adapter loads, or write it in core.',
    );
  };
}

/** Finds a package that is bundled in. */
export function bundledPackages() {
  return {
    name: 'bundled-packages',
    resolveId(id) {
      if (isOurs(id) || !BUNDLED.some((name) => isPart(id, name))) return null;
      return { id: fileURLToPath(import.meta.resolve(id)), moduleSideEffects: false };
    },
  };
}

/** Ships the licence text of every package that was bundled in. */
export function notices() {
  return {
    name: 'notices',
    generateBundle(_options, bundle) {
      const found = new Map();
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        for (const [id, { renderedLength }] of Object.entries(chunk.modules)) {
          const match = /^(.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+))[\\/]/.exec(id);
          if (match !== null && renderedLength > 0) found.set(match[2], match[1]);
        }
      }
      if (found.size === 0) return;
      const parts = [...found].sort().map(([name, folder]) => {
        const file = ['LICENSE.md', 'LICENSE', 'LICENSE.txt', 'license']
          .map((candidate) => join(folder, candidate))
          .find((candidate) => existsSync(candidate));
        if (file === undefined) this.error(`${name} is bundled in, but has no licence file`);
        return `${name}\n\n${readFileSync(file, 'utf8').trim()}\n`;
      });
      this.emitFile({ type: 'asset', fileName: 'NOTICES.txt', source: parts.join('\n---\n\n') });
    },
  };
}

/** `./fixtures/child.ts?file`: that module built as an entry of its own, imported as its path. */
export function processFile() {
  const SUFFIX = '?file';
  return {
    name: 'process-file',
    resolveId(id, importer) {
      if (!id.endsWith(SUFFIX) || importer === undefined) return null;
      return resolve(dirname(clean(importer)), id.slice(0, -SUFFIX.length)) + SUFFIX;
    },
    load(id) {
      if (!id.endsWith(SUFFIX)) return null;
      const reference = this.emitFile({ type: 'chunk', id: id.slice(0, -SUFFIX.length) });
      return [
        `import { fileURLToPath } from 'node:url';`,
        `export default fileURLToPath(import.meta.ROLLUP_FILE_URL_${reference});`,
      ].join('\n');
    },
  };
}

/** In the test build `import.meta.url` is the source's, so that fixtures are found beside it. */
export function sourceMetaUrl() {
  return {
    name: 'source-meta-url',
    resolveImportMeta(property, { moduleId }) {
      const file = clean(moduleId);
      if (property === 'url') return JSON.stringify(pathToFileURL(file).href);
      if (property === 'filename') return JSON.stringify(file);
      if (property === 'dirname') return JSON.stringify(dirname(file));
      return null;
    },
  };
}

/** In the test build every package, our own doors in dist included, stays an import. */
export function testExternal(id) {
  return !isOurs(id);
}

/** A warning of rollup (a circular import, an unresolved name) stops the build. */
export function failOnWarning(warning) {
  throw new Error(`rollup: ${warning.message}`);
}

/** Declarations import './x.ts' or './x.js'; on disk there is x.d.ts. */
export function declarationTree(treeRoot) {
  return {
    name: 'declaration-tree',
    resolveId(id, importer) {
      if (importer === undefined || !id.startsWith('.')) return null;
      const target = resolve(dirname(importer), id);
      if (target.endsWith('.d.ts')) return target;
      if (['.ts', '.js'].includes(extname(target))) return target.replace(/\.[jt]s$/, '.d.ts');
      throw new Error(`${relative(treeRoot, importer)} imports ${id}: write the .ts extension`);
    },
  };
}

function isOurs(id) {
  return id.startsWith('.') || isAbsolute(id) || id.startsWith('\0');
}

function isPart(id, name) {
  return id === name || id.startsWith(`${name}/`);
}

function clean(id) {
  return id.replace(/\?(inline|file)$/, '');
}

function placeIn(base, importer) {
  return importer === undefined ? 'an entry' : relative(base, importer).split(sep).join('/');
}
