import {
  AccountPausedError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  PosthornError,
  QuotaError,
  RateLimitError,
  ServerError,
  TimeoutError,
  ValidationError,
} from './errors.js'

/** The result of one attempt. */
export type Outcome = Answered | Broken | { kind: 'timeout'; afterMs: number }

export interface Answered {
  kind: 'answered'
  status: number
  headers: Headers
  /** The parsed JSON, or the beginning of the text where the body is not JSON. */
  body: unknown
  isJson: boolean
}

export interface Broken {
  kind: 'broken'
  phase: ConnectionError['phase']
  cause: unknown
}

/** Why an answer was read no further. The repeat would be as large. */
export class AnswerTooLarge extends Error {}

/** The code in an error's body; undefined if it has none. */
export function codeOf({ body, isJson }: Answered): string | undefined {
  const code = isJson ? (body as { code?: unknown } | null)?.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** In seconds: how long the server asks to wait, and how long a call may take if that limit ended it. */
interface Wait {
  seconds?: number | undefined
  most?: number | undefined
}

/** The error to throw when the last attempt has failed. */
export function toError(outcome: Outcome, attempts: number, wait: Wait = {}): PosthornError {
  if (outcome.kind === 'timeout') {
    const message = `No answer within ${outcome.afterMs} ms${tried(attempts)}`
    return new TimeoutError(message, { code: 'timeout', attempts, retryable: true })
  }
  if (outcome.kind === 'broken') {
    const { phase, cause } = outcome
    const message = `${broken[phase]}${tried(attempts)}: ${reasonOf(cause)}`
    const retryable = !(cause instanceof AnswerTooLarge)
    const error = new ConnectionError(message, {
      code: retryable ? 'connection_failed' : 'answer_too_large',
      attempts,
      retryable,
      cause,
    })
    error.phase = phase
    return error
  }
  return refused(outcome, attempts, wait)
}

const broken = {
  connect: 'The server cannot be reached',
  request: 'The connection broke before the answer',
  response: 'The answer is not whole',
}

const tried = (attempts: number) => (attempts > 1 ? ` (tried ${attempts} times)` : '')

/** The message of fetch is always 'fetch failed'; its cause tells what happened. */
function reasonOf(fault: unknown): string {
  const { message, cause } = fault as { message?: string; cause?: { message?: string } }
  return cause?.message || message || String(fault)
}

function refused(answer: Answered, attempts: number, { seconds, most }: Wait): PosthornError {
  const { status, headers, body } = answer
  const known = codeOf(answer)
  const code = known ?? (status === 400 || status === 422 ? 'validation_error' : `http_${status}`)
  const failure = {
    code,
    status,
    attempts,
    body,
    requestId: headers.get('x-request-id') ?? undefined,
    retryable:
      code !== 'account_paused' &&
      (status >= 500 || code === 'rate_limit_exceeded' || code === 'concurrent_idempotent_request'),
  }
  const Kind = kindOf(code, status)
  const tooLong =
    failure.retryable && seconds !== undefined && most !== undefined
      ? `; it asks to wait ${Math.round(seconds)} s, and a call takes ${most} s at most`
      : ''
  const error = new Kind(messageOf(answer, known) + tooLong, failure)
  if (error instanceof RateLimitError) error.retryAfter = seconds
  return error
}

function messageOf({ status, headers, body, isJson }: Answered, code: string | undefined): string {
  const { error } = (isJson && body !== null ? body : {}) as { error?: unknown }
  if (code !== undefined && typeof error === 'string') return error
  const { issues } = (error ?? {}) as { issues?: { path: string[]; message: string }[] }
  if (issues !== undefined) {
    return issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
  }
  const location = headers.get('location')
  if (status < 400 && location !== null) {
    return `The server redirects to ${location}: set url to where the appliance is`
  }
  return `The server answered ${status}, not as Posthorn does: ${isJson ? JSON.stringify(body) : body}`
}

function kindOf(code: string, status: number): typeof PosthornError {
  if (code === 'account_paused') return AccountPausedError
  if (/^(daily|monthly)_quota_exceeded$/.test(code)) return QuotaError
  if (code === 'rate_limit_exceeded') return RateLimitError
  const byStatus: Record<number, typeof PosthornError> = {
    401: AuthenticationError,
    402: PermissionError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
  }
  if (status >= 500) return ServerError
  return byStatus[status] ?? (status >= 400 ? ValidationError : PosthornError)
}
