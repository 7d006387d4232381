import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { plainly } from './plain-program.js'

export interface BuiltRelease {
  /** The folder with the two files and SHA256SUMS. */
  out: string
  tarball: string
  deb: string
  /** The folder from which they were made. */
  tree: string
}

/**
 * Runs `bin/release`, quick and without compression, on what is built in dist; the pair is this Node's or the one
 * named.
 */
export function buildRelease(out: string, runtime: string = ofThisNode): BuiltRelease {
  // Only tsc was run, as during work on Posthorn itself.
  if (!['dist/packed', 'dist/client', 'dist/clients'].every((made) => existsSync(made))) {
    for (const part of ['bin/pack-client', 'bin/pack-clients', 'bin/pack-appliance'])
      run(resolve(part), [])
  }
  run(resolve('bin/pack/release.js'), ['--runtime', runtime, '--level', '0', '--out', out])
  const names = readdirSync(out)
  const named = (ending: string) => join(out, names.find((name) => name.endsWith(ending)) ?? '')
  const folder = join(out, `${runtime}-${process.arch}`)
  return {
    out,
    tarball: named('.tar.xz'),
    deb: named('.deb'),
    tree: join(folder, readdirSync(folder)[0] ?? ''),
  }
}

const ofThisNode = process.versions.node.startsWith('20.') ? 'node20' : 'node24'

function run(script: string, args: readonly string[]): void {
  // It runs bin/runtime, which has no extension.
  const [program, ...more] = plainly
  const { status, stderr } = spawnSync(program, [...more, process.execPath, script, ...args], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${script}: ${stderr}`)
}
