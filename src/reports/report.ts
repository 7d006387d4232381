/** What a mail that came back turned out to be. */
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
  /** What the server said, at most 1,000 characters; '' when nothing is told. */
  diagnostic: string
  /** The MTA that said so; '' when not told. */
  remoteMta: string
  originalRecipient: string
  finalRecipient: string
}

export type DsnAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'

/** From the message that was returned, or its header, if any was; '' for what it lacks. */
export interface Original {
  /** Without the angle brackets. */
  messageId: string
  to: string
  subject: string
}

export interface Feedback {
  /** As reported, in lower case: `abuse`, `fraud`, `opt-out`, … */
  type: string
  /** What follows, once a token or message id has shown which mail it is about. */
  means: 'complaint' | 'unsubscribe' | 'nothing'
  userAgent: string
  /** '' where the loop hides it. */
  originalRecipient: string
}
