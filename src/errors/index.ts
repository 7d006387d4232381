/**
 * The catalogue of everything that an API client may be told went wrong. Codes, statuses and
 * meanings are the contract's (`interface.md`, Errors) with those of `decisions.md`; `http` renders
 * them in one place, `openapi` describes them from here. The first of several statuses is the usual
 * one; the code that throws names any other.
 */
export const errorCatalogue = {
  validation_error: entry('Invalid request; the message names the field', 400, 408, 413, 422, 501),
  unsupported_media_type: entry('File or body type not accepted by the endpoint', 415),
  domain_not_verified: entry('Sending domain not verified; the response lists those that are', 400),
  missing_api_key: entry('No API key was given', 401),
  invalid_api_key: entry('The API key is malformed, unknown or deleted', 401),
  forbidden: entry('Valid credentials, not permitted', 403, 421),
  account_suspended: entry('Account suspended', 403),
  account_paused: entry(
    '403: marketing is paused, transactional mail is unaffected; 503: all sending is paused. An operator has to clear it: do not retry',
    403,
    503,
  ),
  not_found: entry('Resource or URL does not exist; 405: it does not know the method', 404, 405),
  conflict: entry('Resource state disallows the operation', 409),
  concurrent_idempotent_request: entry(
    'An identical request with the same idempotency key is still running',
    409,
  ),
  invalid_idempotent_request: entry('The key was already used with a different body', 409),
  rate_limit_exceeded: entry('Request rate exceeded; clears in seconds', 429),
  daily_quota_exceeded: entry('Daily cap of mails reached; clears at midnight UTC', 429),
  monthly_quota_exceeded: entry('Monthly email allowance exhausted', 402),
  plan_limit_exceeded: entry(
    '403: a cap of the plan (contacts, domains, API keys, team members) or a feature that it lacks; 402: its monthly volume',
    403,
    402,
  ),
  subscription_past_due: entry(
    'Renewal failed: sending goes on, but nothing can be added until it is paid',
    403,
  ),
  subscription_expired: entry('Subscription ended and grace is over', 403),
  marketing_subscription_required: entry('No marketing plan, or it expired', 402),
  payment_declined: entry('Card refused', 402),
  payment_method_required: entry('No card on the account, and the operation needs one', 400),
  application_error: entry('Server-side fault; retry', 500),
  service_unavailable: entry('Server-side, usually brief; retry after `Retry-After`', 503, 502),
} as const

export type ErrorCode = keyof typeof errorCatalogue
export type StatusOf<C extends ErrorCode> = (typeof errorCatalogue)[C]['statuses'][number]

function entry<const S extends readonly [number, ...number[]]>(meaning: string, ...statuses: S) {
  return { meaning, statuses }
}

/** What is wrong with one field, for whoever filled in a form: it names no field of the API. */
export interface Slip {
  /** Its place in the given values, such as `colours.text`. */
  field: string
  says: string
}

/** Refusals for which pages have words of their own; clients read the message. */
export type RefusalCode =
  | 'noList'
  | 'noSegment'
  | 'noPage'
  | 'inexact'
  | 'noAutomation'
  | 'archived'
  | 'neverOn'
  | 'notOn'
  | 'noEntry'
  | 'notPaused'
  | 'tooLarge'
  | 'tooManyOn'
  | 'tooManyOnEvent'
  | 'noVersion'
  | 'noStep'
  | 'noMail'
  | 'noRun'
  | 'endedRun'
  | 'tooManyRuns'

/** A client's fault or a refusal. `fields` are added to the body beside `code` and `error`. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly fields: Record<string, unknown>
  /** Sent as response headers, e.g. `{ 'retry-after': '30' }`. */
  readonly headers: Record<string, string>
  /** All faults, for pages; the message says the first one in the words of the API. */
  readonly slips: readonly Slip[]
  readonly is: RefusalCode | undefined
  /** What the refusal names, for the words of pages. */
  readonly names: readonly (string | number)[]

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      status?: number
      fields?: Record<string, unknown>
      headers?: Record<string, string>
      slips?: readonly Slip[]
      is?: RefusalCode
      names?: readonly (string | number)[]
    } = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.status = options.status ?? errorCatalogue[code].statuses[0]
    this.fields = options.fields ?? {}
    this.headers = options.headers ?? {}
    this.slips = options.slips ?? []
    this.is = options.is
    this.names = options.names ?? []
  }
}

/** One fault: the API's sentence, its field, and what people are told if that sentence speaks of fields. */
export interface WrongField {
  field: string
  message: string
  says?: string
  /** Where people find it, if that is more exact than the field that the API names. */
  at?: string
}

/**
 * Throws a 422 unless nothing is wrong. It tells programs the first fault, and people all faults.
 */
export function refuseWrong(found: readonly WrongField[]): void {
  const [first] = found
  if (first === undefined) return
  const { field, message } = first
  const slips = found.map((one) => ({ field: one.at ?? one.field, says: one.says ?? one.message }))
  throw new ApiError('validation_error', message, { status: 422, fields: { field }, slips })
}

/**
 * Exit statuses that tell systemd more than 1 (it failed): after 65 and 78 a restart helps only once a
 * person has acted (RestartPreventExitStatus). The numbers are those of sysexits.h.
 */
export const exitStatus = { failed: 1, damaged: 65, disk: 74, misplaced: 78 } as const

/**
 * An operator's mistake (a setting, an argument, a command that does not apply).
 * The CLI prints its message without a stack and exits with `status`.
 */
export class OperatorError extends Error {
  readonly status: number
  /** What to do about it, if that is a sentence of its own; begins in lower case. */
  readonly advice: string | undefined
  /** What programs are told instead of 'refused'. */
  readonly code: string | undefined

  constructor(
    message: string,
    options: ErrorOptions & { status?: number; advice?: string | undefined; code?: string } = {},
  ) {
    super(message, options)
    this.name = 'OperatorError'
    this.status = options.status ?? exitStatus.failed
    this.advice = options.advice
    this.code = options.code
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of an error of Node or the system, such as `ENOENT`; empty if it has none. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/**
 * What clients are told of a fault of ours, also in place of another server's reply. The log has the fault, which only
 * the operator may know.
 */
export const internalFault = 'Internal error; the operator has to look into it'

/** Why something waits after a fault of ours, for the operator alone. */
export const internalReason = (what: string, fault: string): string =>
  `Internal error: ${what}: ${fault}`.slice(0, 500)
