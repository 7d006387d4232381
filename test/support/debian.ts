import { execFileSync, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import type { Test } from 'tap'
import { missing } from './tools.js'

export interface DebianRoot {
  folder: string
  /** Runs a script in it as root, by bash, and returns its output. Rejects with the output when it fails. */
  run(script: string): Promise<string>
}

/** Why no Debian can be made here; false where it can. */
export function noDebian(): string | false {
  const programs = missing('debootstrap', 'unshare', 'ip', 'chroot')
  if (programs !== false) return programs
  return process.env.CI !== 'true' && process.getuid?.() !== 0 && 'only root can make a Debian'
}

/** A small separate Debian, of the suite `bookworm` or `trixie`, removed at the end of the test. */
export function makeDebian(t: Test, suite: string): DebianRoot {
  const tar = execFileSync('.ci/debian-root', [suite], { encoding: 'utf8' }).trim()
  const folder = t.testdir()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  execFileSync('tar', ['-xf', tar, '-C', folder])
  return { folder, run: (script) => runIn(folder, script) }
}

/**
 * In separate name spaces: the network is only a loopback, so that ports collide with nobody's and nothing can be
 * fetched; what the script leaves running or mounted ends with it.
 */
const inside = [
  'ip link set lo up',
  'mount -t proc proc "$0/proc"',
  'exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive bash -euc "$1"',
].join(' && ')

function runIn(folder: string, script: string): Promise<string> {
  const child = spawn(
    'unshare',
    ['--mount', '--net', '--pid', '--fork', '--kill-child', 'sh', '-c', inside, folder, script],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(said) : reject(new Error(`In ${folder}, status ${code}:\n${said}`)),
    )
  })
}
