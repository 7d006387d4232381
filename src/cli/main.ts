import { readFileSync } from 'node:fs'

// `posthorn key list | head -1`: the reader may stop reading.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})
// Files that commands write may hold keys, mails and addresses: only their owner may read them, as
// under systemd.
process.umask(0o077)
const args = process.argv.slice(2)
const help = madeHelp(args)
if (help !== undefined) process.stdout.write(help)
else process.exitCode = await (await import('./index.js')).runCommandLine(args)

/**
 * The help of the whole command describes every command, and loading them all takes ten times as long as everything
 * else. So the build keeps it in a file (bin/pack-appliance); undefined without that file, or if the terminal is too
 * narrow for it.
 */
function madeHelp([arg = '', ...more]: readonly string[]): string | undefined {
  if (more.length > 0 || !['--help', '-h', 'help'].includes(arg)) return undefined
  if (process.stdout.isTTY && process.stdout.columns < 80) return undefined
  try {
    return readFileSync(new URL('help.txt', import.meta.url), 'utf8')
  } catch {
    return undefined
  }
}
