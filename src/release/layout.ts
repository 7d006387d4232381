import { existsSync, lstatSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { OperatorError } from '../errors/index.js'
import { removeDurably, renameDurably } from '../store/index.js'
import { type Release, readRelease } from './release.js'

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
  /** Makes `name` the release in use: whoever looks sees the old one or the new one, also after a power cut. */
  switchTo(name: string): void
  /** Remembers the release to go back to, and removes all others but this one and the one in use. */
  keepOnly(previous: string | undefined): void
}

/** The posthorn of a release tree. */
export const commandOf = (tree: string) => join(tree, 'bin', 'posthorn')

export function makeLayout(prefix: string): Layout {
  const treeOf = (name: string) => join(prefix, name)
  const linked = (link: 'current' | 'previous') => {
    const found = lstatSync(join(prefix, link), { throwIfNoEntry: false })
    if (found === undefined) return undefined
    if (found.isSymbolicLink()) return basename(readlinkSync(join(prefix, link)))
    throw new OperatorError(`${join(prefix, link)} is no link to a release: move it away`)
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
          // What dpkg unpacks ('package') is a release too, and no folder of its name.
          .filter((entry) => entry.isDirectory() && /^\d/.test(entry.name))
          .flatMap(({ name }) => find(name) ?? [])
          .sort((a, b) => (a.name < b.name ? -1 : 1))
      : []
  return {
    ...{ prefix, treeOf, find, all },
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
