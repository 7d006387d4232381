import {
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  type Stats,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../errors/index.js'
import { removeDurably, renameDurably } from '../store/index.js'
import { type Layout, type Release, refuseWithoutRoom } from './layout.js'
import { run, runWell } from './run.js'
import { checkFile, checkTree, type Machine, sha256Of, sumsName } from './verify.js'

/** Where the .deb has its tree; its postinst hands it over as a folder. */
const packageFolder = 'usr/lib/posthorn/package'
// An unpacked release is four times as large as the packed one (30 MB, 113 MB on 22 Nov 2026).
const unpackedFactor = 5

export interface ReleaseSource {
  /** A release tree, a .tar.xz or a .deb. */
  file: string
  sha256: string | undefined
}

export interface Placed {
  release: Release
  /** False: nothing says which bytes the file should have, so it was compared only with its own sums. */
  checked: boolean
}

/**
 * Checks a release and puts its tree into its folder, whole or not at all. A tree that is there already is checked
 * again.
 */
export async function placeRelease(
  layout: Layout,
  { file, sha256 }: ReleaseSource,
  machine: Machine,
): Promise<Placed> {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw new OperatorError(`There is no ${file}`)
  if (found.isDirectory() && sha256 !== undefined) {
    throw new OperatorError(`--sha256 is the sum of a file, and ${file} is a folder: leave it out`)
  }
  mkdirSync(layout.prefix, { recursive: true, mode: 0o755 })
  const scratch = join(layout.prefix, '.unpacked.partial')
  removeDurably(scratch)
  try {
    if (found.isDirectory()) {
      const release = await checkTree(file, machine)
      if (!(await isPlaced(layout, release, file, machine))) {
        makeScratch(scratch)
        const tree = join(scratch, 'tree')
        linkTree(file, tree)
        await place(layout, tree, release, machine)
      }
      return { release, checked: true }
    }
    const checked = await checkFile(file, sha256)
    await refuseWithoutRoom(layout.prefix, found.size * unpackedFactor, 'to unpack the release')
    makeScratch(scratch)
    const tree = await unpack(file, scratch)
    const release = await checkTree(tree, machine)
    if (!(await isPlaced(layout, release, tree, machine))) {
      await place(layout, tree, release, machine)
    }
    return { release, checked }
  } finally {
    removeDurably(scratch)
  }
}

/** Returns the folder of the tree. */
async function unpack(file: string, scratch: string): Promise<string> {
  if (file.endsWith('.deb')) {
    await runWell('dpkg-deb', ['--extract', file, scratch])
    return folderIn(scratch, packageFolder)
  }
  const tar = ['--extract', '--file', file, '--directory', scratch, '--no-same-owner', '-p']
  const { status, stderr } = await run('tar', tar)
  if (status !== 0) {
    throw new OperatorError(
      `${file} cannot be unpacked: ${stderr.trim()}. It may be damaged; a .tar.xz needs the programs tar and xz (apt install xz-utils)`,
    )
  }
  const [folder, ...others] = readdirSync(scratch)
  if (folder !== undefined && others.length === 0) return folderIn(scratch, folder)
  throw new OperatorError(`${file} is not a release of Posthorn: it has more than one folder`)
}

/** A folder by its path in the scratch folder. A link on the way is refused: it may lead outside of the release. */
function folderIn(scratch: string, path: string): string {
  return path.split('/').reduce((parent, name) => {
    const folder = join(parent, name)
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder
    throw new OperatorError(`This is not a release of Posthorn: its ${path} is not a folder`)
  }, scratch)
}

/**
 * Whether the same release is there already. Another or damaged tree of that name is removed; if in use, it is an
 * error.
 */
async function isPlaced(
  layout: Layout,
  release: Release,
  tree: string,
  machine: Machine,
): Promise<boolean> {
  const there = layout.treeOf(release.name)
  const found = lstatSync(there, { throwIfNoEntry: false })
  if (found === undefined) return false
  const sums = (folder: string) => join(folder, sumsName)
  const isSame =
    found.isDirectory() &&
    existsSync(sums(there)) &&
    (await sha256Of(sums(there))) === (await sha256Of(sums(tree)))
  const check = () =>
    checkTree(there, machine).then(
      () => true,
      () => false,
    )
  if (isSame && (await check())) return true
  if (layout.current() !== release.name) {
    removeDurably(there)
    return false
  }
  throw new OperatorError(
    isSame
      ? `${there} is in use and damaged: install another version, or the same by its package ('apt install --reinstall')`
      : `${release.name} is in use already, with other files: build it with a version of its own`,
  )
}

async function place(
  layout: Layout,
  tree: string,
  { name }: Release,
  machine: Machine,
): Promise<void> {
  makeOwn(tree)
  // Whoever owned or shared a file of the source may have changed it since it was compared.
  await checkTree(tree, machine)
  // A start after a power cut must not find half a tree. One call syncs all its files.
  await runWell('sync', ['--file-system', tree])
  renameDurably(tree, layout.treeOf(name))
}

/**
 * Gives a tree to this user (root, in an installation), with the modes of a release, whatever its file says: nobody
 * else may write in it, the service's user may read it, and nothing in it gives rights.
 */
function makeOwn(path: string): void {
  const found = lstatSync(path)
  const [uid, gid] = owner()
  // The owner comes first, as changing it clears bits of the mode.
  if (found.uid !== uid || found.gid !== gid) lchownSync(path, uid, gid)
  if ((found.mode & 0o7777) !== modeOf(found)) chmodSync(path, modeOf(found))
  if (found.isDirectory()) for (const name of readdirSync(path)) makeOwn(join(path, name))
}

const modeOf = (found: Stats) => (found.isDirectory() || (found.mode & 0o100) !== 0 ? 0o755 : 0o644)

const owner = () => [process.geteuid?.() ?? 0, process.getegid?.() ?? 0] as const

/** Whether a file may be linked: a link shares owner and mode with its source. */
function mayLink(file: string): boolean {
  const found = lstatSync(file)
  const [uid, gid] = owner()
  return found.uid === uid && found.gid === gid && (found.mode & 0o7777) === modeOf(found)
}

/** Uses hard links where possible: dpkg replaces its files by new ones, so the linked ones stay as they are. */
function linkTree(from: string, to: string): void {
  mkdirSync(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkTree(source, target)
    else if (!mayLink(source) || !isLinked(source, target)) {
      cpSync(source, target, { preserveTimestamps: true })
    }
  }
}

/** False: this file system has no hard links, or the two are on different ones. */
function isLinked(source: string, target: string): boolean {
  try {
    linkSync(source, target)
    return true
  } catch {
    return false
  }
}

/** Nobody else may see unchecked files: until the check they have the modes that their file gives. */
const makeScratch = (path: string) => mkdirSync(path, { mode: 0o700 })
