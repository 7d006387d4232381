import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { packageFile } from '../../config/index.js'
import type { Pages } from '../../http/index.js'
import { Html } from './html.js'

// The types that we serve; browsers guess none, because `nosniff` forbids it.
const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

interface StaticFile {
  name: string
  read: () => Buffer
  contentType: string
  /** The path has a hash of the bytes in it, so the file at a path never changes. */
  path: string
}

// Found and hashed once in a process.
const known = new Map<string, StaticFile>()

/** Those of these scripts that the build has made. Without a build, pages work as they do without script. */
export const builtOf = (names: readonly string[]): string[] =>
  names.filter((name) => existsSync(packageFile(`dist/static/${name}`)))

/** The path of a file of `src/dashboard/static`, or of its parts in `NAME.d`, or of those that the build makes. */
export const staticPath = (name: string): string => staticFile(name).path

/** Adds the files of these names, which browsers may keep for good. */
export function staticRoutes(pages: Pages, names: readonly string[]): void {
  for (const { path, read, contentType } of names.map(staticFile)) {
    // RFC 8246: with `immutable` a browser does not ask again even when somebody reloads the page.
    pages.file(path, { read, contentType, cacheControl: 'public, max-age=31536000, immutable' })
  }
}

/** Adds the files of these names at paths that stay, for pages that do not know their hash. */
export function fixedRoutes(pages: Pages, names: readonly string[]): void {
  for (const { name, read, contentType } of names.map(staticFile)) {
    // Browsers ask for them each time, by their ETag: the file at this path may change with the next release.
    pages.file(`/static/${name}`, { read, contentType })
  }
}

/** A drawing of ours to stand within a page: it costs no request. */
export const drawing = (name: string): Html => new Html(staticFile(name).read().toString())

/** The files of a folder, in the order of their names, as one. */
const joined = (folder: string): Buffer =>
  Buffer.concat(
    readdirSync(folder)
      .sort()
      .map((name) => readFileSync(`${folder}/${name}`)),
  )

function staticFile(name: string): StaticFile {
  const found = known.get(name)
  if (found !== undefined) return found
  const made = packageFile(`dist/static/${name}`)
  const path = existsSync(made) ? made : packageFile(`src/dashboard/static/${name}`)
  const parts = `${path}.d`
  const read = () => (existsSync(parts) ? joined(parts) : readFileSync(path))
  const hash = createHash('sha256').update(read()).digest('base64url').slice(0, 12)
  const [, stem = name, extension = ''] = /^(.*)\.(\w+)$/.exec(name) ?? []
  const file = {
    name,
    read,
    contentType: types[extension] ?? 'application/octet-stream',
    path: `/static/${stem}.${hash}.${extension}`,
  }
  known.set(name, file)
  return file
}
