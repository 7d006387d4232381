/**
 * The catalogue of everything that an API client may be told went wrong.
 * Codes and statuses are the contract's (`interface.md`, Errors); `http` renders them in one place.
 * A code with several statuses in the contract has its usual one here; the thrower names the other.
 */
export const errorStatus = {
  validation_error: 400,
  unsupported_media_type: 415,
  domain_not_verified: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  forbidden: 403,
  account_suspended: 403,
  account_paused: 403,
  not_found: 404,
  conflict: 409,
  concurrent_idempotent_request: 409,
  invalid_idempotent_request: 409,
  rate_limit_exceeded: 429,
  daily_quota_exceeded: 429,
  monthly_quota_exceeded: 402,
  plan_limit_exceeded: 403,
  subscription_past_due: 403,
  subscription_expired: 403,
  marketing_subscription_required: 402,
  payment_declined: 402,
  payment_method_required: 400,
  application_error: 500,
  service_unavailable: 503,
} as const

export type ErrorCode = keyof typeof errorStatus

/** A client's fault or a refusal. `fields` are added to the body beside `code` and `error`. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly fields: Record<string, unknown>
  /** Sent as response headers, e.g. `{ 'retry-after': '30' }`. */
  readonly headers: Record<string, string>

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      status?: number
      fields?: Record<string, unknown>
      headers?: Record<string, string>
    } = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.status = options.status ?? errorStatus[code]
    this.fields = options.fields ?? {}
    this.headers = options.headers ?? {}
  }
}

/**
 * An operator's mistake (a setting, an argument, a command that does not apply).
 * The CLI prints its message without a stack and exits 1.
 */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OperatorError'
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
