import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { glibcHere } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { type Release, readRelease } from './layout.js'

export const sumsName = 'SHA256SUMS'

/** What a release must fit on this machine. */
export interface Machine {
  arch: string
  /** The version of the C library; undefined where it is no glibc. */
  glibc: string | undefined
}

/** The machine that this process runs on. */
export function thisMachine(): Machine {
  return { arch: process.arch, glibc: glibcHere() }
}

/**
 * Compares a file with its SHA-256: the given one, else that of `FILE.sha256` or of the `SHA256SUMS` beside it.
 * OperatorError where it has another, or where those sums leave it out. False: nothing says which it must have.
 */
export async function checkFile(file: string, given: string | undefined): Promise<boolean> {
  const beside = [`${file}.sha256`, join(dirname(file), sumsName)].find((one) => existsSync(one))
  const listed = () => (beside === undefined ? undefined : sumIn(beside, basename(file)))
  const wanted = given?.toLowerCase() ?? listed()
  if (wanted === undefined) return false
  const found = await sha256Of(file)
  if (found === wanted) return true
  const by = given === undefined ? beside : '--sha256'
  throw new OperatorError(
    `${file} is damaged or another file: its SHA-256 is ${found}, and ${by} says ${wanted}. Download it again`,
  )
}

/**
 * Checks an unpacked tree: that it is a release, for this machine, and that its files are those of its SHA256SUMS,
 * each with its content, and no other. OperatorError otherwise.
 */
export async function checkTree(tree: string, machine: Machine): Promise<Release> {
  const release = readRelease(tree)
  if (release === undefined || !existsSync(join(tree, sumsName))) {
    throw new OperatorError(
      `${tree} is not a release of Posthorn: it has no release.json with ${sumsName}`,
    )
  }
  checkMachine(release, machine)
  const sums = readSums(join(tree, sumsName))
  const found = filesIn(tree).filter((name) => name !== sumsName)
  const missing = [...sums.keys()].filter((name) => !found.includes(name))
  const foreign = found.filter((name) => !sums.has(name))
  const changed: string[] = []
  for (const name of found) {
    const wanted = sums.get(name)
    if (wanted !== undefined && (await sha256Of(join(tree, name))) !== wanted) changed.push(name)
  }
  const faults = Object.entries({ missing, changed, foreign })
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${what}: ${names.slice(0, 5).join(', ')}`)
  if (faults.length === 0) return release
  throw new OperatorError(`The release in ${tree} is damaged (${faults.join('; ')}). Get it again`)
}

function checkMachine({ name, arch, glibc }: Release, machine: Machine): void {
  if (arch !== machine.arch) {
    throw new OperatorError(
      `${name} is made for ${arch}, and this machine is ${machine.arch}: get the release for ${machine.arch}`,
    )
  }
  if (glibc === undefined) return
  if (machine.glibc !== undefined && compareVersions(machine.glibc, glibc) >= 0) return
  const found = machine.glibc === undefined ? 'none' : machine.glibc
  throw new OperatorError(
    `${name} needs the C library glibc ${glibc} or later, and this system has ${found}: get the release for older systems, or upgrade the system first`,
  )
}

/** Below 0: `a` is the older one. Compares the numbers; a pre-release (`-rc.1`) comes before its release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => {
    const [numbers = '', rest = ''] = version.split(/[-+~](.*)/s)
    const isPre = /^[\d.]+[-~]/.test(version)
    return { numbers: numbers.split('.').map(Number), order: isPre ? rest : '\uffff' }
  })
  if (left === undefined || right === undefined) return 0
  const length = Math.max(left.numbers.length, right.numbers.length)
  for (let i = 0; i < length; i++) {
    const difference = (left.numbers[i] ?? 0) - (right.numbers[i] ?? 0)
    if (difference !== 0) return difference
  }
  return left.order < right.order ? -1 : left.order > right.order ? 1 : 0
}

/**
 * OperatorError where the file is missing in the sums: whoever put the sums beside the file meant it to be compared.
 */
function sumIn(sumsFile: string, name: string): string {
  // Many sites offer a FILE.sha256 with only the sum in it.
  const [bare] = /^[0-9a-f]{64}$/i.exec(readFileSync(sumsFile, 'utf8').trim()) ?? []
  const isOfOne = basename(sumsFile) !== sumsName
  const sum = (isOfOne ? bare?.toLowerCase() : undefined) ?? readSums(sumsFile).get(name)
  if (sum !== undefined) return sum
  throw new OperatorError(
    `${sumsFile} has no SHA-256 of ${name}, as 'sha256sum' writes it: get the right one, move it away, or give the sum by --sha256`,
  )
}

/** Reads lines as `sha256sum` writes them: a sum, two spaces or a space and a star, a name. */
function readSums(file: string): Map<string, string> {
  const lines = readFileSync(file, 'utf8').split(/\r?\n/)
  return new Map(
    lines.flatMap((line) => {
      const [, sum, name] = /^([0-9a-f]{64}) [ *](?:\.\/)?(.+)$/i.exec(line) ?? []
      return sum === undefined || name === undefined ? [] : [[name, sum.toLowerCase()] as const]
    }),
  )
}

/** Every file of a tree, by its path in it. A link is refused: it may lead anywhere. */
function filesIn(tree: string): string[] {
  return readdirSync(tree, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = relative(tree, join(entry.parentPath, entry.name))
    if (entry.isDirectory()) return []
    if (entry.isFile()) return [path]
    throw new OperatorError(
      `${join(tree, path)} is neither a file nor a folder: a release has none`,
    )
  })
}

/** The SHA-256 of a file, in hex. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
