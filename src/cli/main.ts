import { runCommandLine } from './index.js'

// `posthorn key list | head -1`: whoever reads may stop reading.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})
// What commands write has keys, mails and addresses in it: files are their owner's alone, as under
// systemd.
process.umask(0o077)
process.exitCode = await runCommandLine(process.argv.slice(2))
