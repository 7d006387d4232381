import { ApiError, exitStatus, messageOf, OperatorError, systemCode } from '../errors/index.js'
import { databaseTrouble, serverAdvice } from '../store/index.js'
import { styled, visibleLines } from './output.js'
import { userInRootsPlace } from './place.js'

/** What went wrong: a sentence with advice for a person, separate fields for a program. */
export interface Failure {
  /** The code of the `ApiError`, of the operating system or of SQLite; else one of `failureCodes`. */
  code: string
  message: string
  /** What to do about it, if that is known separately from the message. */
  advice?: string
}

/** Codes of failures that neither the API nor the operating system names. */
export const failureCodes = {
  usage: 'the command line is wrong',
  refused: 'it cannot be done; the message says why',
  unconfirmed: 'it needs a yes: a terminal to ask at, or --yes',
  damaged: 'the database is damaged',
  disk: 'the disk failed',
  misplaced: 'the data directory or its key is not the right one',
  interrupted: 'it was stopped by Ctrl-C or a signal',
  fault: 'a fault of Posthorn; please report it',
} as const

/** What an operator reads about anything that was thrown; only a bug shows its stack. */
export function explain(error: unknown): string {
  const label = styled('red', 'error:', process.stderr)
  const { code, message, advice } = failureOf(error)
  if (error instanceof OperatorError && error.advice !== undefined) {
    return `${label} ${visibleLines(`${message}; ${error.advice}`)}`
  }
  if (code === 'fault') return `${label} this is a fault of Posthorn, please report it:\n${message}`
  return `${label} ${visibleLines(advice ? `${message}. ${advice}` : message)}`
}

/** The failure for programs: one line of JSON, the last on stderr. */
export const errorInJson = (error: unknown) => failureInJson(failureOf(error))

/** The one line of JSON that a failed command ends with. */
export const failureInJson = ({ code, message, advice = '' }: Failure) =>
  `${JSON.stringify({ error: { code, message, advice: advice || null } })}\n`

/**
 * Three kinds of failure, which a person and a script have to tell apart: a refusal of ours (code
 * and advice), a fault of the operating system or SQLite (their words, our advice), and a bug of
 * ours (with its stack).
 */
export function failureOf(error: unknown): Failure {
  // An operator is told what an API client would be told.
  if (error instanceof OperatorError || error instanceof ApiError) {
    const cause = error.cause === undefined ? '' : messageOf(error.cause)
    const message = error.message.includes(cause) ? error.message : `${error.message}: ${cause}`
    const own = error instanceof OperatorError ? error.advice : undefined
    return { code: nameOf(error), message, advice: own ?? adviceFor(error.cause) }
  }
  const advice = adviceFor(error)
  // From the operating system or SQLite: their sentence says it best.
  if (advice !== undefined) return { code: systemCode(error), message: messageOf(error), advice }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'fault', message: stack }
}

/**
 * The JSON's code is the API's if there is one; else the error number's name, or the name of the
 * exit status.
 */
function nameOf(error: OperatorError | ApiError): string {
  if (error instanceof ApiError) return error.code
  if (error.code !== undefined) return error.code
  if (error.cause instanceof ApiError) return error.cause.code
  if (adviceFor(error.cause) !== undefined) return systemCode(error.cause)
  const name = Object.entries(exitStatus).find(([, status]) => status === error.status)?.[0]
  return name === undefined || name === 'failed' ? 'refused' : name
}

/** With what status the command ends: see `exitStatus`. */
export function statusOf(error: unknown): number {
  const cause = error instanceof OperatorError ? (error.cause ?? error) : error
  if (databaseTrouble(cause) === 'damaged') return exitStatus.damaged
  return error instanceof OperatorError ? error.status : exitStatus.failed
}

/**
 * Which user may do what was forbidden. A root who has become the service's user is told so, as
 * nobody would guess why root may not.
 */
function whoMay(): string {
  const user = userInRootsPlace()
  if (user === undefined) {
    return 'Let this user have the file, or run it as root or as the user that the data directory belongs to'
  }
  return `It works as ${user.name}, to whom ${user.dataDir} belongs: use a place that this user may reach, and let it read the file`
}

/** Undefined for an error of neither the operating system nor SQLite. */
function adviceFor(error: unknown): string | undefined {
  const ofServer = serverAdvice(error)
  if (ofServer !== undefined) return capitalised(ofServer)
  const code = systemCode(error)
  const trouble = databaseTrouble(error)
  switch (trouble ?? code) {
    case 'EACCES':
    case 'EPERM':
    case 'denied':
      return whoMay()
    case 'EADDRINUSE':
      return 'Another program has this port: stop it or choose another port in the settings'
    case 'EADDRNOTAVAIL':
      return 'No interface of this machine has this address: change it in the settings'
    case 'ENOSPC':
    case 'full':
      return 'The disk is full'
    case 'busy':
      return 'Another process is writing to the database: try again'
    case 'damaged':
      return 'Restore the database from a backup'
  }
  // The code is one of theirs, and we have no advice: the empty text says so.
  return trouble !== undefined || /^E[A-Z0-9]+$/.test(code) ? '' : undefined
}

const capitalised = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
