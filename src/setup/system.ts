import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { OperatorError } from '../errors/index.js'
import type { MachineFacts } from './machine.js'

/** The name of the service, and of the user to whom its files belong. */
export const serviceName = 'posthorn'
export const systemDataDir = '/var/lib/posthorn'
export const systemConfigDir = '/etc/posthorn'

/** What this machine says about itself. */
export function readMachine(): MachineFacts {
  const { status, stdout } = spawnSync('hostname', ['-f'], { encoding: 'utf8', timeout: 3_000 })
  const addresses = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address),
  )
  return { hostName: status === 0 ? stdout.trim() : hostname(), addresses }
}

/** A user of the machine. */
export interface SystemUser {
  uid: number
  gid: number
}

/** The user of the service; undefined where the machine does not know one. */
export function findUser(): SystemUser | undefined {
  // Asked through NSS, so that users of a directory service count.
  const { status, stdout } = spawnSync('getent', ['passwd', serviceName], { encoding: 'utf8' })
  const [, , uid, gid] = status === 0 ? stdout.split(':') : []
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined
}

/** The command by which the user is made, as the package does it. */
export const userCommand: readonly string[] = [
  'useradd',
  '--system',
  '--user-group',
  '--home-dir',
  systemDataDir,
  '--no-create-home',
  '--shell',
  '/usr/sbin/nologin',
  serviceName,
]

/** Makes the user of the service; as root. */
export function makeUser(): SystemUser {
  run(userCommand)
  const user = findUser()
  if (user === undefined) throw new OperatorError(`useradd made no user ${serviceName}`)
  return user
}

const unitDirs = ['/etc/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system']
export const ownUnitFile = join('/etc/systemd/system', `${serviceName}.service`)

/** sd_booted(3). */
export const systemdRuns = () => existsSync('/run/systemd/system')

/** Whether systemd has a unit of the service. */
export const hasUnit = () =>
  unitDirs.some((folder) => existsSync(join(folder, `${serviceName}.service`)))

/** Installs the unit where no package did; `program` is the command that the unit starts. */
export function installUnit(template: string, program: string): void {
  const unit = readFileSync(template, 'utf8').replace(
    /^ExecStart=\S+/m,
    () => `ExecStart=${program}`,
  )
  writeFileSync(ownUnitFile, unit)
  // Everybody may read it, like every unit, whatever the umask is.
  chmodSync(ownUnitFile, 0o644)
}

/** Runs a command to its end; throws what it said when it fails. */
export function run([program = '', ...args]: readonly string[]): void {
  try {
    execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
    throw new OperatorError(
      `${[program, ...args].join(' ')} failed${said === '' ? '' : `: ${said}`}`,
      said === '' ? { cause: error } : {},
    )
  }
}

/** Which of the TCP ports another program uses; ports that only root may open count as free for other users. */
export async function takenPorts(ports: readonly number[]): Promise<number[]> {
  const taken = await Promise.all(ports.map(async (port) => ((await isTaken(port)) ? [port] : [])))
  return taken.flat()
}

/** Whether another program listens on the port. */
function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EADDRINUSE'))
    // On all IPv4 addresses, where nearly every other program listens.
    server.listen({ port, host: '0.0.0.0' }, () => server.close(() => resolve(false)))
  })
}
