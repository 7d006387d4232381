import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dayMs } from '../clock/index.js'

/** What this process runs on: Node and the native packages that fit only this Node (`.runtimes/runtimes.json`). */
export interface Runtime {
  /** `node24` or `node20`. */
  name: string
  /** When Node's makers stop fixing it: the last day, as 2028-04-30. */
  supportEnds: string
  /** Systems on which the newest pair runs, for operators who have to change to it. */
  newest: { name: string; glibc: string; systems: string }
}

/** An entry of `.runtimes/runtimes.json`. */
interface Pair {
  node: { version: string; supportEnds: string }
  glibc: string
  systems: string
}

/** Throws for a Node that has no pair; bin/posthorn has refused it before. */
export function runtimeInUse(): Runtime {
  const pairs = readPairs()
  const [name, { node }] = pairInUse(pairs)
  const [newest] = pairs
  if (newest === undefined) throw new Error('No runtime pair is known')
  const { glibc, systems } = newest[1]
  return { name, supportEnds: node.supportEnds, newest: { name: newest[0], glibc, systems } }
}

/** The pairs, the newest first. */
function readPairs(): [name: string, Pair][] {
  return Object.entries(JSON.parse(readFileSync(packageFile('.runtimes/runtimes.json'), 'utf8')))
}

/** The pair of this process's Node. */
function pairInUse(pairs: [name: string, Pair][]): [name: string, Pair] {
  const here = majorOf(process.versions.node)
  const found = pairs.find(([, { node }]) => majorOf(node.version) === here)
  if (found === undefined) throw new Error(`No runtime pair has Node ${here}`)
  return found
}

/** `24` of `24.11.0`. */
const majorOf = (version: string) => version.split('.')[0]

/**
 * Why this system cannot load the native packages: its C library is older than they need. One sentence, with what to
 * do; undefined where they fit. Takes 3 ms of processor time on Node 24, 6 ms on Node 20.
 */
export function unfitSystem(): string | undefined {
  const pairs = readPairs()
  const [, { glibc, systems }] = pairInUse(pairs)
  const here = glibcHere()
  const isEnough = (least: string) => here !== undefined && !isBelow(here, least)
  if (isEnough(glibc)) return undefined
  const isRelease = existsSync(packageFile('release.json'))
  const [name, other] = pairs.find(([, pair]) => isEnough(pair.glibc)) ?? []
  const way =
    other === undefined
      ? 'no release of Posthorn is made for it'
      : isRelease
        ? `take the release for older systems, which has '${name}' in its name`
        : `use Node ${majorOf(other.node.version)} there`
  const what = isRelease ? 'This release of Posthorn' : `Posthorn on Node ${process.versions.node}`
  return `${what} needs the C library glibc ${glibc} or later (${systems}), and this system has ${here ?? 'none'}: ${way}`
}

/** The version of the C library that this process runs with; undefined where it is no glibc. */
export function glibcHere(): string | undefined {
  // Otherwise the report would look up the names of all open connections.
  Object.assign(process.report, { excludeNetwork: true })
  // In @types/node the report is an `object`.
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return header?.glibcVersionRuntime
}

/** Compares numbers: 2.9 is below 2.31. */
const isBelow = (version: string, least: string) =>
  version.localeCompare(least, 'en', { numeric: true }) < 0

/** Whether Node still gets fixes from its makers at `now` (milliseconds). */
export function isSupported({ supportEnds }: Runtime, now: number): boolean {
  return now < Date.parse(supportEnds) + dayMs
}

/** What to do about a Node that gets no fixes any more: half a sentence, from its verb. */
export function wayToFixes({ newest: { name, glibc, systems } }: Runtime): string {
  return `move to a system with glibc ${glibc} or later (${systems}) and install the release for ${name} there`
}

/** The path of a file of the installed package, wherever the compiled code lies in it. */
export function packageFile(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder)
    if (above === folder) throw new Error('No package.json above the compiled code')
    folder = above
  }
  return join(folder, name)
}

/** The version in `package.json`, after which a release is named. */
export function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(packageFile('package.json'), 'utf8'),
  )
  return version
}
