// What a release takes from npm for its pair of Node and native packages: fetched and compared with
// .runtimes/runtimes.json by bin/runtime, and kept in .build/parts for the next release.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pairOfThisNode, pairs } from '../../.runtimes/choice.js'

/**
 * The folders `{ node, modules }` of the pair's Node (`bin/node`, `LICENSE`) and of its npm packages. Throws
 * where the pair cannot be had for this processor.
 */
export function partsOf({ top, runtime, arch }) {
  const pair = pairs[runtime]
  const files = pair.sha256[arch]
  if (files === undefined) throw new Error(`${runtime} has no files for the processor ${arch}`)
  const compiled = Object.keys(files).filter((path) => files[path] === null)
  if (compiled.length > 0 && (arch !== process.arch || pairOfThisNode() !== runtime)) {
    throw new Error(
      `${runtime} for ${arch} has parts that npm compiles (${compiled.join(', ')}): ` +
        `build this release on such a machine, with Node ${pair.node.version}`,
    )
  }
  const node = join(top, '.build/parts', `node-${pair.node.version}-${arch}`)
  const fetched = join(node, 'bin/node')
  if (!existsSync(fetched) || sha256(fetched) !== files['runtime/node']) {
    bin(top, 'node', node, runtime, arch)
  }
  const modules = runtime === pairOfThisNode() ? top : packages(top, runtime, pair)
  bin(top, 'verify', modules, runtime, arch)
  return { node, modules }
}

/** Installed anew when the pair's lock file has changed. */
function packages(top, runtime, pair) {
  const folder = join(top, '.build/parts', runtime)
  const stamp = join(folder, 'stamp')
  const now = sha256(join(top, pair.lock))
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return folder
  bin(top, 'install', folder, runtime, process.arch, '--omit-dev')
  writeFileSync(stamp, now)
  return folder
}

function bin(top, command, folder, runtime, arch, ...more) {
  mkdirSync(folder, { recursive: true })
  const args = [join(top, 'bin/runtime'), command, folder, '--runtime', runtime, '--arch', arch, ...more]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  // npm's look-ups and the compiler's lines are for a failure alone.
  if (status !== 0) throw new Error(`bin/runtime ${command} failed:\n${stdout}${stderr}`)
}

export function sha256(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
