import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { plainly } from '../support/plain-program.js'

const run = promisify(execFile)
const [env, ...without] = plainly

/** As `npm run build` does: a plain tsc leaves the clients out. */
export async function packClients(folder: string): Promise<void> {
  await run(env, [...without, process.execPath, 'bin/pack-clients', folder])
}
