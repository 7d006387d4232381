import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import type { Done, Task } from './host.js'

export const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

export interface RunOptions {
  env?: Record<string, string>
  cwd?: string
  stdin?: string
  /** What is run, if not the compiled command. */
  program?: readonly string[]
  /** What the process itself does is tested: how it starts, whose it is, how it ends. */
  alone?: boolean
}

/**
 * Runs `posthorn` to its end, with nothing of Posthorn's or CI's in its environment: a process of its
 * own where the test asks for one, else in the one that the commands of this file share.
 */
export async function runCli(args: readonly string[], options: RunOptions = {}): Promise<Done> {
  const { alone, program, stdin } = options
  if (alone || program || stdin !== undefined) return outcomeOf(startCli(args, options))
  return inHost({ args, env: environment(options), cwd: options.cwd ?? process.cwd() })
}

/** Starts `posthorn` as a process of its own. Its coverage is not measured, which doubles its start. */
export function startCli(args: readonly string[], options: RunOptions = {}): ChildProcess {
  const [program, ...before] = options.program ?? [process.execPath, main]
  const child = spawn(program ?? '', [...before, ...args], {
    stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: environment(options),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  child.stdin?.end(options.stdin)
  return child
}

export function environment({ env }: RunOptions): NodeJS.ProcessEnv {
  // Over PostgreSQL the database of the test's appliance is named there (test/support/posthorn.ts).
  const ours =
    /^(POSTHORN_(?!STORE_)|STATE_DIRECTORY$|NO_COLOR$|FORCE_COLOR$|NOTIFY_SOCKET$|CI$|NODE_OPTIONS$|NODE_V8_COVERAGE$|_TAPJS_)/
  const inherited = Object.entries(process.env).filter(([name]) => !ours.test(name))
  return { ...Object.fromEntries(inherited), ...env }
}

let host: ReturnType<typeof startHost> | undefined
let idle: Promise<unknown> = Promise.resolve()

/** One after another: they share a working directory and an output. */
function inHost(task: Task): Promise<Done> {
  const done = idle.then(async () => {
    host ??= startHost()
    host.child.send(task)
    const answer = once(host.child, 'message').then(([said]) => said as Done)
    const said = await Promise.race([answer, host.ended])
    if (said === undefined) throw new Error(`posthorn ${task.args.join(' ')} ended its process`)
    return said
  })
  idle = done.catch(() => {})
  return done
}

function startHost() {
  const child = fork(fileURLToPath(new URL('./host.js', import.meta.url)))
  const ended = once(child, 'exit').then(() => undefined)
  t.teardown(async () => {
    if (child.connected) child.disconnect()
    // It writes its coverage.
    await ended
  })
  return { child, ended }
}

export function outcomeOf(child: ChildProcess): Promise<Done> {
  const out = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      out[name] += text
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, ...out }))
  })
}

/** Runs a command that must succeed and parses the JSON on its stdout. */
export async function jsonOf<T>(
  t: Test,
  args: readonly string[],
  options?: RunOptions,
): Promise<T> {
  const { status, stdout, stderr } = await runCli([...args, '--json'], options)
  t.equal(status, 0, `posthorn ${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}
