import { rmSync } from 'node:fs'
import { constants } from 'node:os'
import type { Command } from 'commander'
import { fitDescriptors, openFilesLimit } from '../app/descriptors.js'
import { copiedNote } from '../app/files.js'
import { loadConfig } from '../config/index.js'
import { say, sayFields, styled } from './output.js'
import {
  becomeOwner,
  type CommandPlace,
  placeOf,
  requireDataDir,
  requireNamed,
  settingsOf,
} from './place.js'

/** `posthorn serve`: the appliance itself. */
export function serveCommand(program: Command): void {
  program
    .command('serve')
    .description('run the appliance until SIGTERM or SIGINT; the log goes to stderr')
    .option('--force', 'serve a file that was copied to a PostgreSQL: its mail may be sent twice')
    .addHelpText(
      'after',
      `
Example:
  $ posthorn serve --data /var/lib/posthorn

The first signal stops it in order: requests and SMTP transactions under way are finished within
their times, the rest stays in the queue. A second one ends it at once; no accepted mail is lost.
SIGHUP reads shaping.toml, tracking-agents.toml and the certificates again; mail under way and what was
learned of receivers stays as it is.`,
    )
    .action(async ({ force = false }: { force?: boolean }, command: Command) => {
      const place = placeOf(command)
      try {
        requireNamed(command)
        await serve(place, force)
      } catch (error) {
        await logFailedStart(place, error)
      }
    })
}

async function serve(place: CommandPlace, isForced: boolean): Promise<void> {
  const settings = settingsOf(place)
  becomeOwner(place)
  // The operator wants the file to be the database in use again.
  if (isForced) rmSync(copiedNote(place.dataDir), { force: true })
  await requireDataDir(place)
  // Before the start, which may take seconds, so that a signal meanwhile is not lost.
  const stop = stopSignal()
  const { config, warning } = fitDescriptors(settings, openFilesLimit())
  // Loaded only here: other commands need no HTTP server. It takes hundreds of descriptors.
  const { logOptions, serveAppliance } = await import('../app/index.js')
  const { openLog } = await import('../log/index.js')
  const log = openLog(logOptions(config.log))
  if (warning !== undefined) log.warn({}, warning)
  const appliance = await serveAppliance(
    { config, configFile: place.configFile, dataDir: place.dataDir, log },
    stop,
  )
  if (appliance === undefined) return
  const { privateUrl, publicUrl, sandboxSmtpPort, inboundSmtpPort } = appliance
  // One line, so that a script can wait for it.
  if (place.json) say(JSON.stringify({ privateUrl, publicUrl, sandboxSmtpPort, inboundSmtpPort }))
  else if (process.stdout.isTTY) {
    say(styled('bold', 'Posthorn is up. Ctrl-C stops it.'))
    sayFields({
      'API and dashboard': privateUrl,
      'Public pages': publicUrl,
      ...(sandboxSmtpPort ? { 'Sandbox SMTP': `127.0.0.1:${sandboxSmtpPort}` } : {}),
    })
  }
  process.on('SIGHUP', () => appliance.reload())
  await stop
  await appliance.close()
}

/** Writes why the start failed into a log of JSON too, as a line like the others. Throws if the log is not JSON. */
async function logFailedStart(place: CommandPlace, error: unknown): Promise<void> {
  const isJson = { json: true, human: false, auto: !process.stderr.isTTY }[formatOf(place)]
  if (place.json || !isJson) throw error
  const { openLog } = await import('../log/index.js')
  const { failureOf, statusOf } = await import('./failure.js')
  const { code, message, advice } = failureOf(error)
  openLog({ level: 'error', human: false }).error({ code, ...(advice && { advice }) }, message)
  process.exitCode = statusOf(error)
}

function formatOf(place: CommandPlace): 'auto' | 'human' | 'json' {
  // Wrong or missing settings may be why it fails: then only the environment is read.
  for (const settings of [() => settingsOf(place), () => loadConfig({ env: process.env })]) {
    try {
      return settings().log.format
    } catch {}
  }
  return 'auto'
}

/**
 * Resolves at the first signal, even one during the start; a second one ends the process at once.
 */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let signals = 0
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        signals++
        if (signals > 1) process.exit(128 + constants.signals[signal])
        resolve()
      })
    }
    // The process that forked us (the quickstart) has ended, in whatever way: nobody else would stop
    // us.
    process.once('disconnect', resolve)
    process.channel?.unref()
  })
}
