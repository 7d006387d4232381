import type { ErrorBodies } from './types.js'

/** A code of the catalogue, or one that a newer server has. */
export type ErrorCode = keyof ErrorBodies | (string & {})

/** What is known of a failed request, beside its message. */
export interface Failure {
  code: string
  /** 0: there was no answer. */
  status?: number
  /** The answer's JSON, or the first 200 characters of another body. */
  body?: unknown
  requestId?: string | undefined
  attempts?: number
  retryable?: boolean
  cause?: unknown
}

/** Every error that this client itself throws; branch on `code`. */
export class PosthornError extends Error {
  override name = 'PosthornError'
  // Declared alone: the constructor sets them, and the file has to stay within 8 KiB.
  declare readonly code: ErrorCode
  declare readonly status: number
  declare readonly body: unknown
  /** Quote it when you ask the operator for help. */
  declare readonly requestId: string | undefined
  /** How often it was tried. With more than one, an earlier try may have been carried out. */
  declare readonly attempts: number
  /** Whether the same request may succeed later without anybody doing anything. */
  declare readonly retryable: boolean

  constructor(message: string, failure: Failure) {
    super(message, failure.cause === undefined ? undefined : { cause: failure.cause })
    this.code = failure.code
    this.status = failure.status ?? 0
    this.body = failure.body
    this.requestId = failure.requestId
    this.attempts = failure.attempts ?? 1
    this.retryable = failure.retryable ?? false
  }
}

export interface Issue {
  code: string
  expected: string
  received: string
  path: string[]
  message: string
}

/** 400, 413, 415, 422: the request is wrong. */
export class ValidationError extends PosthornError {
  override name = 'ValidationError'
  /** Every wrong field, if the shape of the body is wrong. */
  readonly issues: readonly Issue[] = (this.body as Partial<Shaped>)?.error?.issues ?? []
  /** Every wrong item of a batch; for an automation, by `key`. */
  readonly errors: readonly { index: number; key?: string | null; error: string }[] =
    (this.body as Partial<Listed>)?.errors ?? []
  /** The first field that is wrong: `to.0`. */
  readonly field: string | undefined = this.issues[0]?.path.join('.')
}
interface Shaped {
  error: { issues: Issue[] }
}
interface Listed {
  errors: { index: number; error: string }[]
}

/** 401: no key, or one that is unknown or deleted. */
export class AuthenticationError extends PosthornError {
  override name = 'AuthenticationError'
}

/** 402, 403: the account may not do this. */
export class PermissionError extends PosthornError {
  override name = 'PermissionError'
}

/** Sending is paused until the operator clears it: never try again in a loop. */
export class AccountPausedError extends PosthornError {
  override name = 'AccountPausedError'
  readonly scope: 'all' | 'marketing' = this.status === 503 ? 'all' : 'marketing'
  /** For the scope `all`: `bounce` or `complaint`. */
  readonly reason: string | undefined = (this.body as { reason?: string }).reason
}

/** A cap of the plan is reached. */
export class QuotaError extends PosthornError {
  override name = 'QuotaError'
  readonly period: 'daily' | 'monthly' = this.code === 'daily_quota_exceeded' ? 'daily' : 'monthly'
  readonly limit: number | undefined = this.#number('limit') ?? this.#number('dailyLimit')
  readonly used: number | undefined = this.#number('used') ?? this.#number('dailySent')
  /** For a batch: for how many recipients mail could be sent now. */
  readonly canSend: number | undefined = this.#number('canSend')
  /** For `daily`: when the count starts again, ISO 8601. */
  readonly resetsAt: string | undefined = (this.body as { resetsAt?: string }).resetsAt
  /** For `sendMany`: the index of the first item that was not sent. */
  stoppedAt: number | undefined

  #number(name: string): number | undefined {
    return (this.body as Record<string, number | undefined>)[name]
  }
}

/** 429: too many requests. */
export class RateLimitError extends PosthornError {
  override name = 'RateLimitError'
  /** Seconds. */
  retryAfter: number | undefined
}

/** 404: there is no such thing, or it is of another account. */
export class NotFoundError extends PosthornError {
  override name = 'NotFoundError'
}

/** 409: its state does not allow this, or the Idempotency-Key was used for another request. */
export class ConflictError extends PosthornError {
  override name = 'ConflictError'
}

/** 5xx, and answers that Posthorn never gives, such as the page of a proxy. */
export class ServerError extends PosthornError {
  override name = 'ServerError'
}

/** There was no whole answer; `cause` is the fault of the network. */
export class ConnectionError extends PosthornError {
  override name = 'ConnectionError'
  /** How far the request came. With `connect` nothing was sent. */
  phase: 'connect' | 'request' | 'response' = 'request'
}

/** No answer within `timeout`. */
export class TimeoutError extends PosthornError {
  override name = 'TimeoutError'
}

/** An import that ended in the middle: the counted rows were imported. */
export class ImportInterrupted extends PosthornError {
  override name = 'ImportInterrupted'
  /** Undefined if the connection broke and nobody counted. */
  readonly imported: number | undefined = (this.body as { imported?: number } | undefined)?.imported
}

/** The sender of a webhook could not be proved. */
export class WebhookVerificationError extends PosthornError {
  override name = 'WebhookVerificationError'

  constructor(
    message: string,
    readonly reason: 'missing' | 'malformed' | 'old' | 'signature',
  ) {
    super(message, { code: 'webhook_not_verified' })
  }
}

/** Whether this is an error of this client; with a code, also the type of its body. */
export function isPosthornError(error: unknown): error is PosthornError
export function isPosthornError<C extends keyof ErrorBodies>(
  error: unknown,
  code: C,
): error is PosthornError & { readonly code: C; readonly body: ErrorBodies[C] }
export function isPosthornError(error: unknown, code?: string): boolean {
  return error instanceof PosthornError && (code === undefined || error.code === code)
}
