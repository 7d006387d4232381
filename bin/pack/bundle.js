// The appliance's modules and all packages in them, bundled into few files.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'

/**
 * Bundles the dashboard's scripts for browsers, src/dashboard/browser/NAME.ts to dist/static/NAME.js: one for
 * all pages, that of templates and that of automations. Returns the folders of the packages in them.
 */
export async function bundleForBrowsers(top) {
  const from = join(top, 'src/dashboard/browser')
  const { metafile } = await build({
    entryPoints: ['posthorn.ts', 'editor.ts', 'steps.ts'].map((name) => join(from, name)),
    outdir: join(top, 'dist/static'), absWorkingDir: top, metafile: true,
    bundle: true, minify: true, format: 'esm', platform: 'browser', target: 'es2022',
    tsconfig: join(from, 'tsconfig.json'), logLevel: 'warning',
  })
  const folders = Object.keys(metafile.inputs).flatMap((path) => folderOfPackage(path) ?? [])
  return [...new Set(folders)].sort()
}

/** The packages that stay beside the bundle, for each has a part that is no JavaScript. */
export const nativePackages = ['better-sqlite3', 'uWebSockets.js', 'mrml']

/**
 * Writes the entries (command line, threads, jobs) with what they share below `outdir`, at the same places
 * as in dist/src. Returns the folders of the packages that went into it, from `top` on, in order.
 */
export async function bundle(top, outdir) {
  const from = join(top, 'dist/src')
  const options = {
    absWorkingDir: top, metafile: true, bundle: true, platform: 'node', target: 'node20',
    // Names stay, and lines are short: the stack of an error in a log can be read.
    minifySyntax: true, minifyWhitespace: true, lineLimit: 160, logLevel: 'warning',
  }
  const required = new Set()
  const fileOf = (name) => {
    if (ofMail.test(name) || nativePackages.includes(name)) return undefined
    required.add(name)
    return `../chunks/${lateFile(name)}`
  }
  const { metafile } = await build({
    ...options,
    entryPoints: entries(from),
    outdir, outbase: from, splitting: true, format: 'esm',
    // As deep as the modules were, which find the threads' entries from where they lie themselves.
    chunkNames: 'chunks/[name]-[hash]',
    external: nativePackages,
    plugins: [lateLoads(from, { fileOf })],
    banner: {
      js: [
        "import { createRequire as __makeRequire } from 'node:module'",
        "import { fileURLToPath as __pathOf } from 'node:url'",
        'const require = __makeRequire(import.meta.url), __dirname = __pathOf(new URL(".", import.meta.url))',
        'const __kept = {}, __late = (file) => (__kept[file] ??= require(file))',
      ].join(';'),
    },
  })
  const late = await Promise.all(
    [...required].map((name) =>
      build({
        ...options,
        stdin: { contents: `module.exports = require('${name}')`, resolveDir: top },
        outfile: join(outdir, 'chunks', lateFile(name)), format: 'cjs',
      }),
    ),
  )
  const made = [metafile, ...late.map((one) => one.metafile)]
  for (const { outputs } of made) {
    for (const file of Object.keys(outputs)) escapeBeyondAscii(join(top, file))
  }
  const inputs = made.flatMap((one) => Object.keys(one.inputs))
  return [...new Set(inputs.flatMap((path) => folderOfPackage(path) ?? []))].sort()
}

// What mail is read and composed with is in the chunks: mail of a checkout that is built anew while it runs would find no
// file of it, and be held.
const ofMail = /^(entities|htmlparser2|nodemailer|postal-mime)\b/

/** The file of a package that is required when it is first needed, until when a thread has not even its text. */
const lateFile = (name) => `${name.replaceAll('/', '-')}.cjs`

/**
 * V8 keeps a source with one character beyond Latin-1 in two bytes a character, in each thread. esbuild leaves such
 * characters in templates and regular expressions, where an escape means the same.
 */
function escapeBeyondAscii(file) {
  const source = readFileSync(file, 'utf8')
  const behindBackslash = /.{0,40}\\[^\0-\x7f].{0,40}/.exec(source)
  if (behindBackslash !== null) throw new Error(`${file}: would mean something else as an escape: ${behindBackslash[0]}`)
  const escaped = source.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  if (escaped !== source) writeFileSync(file, escaped)
}

function entries(from) {
  const files = ['threads', 'jobs'].flatMap((folder) =>
    readdirSync(join(from, folder))
      .filter((name) => name.endsWith('.js'))
      .map((name) => join(from, folder, name)),
  )
  return [join(from, 'cli/main.js'), ...files.sort()]
}

/**
 * Two ways to load a package late, as esbuild can follow them, in modules of our own below `from`. With `fileOf` those
 * that are required and for which it names a file stay there. With `urlOf` each module keeps the URL that it had.
 */
export function lateLoads(from, { fileOf, urlOf }) {
  const byRequire = /\bcreateRequire\(import\.meta\.url\)\(['"]([\w@/.-]+)['"]\)/g
  // Node finds the names that a CommonJS package exports; of one in a chunk only `default` is there.
  const byImport = /\bawait import\((['"][^.'"][^'"]*['"])\)/g
  return {
    name: 'late-loads',
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (relative(from, path).startsWith('..')) return undefined
        const contents = readFileSync(path, 'utf8')
          .replace(byRequire, (_, name) => {
            const file = fileOf?.(name)
            return file === undefined ? `require('${name}')` : `__late('${file}')`
          })
          .replace(byImport, '((all) => ({ ...all.default, ...all }))(await import($1))')
        const placed = urlOf ? contents.replaceAll('import.meta.url', `'${urlOf(path)}'`) : contents
        return { contents: placed, loader: 'js' }
      })
    },
  }
}

/** `node_modules/a/node_modules/@b/c` of a file in it; undefined for a file of our own. */
function folderOfPackage(path) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]
}
