import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { is, optional, string, type } from 'superstruct'
import { packageFile, packageVersion } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { diskRoom, removeDurably, renameDurably } from '../store/index.js'

/** What a release tree says about itself in its `release.json`. */
export interface Release {
  /** The name of its folder: the version and the runtime, `0.2.0+node24`. */
  name: string
  version: string
  /** As `process.arch` has it: x64, arm64. */
  arch: string
  /** The oldest C library that its binaries run on; undefined where they need none in particular. */
  glibc?: string | undefined
}

const Shape = type({ name: string(), version: string(), arch: string(), glibc: optional(string()) })
// The name becomes a folder's, and comes from somebody else's file.
const goodName = /^\d+\.\d+\.\d+[A-Za-z0-9.+~-]{0,60}$/

/** Undefined where the folder is no release tree; OperatorError where its `release.json` cannot be understood. */
export function readRelease(tree: string): Release | undefined {
  const file = join(tree, 'release.json')
  if (!existsSync(file)) return undefined
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new OperatorError(`${file} cannot be read`, { cause })
  }
  if (is(value, Shape) && goodName.test(value.name)) return value
  throw new OperatorError(`${file} does not say which release this is (name, version, arch)`)
}

const ownTree = () => join(packageFile('package.json'), '..')

/** The name of the release whose code this is; the version alone where it runs from a checkout. */
export const ownName = (): string => readRelease(ownTree())?.name ?? packageVersion()

/** The folder that has this code's release, with others beside it; undefined in a checkout. */
export const ownPrefix = (): string | undefined =>
  readRelease(ownTree()) === undefined ? undefined : join(ownTree(), '..')

/** Where releases are installed: a folder each, and links to the one in use and to the one before it. */
export interface Layout {
  prefix: string
  /** The folder of a release, whether it is there or not. */
  treeOf(name: string): string
  /** The name of the release in use; undefined where none is. */
  current(): string | undefined
  previous(): string | undefined
  /** The release of a name; undefined where its folder is not there. */
  find(name: string): Release | undefined
  /** Every release that is there, by name. */
  all(): Release[]
  /**
   * Makes `name` the release in use. At every moment, also after a power cut, either the old or the new one is in use.
   */
  switchTo(name: string): void
  /** Remembers the release to go back to, and removes all others except the one in use. */
  keepOnly(previous: string | undefined): void
}

/** The posthorn of a release tree. */
export const commandOf = (tree: string) => join(tree, 'bin', 'posthorn')

/**
 * The releases below `prefix`, and the links that say which is in use. Throws an `OperatorError`
 * where a file stands in the place of a link.
 */
export function makeLayout(prefix: string): Layout {
  const treeOf = (name: string) => join(prefix, name)
  const linked = (link: 'current' | 'previous') => {
    const found = lstatSync(join(prefix, link), { throwIfNoEntry: false })
    if (found === undefined) return undefined
    if (found.isSymbolicLink()) return basename(readlinkSync(join(prefix, link)))
    throw new OperatorError(`${join(prefix, link)} is not a link to a release: move it away`)
  }
  const link = (as: 'current' | 'previous', name: string) => {
    const partial = join(prefix, `.${as}.partial`)
    rmSync(partial, { force: true })
    symlinkSync(name, partial)
    renameDurably(partial, join(prefix, as))
  }
  const find = (name: string) => readRelease(treeOf(name))
  const all = () =>
    existsSync(prefix)
      ? readdirSync(prefix, { withFileTypes: true })
          // The folder that dpkg unpacks ('package') holds a release too, but has not its name.
          .filter((entry) => entry.isDirectory() && /^\d/.test(entry.name))
          .flatMap(({ name }) => find(name) ?? [])
          .sort((a, b) => (a.name < b.name ? -1 : 1))
      : []
  return {
    prefix,
    treeOf,
    find,
    all,
    current: () => linked('current'),
    previous: () => linked('previous'),
    switchTo: (name) => link('current', name),
    keepOnly(previous) {
      if (previous === undefined) removeDurably(join(prefix, 'previous'))
      else link('previous', previous)
      const kept = [linked('current'), previous]
      for (const { name } of all()) if (!kept.includes(name)) removeDurably(treeOf(name))
    },
  }
}

/** Throws where the disk of `dir` has less room than that; `purpose` ends the sentence: 'to unpack the release'. */
export async function refuseWithoutRoom(
  dir: string,
  bytes: number,
  purpose: string,
): Promise<void> {
  const { freeBytes } = await diskRoom(dir)
  if (freeBytes >= bytes) return
  const [left, wanted] = [Math.floor(freeBytes / 1024 ** 2), Math.ceil(bytes / 1024 ** 2)]
  throw new OperatorError(
    `The disk of ${dir} has ${left} MiB left, and ${wanted} are wanted ${purpose}: make room first`,
  )
}
