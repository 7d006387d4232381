import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { databaseSettings, isPostgres, makeEmptyDatabase } from './postgres.js'
import { templateOf } from './template.js'

/** The compiled CLI beside this file, wherever it was built to. */
export const cliEntry = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

// These count whatever the settings of a test say: another appliance may run on this machine, and only root may use
// port 25.
export const freePorts = {
  POSTHORN_HTTP_PRIVATE_PORT: '0',
  POSTHORN_HTTP_PUBLIC_PORT: '0',
  POSTHORN_SANDBOX_SMTP_PORT: '0',
  POSTHORN_INBOUND_HOST: '127.0.0.1',
  POSTHORN_INBOUND_PORT: '0',
}

export interface Serving {
  process: ChildProcess
  url: string
  /** Everything that it has logged. */
  log(): string
  kill(signal: NodeJS.Signals): Promise<number | null>
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/**
 * A directory made by `posthorn init --sandbox`; returns what a script gets from that. `serve` adds the free ports.
 * Over PostgreSQL the test's later commands find its database by the environment, unless it has to be SQLite's
 * (`inFile`).
 */
export function initSandbox(
  dataDir: string,
  { inFile = !isPostgres }: { inFile?: boolean } = {},
): { apiKey: string; accountId: string } {
  if (!inFile) return initOverPostgres(dataDir)
  const template = templateOf('sandbox')
  if (!template.isThere) {
    const args = ['init', '--sandbox', '--json', '--data', join(template.dir, 'data')]
    const done = spawnSync(process.execPath, [cliEntry, ...args], { encoding: 'utf8' })
    if (done.status !== 0) throw new Error(`init failed: ${done.stderr}`)
    writeFileSync(join(template.dir, 'told.json'), done.stdout)
    template.keep()
  }
  cpSync(join(template.whole, 'data'), dataDir, {
    recursive: true,
    errorOnExist: true,
    force: false,
  })
  return JSON.parse(readFileSync(join(template.whole, 'told.json'), 'utf8'))
}

function initOverPostgres(dataDir: string): { apiKey: string; accountId: string } {
  makeEmptyDatabase(dataDir)
  Object.assign(process.env, databaseSettings(dataDir))
  const args = ['init', '--sandbox', '--json', '--data', dataDir]
  const done = spawnSync(process.execPath, [cliEntry, ...args], { encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`init failed: ${done.stderr}`)
  return JSON.parse(done.stdout)
}

/** `posthorn serve` as a process of its own; resolves when its API answers. */
export async function serve(
  t: { teardown(stop: () => unknown): void },
  dataDir: string,
  env: Record<string, string>,
  nodeArgs: readonly string[] = [],
): Promise<Serving> {
  const args = [...nodeArgs, cliEntry, 'serve', '--data', dataDir]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, POSTHORN_LOG_FORMAT: 'json', ...freePorts, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const up = new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString()
      const url = /"privateUrl":"([^"]+)"/.exec(log)?.[1]
      if (url !== undefined) resolve(url)
    })
    void exited.then(({ code }) => reject(new Error(`serve ended with ${code}: ${log}`)))
  })
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    return (await exited).code
  }
  t.teardown(() => kill('SIGKILL'))
  return { process: child, url: await up, log: () => log, kill, exited }
}
