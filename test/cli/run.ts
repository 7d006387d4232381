import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

export const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

export interface RunOptions {
  env?: Record<string, string>
  cwd?: string
  stdin?: string
  /** What is run, if not the compiled command. */
  program?: readonly string[]
}

export interface Ended {
  status: number | null
  stdout: string
  stderr: string
}

/**
 * Starts `posthorn` as a process of its own, with nothing of Posthorn's or CI's in its environment. Nor
 * of coverage: a command is mostly its start, which measuring doubles, so src/cli is not counted.
 */
export function startCli(args: readonly string[], options: RunOptions = {}): ChildProcess {
  const ours =
    /^(POSTHORN_|STATE_DIRECTORY$|NO_COLOR$|FORCE_COLOR$|NOTIFY_SOCKET$|CI$|NODE_OPTIONS$|NODE_V8_COVERAGE$|_TAPJS_)/
  const inherited = Object.entries(process.env).filter(([name]) => !ours.test(name))
  const [program, ...before] = options.program ?? [process.execPath, main]
  const child = spawn(program ?? '', [...before, ...args], {
    stdio: [options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(inherited), ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  child.stdin?.end(options.stdin)
  return child
}

/** Runs `posthorn` to its end. */
export async function runCli(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return outcomeOf(startCli(args, options))
}

export function outcomeOf(child: ChildProcess): Promise<Ended> {
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
