import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { makeTempDir } from './store.js'

const fixtures = 'test/fixtures/three-machines'
const ip = (...words: string[]) => execFileSync('ip', words)

/** A machine of name spaces, with a disk of its own that a pulled plug leaves as it is. */
export interface Machine {
  readonly name: string
  /** Runs a script as root, by bash; resolves with what it printed. Rejects when it fails. */
  run(script: string): Promise<string>
  /** All of its processes die at once, and nobody hears it any more. */
  pullThePlug(): Promise<void>
  boot(): Promise<void>
}

/**
 * Machines on one network with this process, which has to be in network, mount and process spaces of its own. Their disks
 * end with the test.
 */
export async function makeMachines(t: Test, names: readonly string[]): Promise<Machine[]> {
  const dir = makeTempDir(t)
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', dir])
  t.teardown(() => execFileSync('umount', ['--lazy', dir]))
  ip('link', 'set', 'lo', 'up')
  ip('link', 'add', 'lan', 'type', 'bridge')
  ip('link', 'set', 'lan', 'up')
  for (const own of ['10.0.0.254/24', '192.0.2.254/24', '203.0.113.9/24'])
    ip('address', 'add', own, 'dev', 'lan')
  return await Promise.all(
    names.map(async (name) => {
      const machine = makeMachine(name, resolve(dir, name))
      t.teardown(() => machine.pullThePlug())
      await machine.boot()
      return machine
    }),
  )
}

function makeMachine(name: string, dir: string): Machine {
  mkdirSync(dir)
  let outer: ChildProcess | undefined
  let pid = 0
  return {
    name,
    async boot() {
      const words = [`${fixtures}/boot`, name, dir, process.cwd(), process.execPath]
      const spaces = ['--net', '--mount', '--uts', '--pid', '--fork', '--kill-child']
      outer = spawn('unshare', [...spaces, '--mount-proc', 'bash', ...words], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      pid = await childOf(outer)
      ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${pid}`)
      ip('link', 'set', name, 'master', 'lan', 'up')
      const booted = new Promise<void>((ready) => outer?.stdout?.once('data', () => ready()))
      const ended = once(outer, 'exit').then(([status]) => {
        throw new Error(`${name} ended with ${status}`)
      })
      ended.catch(() => {})
      await Promise.race([booted, ended])
    },
    async run(script) {
      const inside = ['--target', `${pid}`, '--net', '--mount', '--uts', '--pid']
      const env = ['env', '-i', '-C', '/root', 'HOME=/root', 'LANG=C.UTF-8']
      const path = `PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`
      const child = spawn(
        'nsenter',
        [...inside, ...env, path, 'bash', '-euo', 'pipefail', '-c', script],
        {
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      )
      const [stdout, stderr, [status]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ])
      if (status !== 0)
        throw new Error(`On ${name}, status ${status}:\n${script}\n${stdout}\n${stderr}`)
      return stdout
    },
    async pullThePlug() {
      if (outer === undefined || outer.exitCode !== null || outer.signalCode !== null) return
      // First, so that nobody is told that a connection has ended.
      ip('link', 'delete', name)
      const gone = once(outer, 'exit')
      process.kill(pid, 'SIGKILL')
      await gone
    },
  }
}

/** `unshare` makes the new process space by a child, which is the machine. */
async function childOf({ pid }: ChildProcess): Promise<number> {
  for (let waited = 0; waited < 10_000; waited += 20) {
    const child = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
    if (child > 0) return child
    await new Promise((next) => setTimeout(next, 20))
  }
  throw new Error('unshare makes no process space')
}
