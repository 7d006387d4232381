// Thorough, turn 2: three machines with Patroni and etcd, and a minute until others have taken over from a dead one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { noPostgres } from '../support/postgres.js'
import { absent } from '../support/tools.js'

/*
 * systemd/three-machines/README.md as it stands, in name spaces of its own: `follow-three-machines.ts` is what runs there.
 */
t.setTimeout(900_000)

const skip =
  absent('unshare', 'nsenter', 'ip', 'etcd', 'patroni') ||
  (noPostgres ?? (process.getuid?.() !== 0 && 'only root can make machines'))

t.test('three machines, from nothing to a pulled plug', { skip }, async (t) => {
  const follow = fileURLToPath(new URL('follow-three-machines.js', import.meta.url))
  const spaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  const child = spawn('unshare', [...spaces, process.execPath, '--enable-source-maps', follow], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [said, errors, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  for (const [line] of said.matchAll(/^ *# (?!time=|Subtest).*$/gm)) t.comment(line.trim())
  t.equal(status, 0, `${said.slice(-6_000)}\n${errors.slice(-2_000)}`)
})
