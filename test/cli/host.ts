import { runCommandLine } from '../../src/cli/index.js'

/*
 * Runs command after command for `runCli` in one process: what a command does is little beside its start.
 * Each has the environment, directory and output of its own, and must let go of all that it took, as
 * otherwise its process would never end.
 */
export interface Task {
  args: readonly string[]
  env: NodeJS.ProcessEnv
  cwd: string
}

export interface Done {
  status: number | null
  stdout: string
  stderr: string
}

process.umask(0o077)
process.on('message', async (task: Task) => process.send?.(await run(task)))
// The test has ended, however.
process.once('disconnect', () => process.exit(0))

async function run({ args, env, cwd }: Task): Promise<Done> {
  process.env = { ...env }
  process.chdir(cwd)
  process.exitCode = undefined
  // What the previous one left to be closed.
  await new Promise((resolve) => setImmediate(resolve))
  const [stdout, stderr] = [captured(process.stdout), captured(process.stderr)]
  const before = held()
  try {
    const status = await runCommandLine(args)
    await letGo(before)
    return { status, stdout: stdout.text(), stderr: stderr.text() }
  } catch (error) {
    return { status: null, stdout: stdout.text(), stderr: `${stderr.text()}${error}` }
  } finally {
    stdout.end()
    stderr.end()
  }
}

/** What is written to a stream, instead of it. */
function captured(stream: NodeJS.WriteStream) {
  const own = stream.write
  let text = ''
  stream.write = (chunk: string | Uint8Array) => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    return true
  }
  return {
    text: () => text,
    end() {
      stream.write = own
    },
  }
}

/** What keeps a process alive: sockets, servers, timers, work in threads. */
const held = () => process.getActiveResourcesInfo().sort()

async function letGo(before: readonly string[]): Promise<void> {
  const until = Date.now() + 5_000
  for (let now = held(); now.length > before.length; now = held()) {
    if (Date.now() > until) throw new Error(`The command never ends: it holds ${now.join(', ')}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
