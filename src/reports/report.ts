/** The kind of a mail that came back. */
export type Report = Common &
  (
    | { kind: 'dsn'; form: string; reportingMta: string; recipients: readonly ReportedRecipient[] }
    | { kind: 'arf'; form: string; feedback: Feedback }
    | { kind: 'auto-reply' | 'not-a-report'; why: string }
  )

interface Common {
  original: Original
  /** Addresses in it that have the form of our return paths, for the caller to verify. */
  tokens: readonly string[]
}

export interface ReportedRecipient {
  /** RFC 3464 §2.3.3. Only `failed` is a bounce. */
  action: DsnAction
  /** RFC 3463; '' when the report has none. */
  status: string
  /** The server's words, at most 1,000 characters; '' if none are told. */
  diagnostic: string
  /** The MTA that said so; '' if not told. */
  remoteMta: string
  originalRecipient: string
  finalRecipient: string
}

export type DsnAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'

/** From the returned message or its header, if any; '' for a missing value. */
export interface Original {
  /** Without the angle brackets. */
  messageId: string
  to: string
  subject: string
}

export interface Feedback {
  /** As reported, in lower case: `abuse`, `fraud`, `opt-out`, … */
  type: string
  /** The effect, once a token or message id has shown which mail it is about. */
  means: 'complaint' | 'unsubscribe' | 'nothing'
  userAgent: string
  /** '' if the loop hides it. */
  originalRecipient: string
}
