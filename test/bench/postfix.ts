import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sleep } from './rig.js'

/*
 * Debian's Postfix and OpenDKIM as `shared/bench/peers.mjs` sets them up: a configuration of its own,
 * queue synced by default, RSA-2048 relaxed/relaxed, static routes, no DNS, no TLS.
 */
export interface Postfix {
  /** Of all its processes, ended ones too; both in a control group. */
  cpuSeconds(): number
  stop(): Promise<void>
}

export const postfixPort = 2_525
const milterPort = 8_891

export function missingForPostfix({ signs = true } = {}): string[] {
  const signer = signs ? ['/usr/sbin/opendkim'] : []
  const needed = ['/usr/sbin/postfix', ...signer, '/usr/sbin/smtp-source']
  const missing = needed.filter((file) => !existsSync(file))
  return process.getuid?.() === 0 ? missing : ['root', ...missing]
}

/**
 * `routes`: recipient domain → address of its sink. With `holds` mails stay in the queue and nothing signs
 * them: smtpd, cleanup and the disk alone.
 */
export async function startPostfix(
  routes: ReadonlyMap<string, string>,
  sinkPort: number,
  { holds = false }: { holds?: boolean } = {},
): Promise<Postfix> {
  const dir = mkdtempSync(join(tmpdir(), 'postfix-bench-'))
  execFileSync('chmod', ['755', dir])
  for (const name of ['etc', 'spool', 'data', 'log']) mkdirSync(join(dir, name))
  execFileSync('chown', ['postfix', join(dir, 'data')])
  const lines = [...routes].map(([domain, ip]) => `${domain} smtp:[${ip}]:${sinkPort}\n`)
  writeFileSync(join(dir, 'etc/transport'), lines.join(''))
  writeFileSync(join(dir, 'etc/main.cf'), holds ? held(mainCf(dir)) : mainCf(dir))
  writeFileSync(join(dir, 'etc/master.cf'), masterCf)
  const key = join(dir, 'dkim.pem')
  execFileSync('openssl', ['genrsa', '-traditional', '-out', key, '2048'], { stdio: 'ignore' })
  if (!holds) execFileSync('chown', ['opendkim', key])
  writeFileSync(join(dir, 'etc/opendkim.conf'), opendkimConf(dir, key))

  const group = openGroup()
  if (!holds) group.spawn('opendkim', ['-f', '-x', join(dir, 'etc/opendkim.conf')])
  group.spawn('postfix', ['-c', join(dir, 'etc'), 'start-fg'])
  for (const port of holds ? [postfixPort] : [milterPort, postfixPort]) await untilListens(port)
  await sleep(1_000)
  return {
    cpuSeconds: group.cpuSeconds,
    async stop() {
      await group.end()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function untilListens(port: number): Promise<void> {
  for (let i = 0; i < 300; i++) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true))
      socket.once('error', () => resolve(false))
      socket.setTimeout(1_000, () => resolve(false))
      setTimeout(() => socket.destroy(), 1_000)
    })
    if (isUp) return
    await sleep(100)
  }
  throw new Error(`Nothing listens on ${port}`)
}

const mainCf = (dir: string) => `compatibility_level = 3.6
myhostname = bench.test
queue_directory = ${dir}/spool
data_directory = ${dir}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
shlib_directory = /usr/lib/postfix
meta_directory = /etc/postfix
mail_owner = postfix
setgid_group = postdrop
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mydestination =
mynetworks = 127.0.0.0/8
local_recipient_maps =
alias_maps =
transport_maps = texthash:${dir}/etc/transport
smtpd_recipient_restrictions = permit_mynetworks, reject
smtpd_peername_lookup = no
smtpd_client_connection_count_limit = 0
smtp_dns_support_level = disabled
smtp_host_lookup = native
smtp_tls_security_level = none
in_flow_delay = 0
default_process_limit = 100
smtpd_milters = inet:127.0.0.1:${milterPort}
milter_default_action = tempfail
milter_protocol = 6
maillog_file = ${dir}/log/mail.log
maillog_file_prefixes = ${tmpdir()}
`

const held = (mainCf: string) =>
  `${mainCf.replace(/^smtpd_milters.*\n/m, '')}smtpd_client_restrictions = static:HOLD\n`

const masterCf = `127.0.0.1:${postfixPort} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`

const opendkimConf = (dir: string, key: string) => `Syslog no
Mode s
Canonicalization relaxed/relaxed
SignatureAlgorithm rsa-sha256
Domain example.test
Selector s1
KeyFile ${key}
RequireSafeKeys no
Socket inet:${milterPort}@127.0.0.1
InternalHosts 127.0.0.0/8
UserID opendkim
PidFile ${dir}/opendkim.pid
`

/** Processes whose children are counted and ended with them (cgroups(7)). */
function openGroup() {
  const root = existsSync('/sys/fs/cgroup/unified') ? '/sys/fs/cgroup/unified' : '/sys/fs/cgroup'
  const path = join(root, `posthorn-bench-${process.pid}-${Date.now()}`)
  mkdirSync(path)
  const pids = () =>
    readFileSync(join(path, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number)
  return {
    spawn(command: string, args: readonly string[]): ChildProcess {
      const enter = `echo $$ > ${path}/cgroup.procs; exec "$@"`
      return spawn('/bin/sh', ['-c', enter, 'sh', command, ...args], { stdio: 'ignore' })
    },
    cpuSeconds() {
      const stat = readFileSync(join(path, 'cpu.stat'), 'utf8')
      return Number(/^usage_usec (\d+)/m.exec(stat)?.[1]) / 1e6
    },
    async end() {
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        for (const pid of pids()) {
          try {
            process.kill(pid, signal)
          } catch {
            // Gone meanwhile.
          }
        }
        for (let i = 0; i < 200 && pids().length > 0; i++) await sleep(50)
      }
      // What has just ended is in it for another moment.
      await sleep(500)
      rmdirSync(path)
    },
  }
}
