import { createRequire } from 'node:module'
import pino from 'pino'

export { makeSeldom } from './seldom.js'

/**
 * Structured logging: one line an event that an operator cares about.
 * Fields come first, the sentence second: `log.info({ emailId }, 'Email accepted')`.
 * Secrets, message bodies and subjects are never passed in.
 */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: Record<string, unknown>): Log
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Human-readable lines on a terminal, JSON elsewhere. Writes to stderr: stdout belongs to the commands. */
export function openLog(options: { level: LogLevel; human?: boolean }): Log {
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    // A second line of defence: callers should pass none of these in.
    redact: {
      paths: ['authorization', 'apiKey', 'secret', 'password', 'privateKey'],
      remove: true,
    },
    serializers: { error: pino.stdSerializers.err },
  }
  if (options.human ?? process.stderr.isTTY) {
    // Loaded only here: each thread has a log of its own, and services write JSON.
    const pretty: typeof import('pino-pretty') = createRequire(import.meta.url)('pino-pretty')
    return pino(
      settings,
      pretty({
        destination: 2,
        sync: true,
        ignore: 'pid,hostname',
        colorize: process.stderr.isTTY,
      }),
    )
  }
  return pino(settings, pino.destination({ dest: 2, sync: true }))
}

/** Drops everything; for tests and commands that speak for themselves. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
}
