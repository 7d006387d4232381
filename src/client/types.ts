/*
 * Made by bin/client-types from the OpenAPI document: change that, not this.
 * What is sent has closed types, so that a typo is an error; what is answered has open ones, so that
 * a newer server breaks nobody.
 */

export const clientVersion = '0.1.0'

export interface AccountPaused {
  /** 403: marketing is paused, transactional mail is unaffected; 503: all sending is paused. An operator has to clear it: do not retry */
  code: 'account_paused'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface AccountSuspended {
  /** Account suspended */
  code: 'account_suspended'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface ApplicationError {
  /** Server-side fault; retry */
  code: 'application_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

/** Exactly one of `content` and `url`. */
export interface Attachment {
  /** Only the name, without a path: at most 255 bytes, no control characters, none that turn the direction of the text around */
  filename: string
  /** The file in base64 (RFC 4648 §4); line ends in it count for nothing */
  content?: string | undefined
  /** Where Posthorn fetches it when the mail is accepted: https, at a public address, within 20 seconds for all of a request, at most 3 redirects */
  url?: string | undefined
  /** Its media type; made from the name if absent. `text/calendar; method=REQUEST` is an invitation: clients show it with its buttons, and as a file. One a mail */
  contentType?: string | undefined
  /** For a picture in the HTML: `logo` for `<img src="cid:logo">` */
  contentId?: string | undefined
  /** `inline` if it has a `contentId`, else `attachment` */
  disposition?: 'attachment' | 'inline' | undefined
}

export interface Automation {
  /** Never changes */
  id: string
  /** For people */
  name: string
  /** `disabled`: no event starts it; `archived`: for good */
  status: 'disabled' | 'enabled' | 'archived' | (string & {})
  /** Of what it does now; runs go on in the version in which they began */
  version: number
  runs: {
    /** Runs that are running */
    running: number
    /** Runs that are waiting */
    waiting: number
    /** Runs that are completed */
    completed: number
    /** Runs that are exited */
    exited: number
    /** Runs that are failed */
    failed: number
    /** Runs that are cancelled */
    cancelled: number
  }
  /** Contacts who have ever entered it */
  enrolledContacts: number
  /** When it was made */
  createdAt: string
  /** When it was last changed */
  updatedAt: string
}

/** What is not given stays; steps and connections are replaced as a whole. */
export interface AutomationChanges {
  /** For people */
  name?: string | null | undefined
  steps?: readonly {
    /** Names the step */
    key: string
    /** What it does */
    type: 'trigger' | 'send_email' | 'delay' | 'wait_for_event' | 'condition' | 'contact_update' | 'split' | 'webhook' | 'exit'
    config?: object | null | undefined
  }[] | null | undefined
  connections?: readonly {
    /** The key of a step */
    from: string
    /** The key of a step */
    to: string
    /** Which of its ends */
    type: 'default' | 'condition_met' | 'condition_not_met' | 'event_received' | 'timeout' | 'branch'
    /** Of a split: the key of the branch */
    branch?: string | null | undefined
  }[] | null | undefined
  /** `exitOn` [{ eventName, filter? }] ends a run wherever it is; `goal` { eventName, filter?, to? }; `timeZone`; `sendWindow` { from, to, days?, zone? }; `maxPerHour`; `onUnsubscribe` (`continue` where all mail is transactional) */
  settings?: object | null | undefined
}

export interface AutomationCreated {
  /** For the other endpoints */
  id: string
  /** For people */
  name: string
  /** `disabled`: no event starts it; `archived`: for good */
  status: 'disabled' | 'enabled' | 'archived' | (string & {})
  /** For people */
  message: string
}

export interface AutomationDetail {
  /** Never changes */
  id: string
  /** For people */
  name: string
  /** `disabled`: no event starts it; `archived`: for good */
  status: 'disabled' | 'enabled' | 'archived' | (string & {})
  /** Of what it does now; runs go on in the version in which they began */
  version: number
  runs: {
    /** Runs that are running */
    running: number
    /** Runs that are waiting */
    waiting: number
    /** Runs that are completed */
    completed: number
    /** Runs that are exited */
    exited: number
    /** Runs that are failed */
    failed: number
    /** Runs that are cancelled */
    cancelled: number
  }
  /** Contacts who have ever entered it */
  enrolledContacts: number
  /** When it was made */
  createdAt: string
  /** When it was last changed */
  updatedAt: string
  steps: {
    /** Names the step */
    key: string
    /** What it does */
    type: 'trigger' | 'send_email' | 'delay' | 'wait_for_event' | 'condition' | 'contact_update' | 'split' | 'webhook' | 'exit' | (string & {})
    config?: Record<string, unknown>
  }[]
  connections: {
    /** The key of a step */
    from: string
    /** The key of a step */
    to: string
    /** Which of its ends */
    type: 'default' | 'condition_met' | 'condition_not_met' | 'event_received' | 'timeout' | 'branch' | (string & {})
    /** Of a split: the key of the branch */
    branch?: string
  }[]
  /** `exitOn` [{ eventName, filter? }] ends a run wherever it is; `goal` { eventName, filter?, to? }; `timeZone`; `sendWindow` { from, to, days?, zone? }; `maxPerHour`; `onUnsubscribe` (`continue` where all mail is transactional) */
  settings: Record<string, unknown>
  /** What will fail when a step runs, such as a variable that its template lacks */
  warnings?: {
    /** The step */
    key: string | null
    /** What is wrong */
    error: string
  }[]
}

export interface AutomationEnabled {
  /** The id that the request named */
  id: string
  /** As it is after the request */
  status: string
  /** For people */
  message: string
  /** What will fail when a step runs, such as a variable that its template lacks */
  warnings: {
    /** The step */
    key: string | null
    /** What is wrong */
    error: string
  }[]
}

export interface AutomationRun {
  /** Never changes */
  id: string
  /** The automation of the run */
  automationId: string
  /** The version of the automation in which it runs */
  version: number
  /** The contact; null once it is deleted */
  contactId: string | null
  /** The contact's address */
  email: string | null
  /** `running` and `waiting` are under way */
  status: 'running' | 'waiting' | 'completed' | 'exited' | 'failed' | 'cancelled' | (string & {})
  /** Of one that has ended: `unsubscribed`, `bounced`, `complained`, `deleted` …, or what its `exit` step says */
  reason: string | null
  /** Where it is or has ended */
  currentStep: string | null
  /** When its event came */
  startedAt: string
  /** When it last moved */
  updatedAt: string
  /** Null when it has ended, or goes on at once */
  waitingFor: null | {
    /** `event`, `delay`, or why a step cannot be taken yet: `suspended`, `quota`, `paused`, `domain`, `plan`, `queue_full`, `window`, `cap`, `held`, `retry` */
    kind: string
    /** The event that it waits for */
    event?: string
    /** Why it is held */
    reason?: string
    /** Until then at the latest; null: until it is released */
    until: string | null
  }
  history: {
    /** Null: some lines were left out */
    step: string | null
    /** When */
    at: string
    /** `sent`, `waited`, `received`, `timed_out`, `met`, `not_met` … */
    result: string
    /** Of `sent`: the mail */
    emailId?: string
    /** Of `received`: the number of the event */
    eventId?: number
  }[]
  /** Of a run that was asked for: why it is where it is and until when, in a sentence */
  why?: string
}

export interface AutomationRuns {
  runs: AutomationRun[]
  hasMore: boolean
  /** For `cursor`, to get the next page */
  nextCursor: string | null
}

export interface AutomationState {
  /** The id that the request named */
  id: string
  /** As it is after the request */
  status: string
  /** For people */
  message: string
}

export interface Automations {
  automations: Automation[]
  hasMore: boolean
  /** For `cursor`, to get the next page */
  nextCursor: string | null
}

export interface BadContent {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** `subject` or `html`; null: all of it */
  part: string | null
  /** Where, from 1 */
  line?: number
  /** Where, from 1 */
  column?: number
}

export interface BadTemplate {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** `subject`, `html` or `text`; null: all of it */
  part: string | null
  /** Where, from 1 */
  line?: number
  /** Where, from 1 */
  column?: number
}

/** All or none of them are queued. */
export interface Batch {
  emails: readonly Send[]
  /** Each of the emails has these beside its own: a file that all of them carry is sent and read once */
  attachments?: readonly Attachment[] | null | undefined
}

export interface BatchQueued {
  /** How many */
  queued: number
  /** In input order */
  ids: string[]
}

export interface Broadcast {
  /** The campaign */
  id: string
  /** For yourself */
  name: string | null
  /** As given, with its merge tags */
  subject: string
  /** `sent`: every mail has ended, or was handed to a smart host. `paused`: by the operator, or because the account is */
  status: 'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'cancelled' | 'failed' | (string & {})
  /** Why it is paused */
  pausedReason: string | null
  /** Whose pause it is: `account` resumes its own, `operator` any */
  pausedBy: 'account' | 'operator' | null | (string & {})
  /** Why it could not be dispatched at its time */
  failedReason: string | null
  /** Whom it is for */
  listId: string
  /** Its topic */
  topicId: string | null
  /** How many it is for; before it is dispatched, how many it would be */
  recipientCount: number
  /** When it is or was to be dispatched */
  scheduledAt: string | null
  /** When it was dispatched */
  sentAt: string | null
  /** When it was made */
  createdAt: string
  stats: BroadcastStats
}

export interface BroadcastAudience {
  /** Whom it is for */
  listId: string
  /** Who has left the topic gets nothing, and unsubscribing is from this topic only */
  topicId?: string | null | undefined
}

export interface BroadcastCancelled {
  /** The campaign */
  id: string
  status: 'cancelled'
  /** For people */
  message: string
}

/** What is to be changed, at least one. Unknown fields are ignored, but those that other mail APIs know and that would change what is sent are a 422. */
export interface BroadcastChanges {
  /** Whom it is for */
  listId?: string | null | undefined
  /** On a verified domain of the account */
  from?: string | null | undefined
  /** At most 200 characters; merge tags as in the HTML */
  subject?: string | null | undefined
  /** Liquid, at most 2 MiB. Merge tags: `{{firstName}}`, `{{lastName}}`, `{{email}}` and what is in the metadata; an empty one renders as nothing, or as `| default: "there"` says. The text part is made from it. */
  html?: string | null | undefined
  /** Empty: no topic */
  topicId?: string | null | undefined
  /** At most 200 characters; empty: none */
  name?: string | null | undefined
  replyTo?: string | readonly string[] | null | undefined
  /** Header fields of your own, at most 25 with 4 KiB each and 16 KiB together; signed with DKIM. In-Reply-To and References stay as they are, other text that is not ASCII is encoded (RFC 2047). Those that Posthorn or the servers on the way write are a 422: From, To, Cc, Bcc, Reply-To, Subject, Date, Sender, Message-ID, MIME-Version, Content-*, List-Unsubscribe*, List-Id, Return-Path, Received, DKIM-*, ARC-*, Authentication-Results, Resent-*, CFBL-*, X-Posthorn-* */
  headers?: Record<string, string> | null | undefined
  /** Tags of your own, to find mails by (`GET /v1/emails?tag=name:value`); also in webhooks. Each name once */
  tags?: readonly TagInput[] | null | undefined
  /** Files that go with the mail: at most 10 MiB together as they are (not in base64) and 50 of them, unless the operator says otherwise. Large receivers refuse programs and scripts (`.exe`, `.js`, also in archives): Posthorn sends them, the refusal is in `recipients` */
  attachments?: readonly Attachment[] | null | undefined
  /** As for a new one; empty: none, so that it is sent at once */
  scheduledAt?: string | Date | null | undefined
}

export interface BroadcastDetail {
  /** The campaign */
  id: string
  /** For yourself */
  name: string | null
  /** As given, with its merge tags */
  subject: string
  /** `sent`: every mail has ended, or was handed to a smart host. `paused`: by the operator, or because the account is */
  status: 'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'cancelled' | 'failed' | (string & {})
  /** Why it is paused */
  pausedReason: string | null
  /** Whose pause it is: `account` resumes its own, `operator` any */
  pausedBy: 'account' | 'operator' | null | (string & {})
  /** Why it could not be dispatched at its time */
  failedReason: string | null
  /** Whom it is for */
  listId: string
  /** Its topic */
  topicId: string | null
  /** How many it is for; before it is dispatched, how many it would be */
  recipientCount: number
  /** When it is or was to be dispatched */
  scheduledAt: string | null
  /** When it was dispatched */
  sentAt: string | null
  /** When it was made */
  createdAt: string
  stats: BroadcastStats
  /** As given */
  from: string
  /** Where answers go */
  replyTo: string[]
  /** The headers that were given */
  headers: Record<string, string>
  /** The attachments, without their bytes */
  attachments: EmailAttachment[]
  /** Those of its mails */
  tags: Tag[]
  progress: {
    /** Mails that have not ended */
    waiting: number
    /** Handed to a smart host, which has told no more */
    relayed: number
    /** Given up after the time for which mail is tried */
    failed: number
    /** Left out on departure: unsubscribed, bounced or complained since */
    suppressed: number
    /** Cancelled by the operator */
    cancelled: number
    /** Mails are still to be made, and the appliance has no room for more now: its queue or its disk is full. It goes on by itself */
    waitsForRoom: boolean
  }
  /** The first 1,000 */
  recipients: {
    /** The address */
    email: string
    status: EmailStatus
    /** The first open */
    openedAt: string | null
    /** The first click */
    clickedAt: string | null
    /** Opens by people */
    opensCount: number
    /** Clicks by people */
    clicksCount: number
  }[]
}

export interface BroadcastDraft {
  /** The campaign */
  id: string
  status: 'draft'
  /** Who would get it now */
  estimatedRecipients: number
}

export interface BroadcastPaused {
  /** The campaign */
  id: string
  status: 'paused'
  /** For people */
  message: string
}

export interface BroadcastPreview {
  /** Who would get it now */
  recipientCount: number
  /** Some of them */
  sample: string[]
  /** For people */
  note: string
}

export interface BroadcastRecipients {
  recipients: {
    /** The mail */
    emailId: string
    /** The address */
    email: string
    status: EmailStatus
    /** The first open */
    openedAt: string | null
    /** The first click */
    clickedAt: string | null
    /** Opens by people */
    opensCount: number
    /** Clicks by people */
    clicksCount: number
  }[]
  /** Whether there is another page */
  hasMore: boolean
  /** Where the next page begins; null at the end */
  nextCursor: string | null
}

export interface BroadcastResumed {
  /** The campaign */
  id: string
  /** For people */
  message: string
}

export interface BroadcastScheduled {
  /** The campaign */
  id: string
  status: 'scheduled'
  /** When it will be dispatched */
  scheduledAt: string
  /** Who would get it now */
  estimatedRecipients: number
}

export interface BroadcastSending {
  /** The campaign */
  id: string
  status: 'sending'
  /** Who gets it */
  recipientCount: number
}

export interface BroadcastStats {
  /** Mails made so far */
  recipients: number
  /** Taken on by the recipient’s server */
  delivered: number
  /** Refused by it for good */
  bounced: number
  /** Mails that people opened */
  opened: number
  /** Mails in which people clicked */
  clicked: number
  /** In percent of what has arrived */
  openRate: number
  /** In percent of what has arrived */
  clickRate: number
}

export interface Broadcasts {
  broadcasts: Broadcast[]
  hasMore: boolean
  /** `cursor` of the next page; null at the end */
  nextCursor: string | null
}

export interface BrokenCsv {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** Where it breaks */
  line: number
  /** Rows that put somebody on the list */
  imported: number
  /** Rows of those who are on it already, by an earlier row or before */
  skipped: number
  /** Rows without a valid address, or with what cannot be kept */
  invalid: number
  /** The first 100 of these rows */
  refused: {
    /** Where the row begins, from 1 */
    line: number
    /** Why, for people */
    reason: string
  }[]
}

export interface CampaignCap {
  /** 403: a cap of the plan (contacts, domains, API keys, team members) or a feature that it lacks; 402: its monthly volume */
  code: 'plan_limit_exceeded'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** The plan's campaign mails a month */
  limit: number
  /** Used of them */
  used: number
  /** The marketing plan */
  plan: string
}

export interface Cohort {
  /** Who were walked through it */
  contacts: number
  /** Those for whom a run began */
  started: number
  /** By the key of the step, how often each result came */
  steps: Record<string, Record<string, number>>
  /** How often each end came, such as `completed` or `exited:goal` */
  ends: Record<string, number>
  /** Whether it took too many steps: not all contacts were walked through it to the end */
  cut: boolean
}

export interface ConcurrentIdempotentRequest {
  /** An identical request with the same idempotency key is still running */
  code: 'concurrent_idempotent_request'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface Conflict {
  /** Resource state disallows the operation */
  code: 'conflict'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface Contact {
  /** The same on every list */
  id: string
  /** As it was added */
  email: string
  /** A merge tag of campaigns */
  firstName: string | null
  /** A merge tag of campaigns */
  lastName: string | null
  /** E.164, by which USSD finds the contact */
  phone: string | null
  metadata: Record<string, unknown>
  /** From all marketing mail of the account */
  unsubscribed: boolean
  /** When that was */
  unsubscribedAt: string | null
  /** The strongest reason for which the address is not mailed */
  suppressed: 'bounce' | 'complaint' | 'unsubscribe' | 'manual' | null | (string & {})
  /** When the account came to know the address */
  createdAt: string
}

export interface ContactAdded {
  /** The contact */
  id: string
  /** Its address */
  email: string
}

export interface ContactList {
  /** For listId */
  id: string
  /** Two lists may have the same name */
  name: string
  /** How many contacts are on it */
  contactCount: number
  /** When it was made */
  createdAt: string
}

export interface ContactListCreated {
  /** For listId */
  id: string
  /** Two lists may have the same name */
  name: string
}

export interface ContactLists {
  lists: ContactList[]
}

export interface Contacts {
  contacts: Contact[]
  hasMore: boolean
  /** `cursor` of the next page; null at the end */
  nextCursor: string | null
}

export interface CsvUpload {
  /** The CSV file */
  file: unknown
}

export interface DailyQuotaExceeded {
  /** Daily cap of mails reached; clears at midnight UTC */
  code: 'daily_quota_exceeded'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** The plan's mails a day */
  dailyLimit: number
  /** Used of them */
  dailySent: number
  /** The next midnight, UTC */
  resetsAt: string
  /** The account's plan */
  plan: string
}

export interface DailyQuotaOfBatch {
  /** Daily cap of mails reached; clears at midnight UTC */
  code: 'daily_quota_exceeded'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** How many of its mails could be sent now */
  canSend: number
}

export interface DmarcSource {
  /** An IP address; empty: those that were too many to be told apart */
  address: string
  /** Its name in the DNS; empty where it has none, or nothing answered */
  name: string
  /** `ours`: the appliance sends from it. `forwarder`: it sends on what was signed for the domain. `service`: SPF of the domain lets it send. `other`: a stranger, or a server that is not set up. */
  kind: 'ours' | 'forwarder' | 'service' | 'other' | (string & {})
  /** As counted by receivers */
  messages: number
  /** Of these, DKIM or SPF passed for a domain that aligns with the From */
  passed: number
  /** DKIM did */
  dkimPassed: number
  /** SPF did */
  spfPassed: number
  /** Treated as spam as the policy asks */
  quarantined: number
  /** Refused as the policy asks */
  rejected: number
  /** Of these, in reports that nobody has signed */
  unproven: number
  /** Some that have seen it */
  reporters: string[]
  /** What passed or failed there, of one of the reports */
  identifiers: string
  /** What to do; empty where nothing is */
  advice: string
}

export interface Domain {
  /** Never changes */
  id: string
  /** As A-labels, in lower case */
  name: string
  /** Only a verified one is sent from */
  status: 'pending' | 'verified' | (string & {})
  /** Verified because the operator said so, whatever the DNS says */
  trusted: boolean
  /** Whether bounces come back by a host of its own */
  returnPath: boolean
  dkim: {
    /** The first part of its name in the DNS */
    selector: string
    algorithm: 'rsa-sha256' | 'ed25519-sha256' | (string & {})
    /** Whether it signs */
    verified: boolean
  }[]
  /** `default`: as the account has it */
  trackOpens: 'on' | 'off' | 'default' | (string & {})
  /** `default`: as the account has it */
  trackClicks: 'on' | 'off' | 'default' | (string & {})
  /** The host of its own that tracked links lead through */
  trackingHost: string | null
  /** Whether the DNS was seen to lead it here */
  trackingHostReady: boolean
  /** When it was added */
  createdAt: string
  /** When it was first seen verified */
  verifiedAt: string | null
  /** The last look */
  checkedAt: string | null
}

/** What is not given stays. */
export interface DomainChanges {
  /** `default`: as the account has it */
  trackOpens?: 'on' | 'off' | 'default' | null | undefined
  /** `default`: as the account has it */
  trackClicks?: 'on' | 'off' | 'default' | null | undefined
  /** A host of the domain, with a CNAME record to publish; an empty text takes it away */
  trackingHost?: string | null | undefined
}

export interface DomainDeleted {
  /** As given */
  id: string
  deleted: true
  /** For people */
  message: string
  /** Those that are enabled, or have live runs, and send from it: their runs wait until it is added and verified again */
  automations: {
    /** Of the automation */
    id: string
    /** Its name */
    name: string
  }[]
}

export interface DomainDetail {
  /** Never changes */
  id: string
  /** As A-labels, in lower case */
  name: string
  /** Only a verified one is sent from */
  status: 'pending' | 'verified' | (string & {})
  /** Verified because the operator said so, whatever the DNS says */
  trusted: boolean
  /** Whether bounces come back by a host of its own */
  returnPath: boolean
  dkim: {
    /** The first part of its name in the DNS */
    selector: string
    algorithm: 'rsa-sha256' | 'ed25519-sha256' | (string & {})
    /** Whether it signs */
    verified: boolean
  }[]
  /** `default`: as the account has it */
  trackOpens: 'on' | 'off' | 'default' | (string & {})
  /** `default`: as the account has it */
  trackClicks: 'on' | 'off' | 'default' | (string & {})
  /** The host of its own that tracked links lead through */
  trackingHost: string | null
  /** Whether the DNS was seen to lead it here */
  trackingHostReady: boolean
  /** When it was added */
  createdAt: string
  /** When it was first seen verified */
  verifiedAt: string | null
  /** The last look */
  checkedAt: string | null
  /** To publish */
  records: {
    purpose: 'dkim-rsa' | 'dkim-ed25519' | 'return-path-mx' | 'return-path-spf' | 'dmarc' | 'tracking' | (string & {})
    type: 'TXT' | 'MX' | 'CNAME' | (string & {})
    /** The whole name, without a dot at the end */
    name: string
    /** What is wanted there; of an MX the preference and the host */
    value: string
    /** Without it nothing is sent */
    required: boolean
  }[]
  /** The same as lines of a zone file */
  zone: string
}

export interface DomainDmarc {
  /** Of the domain */
  id: string
  /** The domain */
  name: string
  /** When the first day that is counted begins, UTC */
  since: string
  /** `p` of the newest signed report; empty without one */
  policy: string
  /** How many were received */
  reports: number
  /** Mail in the name of the domain */
  messages: number
  /** Of these, what passed DMARC */
  passed: number
  /** The 200 with most mail, the largest first */
  sources: DmarcSource[]
  /** The 100 with most reports */
  reporters: {
    /** Who reports */
    name: string
    /** The domain whose DKIM signature the report carries; empty if it is not signed */
    proof: string
    /** How many */
    reports: number
  }[]
  /** What receivers reported of TLS with the servers of its return path */
  tls: {
    /** How many were received */
    reports: number
    /** Sessions that went well */
    successes: number
    /** Sessions that failed */
    failures: number
    /** Failures by result type (RFC 8460 §4.3) */
    types: Record<string, number>
  }
}

export interface DomainInUse {
  /** Resource state disallows the operation */
  code: 'conflict'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** The campaign */
  broadcastId?: string
}

export interface DomainNotVerified {
  /** Sending domain not verified; the response lists those that are */
  code: 'domain_not_verified'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** That of `from` */
  domain: string
  /** The domains from which the account may send */
  verifiedDomains: string[]
}

export interface DomainVerification {
  /** Never changes */
  id: string
  /** As A-labels, in lower case */
  name: string
  /** Only a verified one is sent from */
  status: 'pending' | 'verified' | (string & {})
  /** Verified because the operator said so, whatever the DNS says */
  trusted: boolean
  /** Whether bounces come back by a host of its own */
  returnPath: boolean
  dkim: {
    /** The first part of its name in the DNS */
    selector: string
    algorithm: 'rsa-sha256' | 'ed25519-sha256' | (string & {})
    /** Whether it signs */
    verified: boolean
  }[]
  /** `default`: as the account has it */
  trackOpens: 'on' | 'off' | 'default' | (string & {})
  /** `default`: as the account has it */
  trackClicks: 'on' | 'off' | 'default' | (string & {})
  /** The host of its own that tracked links lead through */
  trackingHost: string | null
  /** Whether the DNS was seen to lead it here */
  trackingHostReady: boolean
  /** When it was added */
  createdAt: string
  /** When it was first seen verified */
  verifiedAt: string | null
  /** The last look */
  checkedAt: string | null
  records: {
    purpose: 'dkim-rsa' | 'dkim-ed25519' | 'return-path-mx' | 'return-path-spf' | 'dmarc' | 'tracking' | (string & {})
    type: 'TXT' | 'MX' | 'CNAME' | (string & {})
    /** The whole name, without a dot at the end */
    name: string
    /** What is wanted there; of an MX the preference and the host */
    value: string
    /** Without it nothing is sent */
    required: boolean
    /** `unknown`: the DNS gave no answer, so nothing was concluded */
    state: 'ok' | 'missing' | 'different' | 'unknown' | (string & {})
    /** What is there */
    found: string[]
    /** What to do; empty where nothing is */
    advice: string
  }[]
}

export interface Domains {
  domains: Domain[]
}

export interface Email {
  /** That of the answer to the send */
  id: string
  /** As given */
  from: string
  /** Joined by commas when there are several */
  to: string
  /** Seen by everybody */
  cc: string[]
  /** Seen by nobody */
  bcc: string[]
  /** As sent */
  subject: string
  /** As given, or those of its campaign */
  tags: Tag[]
  status: EmailStatus
  type: 'transactional' | 'marketing' | (string & {})
  /** Of marketing mail */
  topicId: string | null
  /** The campaign that it is of */
  broadcastId: string | null
  /** The slug of the template that it was made from */
  template: string | null
  /** Opens by people */
  opensCount: number
  /** Clicks by people */
  clicksCount: number
  /** The first open */
  openedAt: string | null
  /** The first click */
  clickedAt: string | null
  /** When it is, or was, to leave */
  scheduledAt: string | null
  /** When the first attempt began */
  sentAt: string | null
  /** When it was accepted */
  createdAt: string
  /** Opaque */
  messageId: string
  /** `failover`: it went by the other path during an incident */
  provider: 'primary' | 'failover' | (string & {})
  /** Where answers go */
  replyTo: string[]
  /** The headers that were given */
  headers: Record<string, string>
  /** The attachments, without their bytes */
  attachments: EmailAttachment[]
  /** As given */
  metadata: Record<string, unknown> | null
  /** Text, HTML and attachments were deleted, as they were as old as the operator keeps them; then `attachments` is empty */
  contentDeleted: boolean
  /** All that the account sends waits, or some of this mail, until the operator releases it */
  held: {
    /** Null where the whole account is stopped */
    since: string | null
    /** Why, in a sentence */
    reason: string
  } | null
  /** What became of the mail for each recipient, in the order given */
  recipients: EmailRecipient[]
}

export interface EmailAttachment {
  /** As given */
  filename: string
  /** As it was given, or as the name of the file suggests */
  contentType: string
  /** Size in bytes, not in base64 */
  size: number
  /** As given */
  contentId: string | null
  disposition: 'attachment' | 'inline' | (string & {})
}

export interface EmailCancelled {
  /** For people */
  message: string
}

export interface EmailFound {
  email: Email
}

export interface EmailList {
  /** Newest first; may be fewer than `limit`, or none, although there are more */
  emails: EmailSummary[]
  /** Ask again with the cursor */
  hasMore: boolean
  /** For `cursor`; null at the end */
  nextCursor: string | null
}

export interface EmailQueued {
  /** The id of the email */
  id: string
  /** For people */
  message: string
}

export interface EmailRecipient {
  /** Only the address */
  email: string
  /** The field it was given in; the first of `to`, `cc`, `bcc` */
  kind: 'to' | 'cc' | 'bcc' | (string & {})
  /** `sent`: a smart host has taken it on; what became of it there is not known */
  status: 'queued' | 'deferred' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'cancelled' | 'suppressed' | (string & {})
  /** Made so far */
  attempts: number
  /** Null while one is under way, and at the end */
  nextAttemptAt: string | null
  /** The last reply of the recipient's server, word for word */
  reply: string | null
  /** Of the last attempt, or of the end */
  updatedAt: string | null
  /** It waits until the operator releases it */
  held: {
    /** Null where the whole account is stopped */
    since: string | null
    /** Why, in a sentence */
    reason: string
  } | null
}

export interface EmailScheduled {
  /** The id of the email */
  id: string
  status: 'scheduled'
  /** In UTC */
  scheduledAt: string
  /** For people */
  message: string
}

/** Never leaves `cancelled` or `suppressed` (nobody is left to mail) */
export type EmailStatus = 'queued' | 'scheduled' | 'sending' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'cancelled' | 'suppressed' | (string & {})

export interface EmailSummary {
  /** That of the answer to the send */
  id: string
  /** As given */
  from: string
  /** Joined by commas when there are several */
  to: string
  /** Seen by everybody */
  cc: string[]
  /** Seen by nobody */
  bcc: string[]
  /** As sent */
  subject: string
  /** As given, or those of its campaign */
  tags: Tag[]
  status: EmailStatus
  type: 'transactional' | 'marketing' | (string & {})
  /** Of marketing mail */
  topicId: string | null
  /** The campaign that it is of */
  broadcastId: string | null
  /** The slug of the template that it was made from */
  template: string | null
  /** Opens by people */
  opensCount: number
  /** Clicks by people */
  clicksCount: number
  /** The first open */
  openedAt: string | null
  /** The first click */
  clickedAt: string | null
  /** When it is, or was, to leave */
  scheduledAt: string | null
  /** When the first attempt began */
  sentAt: string | null
  /** When it was accepted */
  createdAt: string
  /** Opaque */
  messageId: string
  /** `failover`: it went by the other path during an incident */
  provider: 'primary' | 'failover' | (string & {})
}

export interface EventAccepted {
  /** 1 to 100 of A-Z, a-z, 0-9, `_`, `.`, `:` and `-` */
  event: string
  /** Whose event it is */
  contactId: string
  /** The account did not know the address */
  contactCreated: boolean
  /** Runs that began */
  started: number
  /** Runs that were waiting for it and go on */
  resumed: number
  automations: {
    /** An enabled automation that the event can start */
    automationId: string
    /** For people */
    name: string
    /** A run of the contact began */
    started: boolean
    /** The run that began, or the one that is under way */
    runId: string | null
    /** Why none began */
    reason?: 'already_running' | 'already_entered' | 'too_soon' | 'filtered' | 'suppressed' | 'too_old' | 'limit' | (string & {})
  }[]
}

export interface EventsAccepted {
  /** Events that were taken in */
  accepted: number
  results: EventAccepted[]
}

export interface Forbidden {
  /** Valid credentials, not permitted */
  code: 'forbidden'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface Gone {
  /** The id of what was deleted */
  id: string
  deleted: true
  /** For people */
  message: string
}

export interface ImportCutOff {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** Rows that put somebody on the list */
  imported: number
  /** Rows of those who are on it already, by an earlier row or before */
  skipped: number
  /** Rows without a valid address, or with what cannot be kept */
  invalid: number
  /** The first 100 of these rows */
  refused: {
    /** Where the row begins, from 1 */
    line: number
    /** Why, for people */
    reason: string
  }[]
}

export interface ImportFull {
  /** 403: a cap of the plan (contacts, domains, API keys, team members) or a feature that it lacks; 402: its monthly volume */
  code: 'plan_limit_exceeded'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** Rows that put somebody on the list */
  imported: number
  /** Rows of those who are on it already, by an earlier row or before */
  skipped: number
  /** Rows without a valid address, or with what cannot be kept */
  invalid: number
  /** The first 100 of these rows */
  refused: {
    /** Where the row begins, from 1 */
    line: number
    /** Why, for people */
    reason: string
  }[]
}

export interface ImportTooLarge {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** Bytes that a body may have */
  max: number
  /** Rows that put somebody on the list */
  imported: number
  /** Rows of those who are on it already, by an earlier row or before */
  skipped: number
  /** Rows without a valid address, or with what cannot be kept */
  invalid: number
  /** The first 100 of these rows */
  refused: {
    /** Where the row begins, from 1 */
    line: number
    /** Why, for people */
    reason: string
  }[]
}

export interface ImportWithoutRoom {
  /** Server-side, usually brief; retry after `Retry-After` */
  code: 'service_unavailable'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** Rows that put somebody on the list */
  imported: number
  /** Rows of those who are on it already, by an earlier row or before */
  skipped: number
  /** Rows without a valid address, or with what cannot be kept */
  invalid: number
  /** The first 100 of these rows */
  refused: {
    /** Where the row begins, from 1 */
    line: number
    /** Why, for people */
    reason: string
  }[]
}

export interface Imported {
  /** Rows that put somebody on the list */
  imported: number
  /** Rows of those who are on it already, by an earlier row or before */
  skipped: number
  /** Rows without a valid address, or with what cannot be kept */
  invalid: number
  /** The first 100 of these rows */
  refused: {
    /** Where the row begins, from 1 */
    line: number
    /** Why, for people */
    reason: string
  }[]
}

export interface InvalidApiKey {
  /** The API key is malformed, unknown or deleted */
  code: 'invalid_api_key'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface InvalidAutomation {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** Every fault, by the key of its step */
  errors: {
    /** The step; null for what is of no single one */
    key: string | null
    /** What is wrong */
    error: string
  }[]
}

export interface InvalidEvents {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  errors: {
    /** Of the event */
    index: number
    /** What is wrong */
    error: string
  }[]
}

export interface InvalidField {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** Which one */
  field: string
}

/** Every field that is wrong, at most 50. The only error body without `code`. */
export interface InvalidFields {
  success: false
  error: {
    issues: {
      /** `required`, `invalid_type` or `invalid_` and the rule */
      code: string
      /** The type or rule */
      expected: string
      /** The type that was given; `undefined` for none */
      received: string
      /** Leads to the field */
      path: string[]
      /** What is expected there, and the beginning of what came */
      message: string
    }[]
    name: 'StructError'
  }
}

export interface InvalidIdempotentRequest {
  /** The key was already used with a different body */
  code: 'invalid_idempotent_request'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface InvalidItems {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** Every mail that is wrong */
  errors: {
    /** Its place in `emails`, from 0 */
    index: number
    /** Everything that is wrong with it, beginning with its fields */
    error: string
  }[]
}

export interface InvalidSender {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** None was found */
  domain: ''
}

export interface Key {
  /** Never changes */
  id: string
  /** For people */
  name: string
  /** Its last four characters, by which people know it */
  last4: string
  /** `full`: everything; `sending`: sends mail, looks at one by its id, cancels a scheduled one; `read`: whatever changes nothing */
  scope: 'full' | 'sending' | 'read' | (string & {})
  /** The sender domains of a sending key, which sees only the mails from them */
  domains: string[] | null
  /** Addresses and CIDR ranges that its requests come from */
  networks: string[] | null
  /** When it ends */
  expiresAt: string | null
  /** When it was made */
  createdAt: string
  /** To the minute */
  lastUsedAt: string | null
}

/** One or more; what is not given stays. Other fields are refused. */
export interface KeyChanges {
  /** For people */
  name?: string | null | undefined
  /** `full`: everything; `sending`: sends mail, looks at one by its id, cancels a scheduled one; `read`: whatever changes nothing */
  scope?: 'full' | 'sending' | 'read' | null | undefined
  domains?: 'any' | readonly string[] | null | undefined
  networks?: 'any' | readonly string[] | null | undefined
  expiresAt?: 'never' | string | Date | null | undefined
}

export interface KeyCreated {
  /** Never changes */
  id: string
  /** For people */
  name: string
  /** Its last four characters, by which people know it */
  last4: string
  /** `full`: everything; `sending`: sends mail, looks at one by its id, cancels a scheduled one; `read`: whatever changes nothing */
  scope: 'full' | 'sending' | 'read' | (string & {})
  /** The sender domains of a sending key, which sees only the mails from them */
  domains: string[] | null
  /** Addresses and CIDR ranges that its requests come from */
  networks: string[] | null
  /** When it ends */
  expiresAt: string | null
  /** When it was made */
  createdAt: string
  /** To the minute */
  lastUsedAt: string | null
  /** The key itself, shown only this once; null in a repeat with the same Idempotency-Key */
  key: string | null
}

export interface KeyDeleted {
  /** As given */
  id: string
  deleted: true
  /** For people */
  message: string
}

export interface Keys {
  keys: Key[]
}

export interface MarketingSubscriptionRequired {
  /** No marketing plan, or it expired */
  code: 'marketing_subscription_required'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  upgrade: 'marketing'
}

export interface MarketingUsage {
  plan: {
    /** Stays the same when the plan is renamed */
    id: string
    /** Shown to people */
    name: string
    /** A month, in Naira */
    priceNaira: number
    /** How many contacts it allows */
    maxMarketingContacts: number
  }
  /** Whether the account has the plan; if not, it is the smallest there is */
  subscribed: boolean
  /** Contacts held */
  contacts: number
  /** How many may be held; 0 together with `unlimitedContacts` */
  contactLimit: number
  /** Only without any limit */
  unlimitedContacts?: true
  /** Campaign mails a calendar month, UTC; null for any number */
  monthlySendLimit: number | null
  /** Campaign mails counted this month */
  sentThisMonth: number
  unlimitedSends: boolean
  /** When the count starts again */
  periodEnd: string
  /** No campaign mail leaves */
  paused: boolean
  /** Why */
  pausedReason: string | null
}

export interface MissingApiKey {
  /** No API key was given */
  code: 'missing_api_key'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface MonthlyQuotaExceeded {
  /** Monthly email allowance exhausted */
  code: 'monthly_quota_exceeded'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** The plan's mails a month */
  limit: number
  /** Used of them */
  used: number
  /** The account's plan */
  plan: string
}

export interface MonthlyQuotaOfBatch {
  /** Monthly email allowance exhausted */
  code: 'monthly_quota_exceeded'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** How many of its mails could be sent now */
  canSend: number
}

export interface NewAutomation {
  /** For people */
  name: string
  steps: readonly {
    /** Names the step */
    key: string
    /** What it does */
    type: 'trigger' | 'send_email' | 'delay' | 'wait_for_event' | 'condition' | 'contact_update' | 'split' | 'webhook' | 'exit'
    config?: object | null | undefined
  }[]
  connections: readonly {
    /** The key of a step */
    from: string
    /** The key of a step */
    to: string
    /** Which of its ends */
    type: 'default' | 'condition_met' | 'condition_not_met' | 'event_received' | 'timeout' | 'branch'
    /** Of a split: the key of the branch */
    branch?: string | null | undefined
  }[]
  /** `exitOn` [{ eventName, filter? }] ends a run wherever it is; `goal` { eventName, filter?, to? }; `timeZone`; `sendWindow` { from, to, days?, zone? }; `maxPerHour`; `onUnsubscribe` (`continue` where all mail is transactional) */
  settings?: object | null | undefined
}

/** Unknown fields are ignored, but those that other mail APIs know and that would change what is sent are a 422. */
export interface NewBroadcast {
  /** Whom it is for */
  listId: string
  /** On a verified domain of the account */
  from: string
  /** At most 200 characters; merge tags as in the HTML */
  subject: string
  /** Liquid, at most 2 MiB. Merge tags: `{{firstName}}`, `{{lastName}}`, `{{email}}` and what is in the metadata; an empty one renders as nothing, or as `| default: "there"` says. The text part is made from it. */
  html: string
  /** Who has left the topic gets nothing, and unsubscribing is from this topic only */
  topicId?: string | null | undefined
  /** For yourself; recipients never see it */
  name?: string | null | undefined
  replyTo?: string | readonly string[] | null | undefined
  /** Header fields of your own, at most 25 with 4 KiB each and 16 KiB together; signed with DKIM. In-Reply-To and References stay as they are, other text that is not ASCII is encoded (RFC 2047). Those that Posthorn or the servers on the way write are a 422: From, To, Cc, Bcc, Reply-To, Subject, Date, Sender, Message-ID, MIME-Version, Content-*, List-Unsubscribe*, List-Id, Return-Path, Received, DKIM-*, ARC-*, Authentication-Results, Resent-*, CFBL-*, X-Posthorn-* */
  headers?: Record<string, string> | null | undefined
  /** Tags of your own, to find mails by (`GET /v1/emails?tag=name:value`); also in webhooks. Each name once */
  tags?: readonly TagInput[] | null | undefined
  /** Files that go with the mail: at most 10 MiB together as they are (not in base64) and 50 of them, unless the operator says otherwise. Large receivers refuse programs and scripts (`.exe`, `.js`, also in archives): Posthorn sends them, the refusal is in `recipients` */
  attachments?: readonly Attachment[] | null | undefined
  /** When to dispatch it: ISO 8601, in the future, however far ahead; UTC if it has no zone */
  scheduledAt?: string | Date | null | undefined
  /** Keeps it until it is sent by its own endpoint */
  draft?: boolean | null | undefined
}

export interface NewContact {
  /** The address */
  email: string
  /** First name; a merge tag of campaigns */
  firstName?: string | null | undefined
  /** Last name; a merge tag of campaigns */
  lastName?: string | null | undefined
  /** By which USSD finds the contact, in any notation */
  phone?: string | null | undefined
  /** Anything, at most 16 KiB as JSON; laid over what is known, key by key */
  metadata?: object | null | undefined
}

export interface NewContactList {
  /** Two lists may have the same name */
  name: string
}

export interface NewDomain {
  /** Unicode or A-labels */
  name: string
}

export interface NewEvent {
  /** 1 to 100 of A-Z, a-z, 0-9, `_`, `.`, `:` and `-` */
  event: string
  /** The contact; this or `email` */
  contactId?: string | null | undefined
  /** An address; one that the account does not know becomes a contact on no list */
  email?: string | null | undefined
  /** What conditions and templates see as `event` and `trigger`; at most 16 KiB */
  payload?: object | null | undefined
  /** When it happened; older than 24 hours it starts nothing, and more than 5 minutes ahead is a 422 */
  occurredAt?: string | Date | null | undefined
}

export interface NewEvents {
  events: readonly {
    /** 1 to 100 of A-Z, a-z, 0-9, `_`, `.`, `:` and `-` */
    event: string
    /** The contact; this or `email` */
    contactId?: string | null | undefined
    /** An address; one that the account does not know becomes a contact on no list */
    email?: string | null | undefined
    /** What conditions and templates see as `event` and `trigger`; at most 16 KiB */
    payload?: object | null | undefined
    /** When it happened; older than 24 hours it starts nothing, and more than 5 minutes ahead is a 422 */
    occurredAt?: string | Date | null | undefined
    /** Like the header `Idempotency-Key`, but for this event only */
    idempotencyKey?: string | null | undefined
  }[]
}

/** Other fields are refused, because a limit whose name is misspelt would limit nothing. */
export interface NewKey {
  /** For people */
  name: string
  /** `full`: everything; `sending`: sends mail, looks at one by its id, cancels a scheduled one; `read`: whatever changes nothing */
  scope?: 'full' | 'sending' | 'read' | null | undefined
  domains?: 'any' | readonly string[] | null | undefined
  networks?: 'any' | readonly string[] | null | undefined
  expiresAt?: 'never' | string | Date | null | undefined
}

/** Who goes through it, and what happens meanwhile. */
export interface NewSimulation {
  /** A contact of the account, or any address; this or `listId` */
  email?: string | null | undefined
  /** Those who came to this list last, 100 at most; only counts are told */
  listId?: string | null | undefined
  /** Of the event that begins it */
  payload?: object | null | undefined
  /** When that comes; now by default */
  at?: string | Date | null | undefined
  events?: readonly {
    /** Its name */
    event: string
    /** When it comes */
    at?: string | Date | null | undefined
    /** Or how long after the beginning: `P2D`, `2d`, `90m` */
    after?: string | null | undefined
    payload?: object | null | undefined
  }[] | null | undefined
  /** How long after it was sent the mail of a step is opened, by the key of the step */
  opens?: Record<string, string> | null | undefined
  /** How long after it was sent the mail of a step is clicked, by the key of the step */
  clicks?: Record<string, string> | null | undefined
  /** Nothing later is told; a year by default */
  until?: string | Date | null | undefined
  steps?: readonly {
    /** Names the step */
    key: string
    /** What it does */
    type: 'trigger' | 'send_email' | 'delay' | 'wait_for_event' | 'condition' | 'contact_update' | 'split' | 'webhook' | 'exit'
    config?: object | null | undefined
  }[] | null | undefined
  connections?: readonly {
    /** The key of a step */
    from: string
    /** The key of a step */
    to: string
    /** Which of its ends */
    type: 'default' | 'condition_met' | 'condition_not_met' | 'event_received' | 'timeout' | 'branch'
    /** Of a split: the key of the branch */
    branch?: string | null | undefined
  }[] | null | undefined
  /** `exitOn` [{ eventName, filter? }] ends a run wherever it is; `goal` { eventName, filter?, to? }; `timeZone`; `sendWindow` { from, to, days?, zone? }; `maxPerHour`; `onUnsubscribe` (`continue` where all mail is transactional) */
  settings?: object | null | undefined
}

export interface NewSuppression {
  /** `a@b` or `Name <a@b>` */
  email: string
  /** Why */
  reason?: 'unsubscribe' | 'bounce' | 'complaint' | 'manual' | null | undefined
  /** Default: `marketing` for `unsubscribe`, else `all` */
  scope?: 'all' | 'marketing' | null | undefined
  /** A note */
  detail?: string | null | undefined
}

export interface NewSuppressions {
  suppressions: readonly {
    /** `a@b` or `Name <a@b>` */
    email: string
    /** Why */
    reason?: 'unsubscribe' | 'bounce' | 'complaint' | 'manual' | null | undefined
    /** Default: `marketing` for `unsubscribe`, else `all` */
    scope?: 'all' | 'marketing' | null | undefined
    /** A note */
    detail?: string | null | undefined
  }[]
}

export interface NewTemplate {
  /** By which mails name it */
  slug: string
  /** Liquid */
  subject: string
  /** Liquid; at most 256 KiB */
  html: string
  /** Liquid; at most 256 KiB. Without it the text is made from the HTML */
  textBody?: string | null | undefined
}

export interface NewTopic {
  /** Shown to recipients; unique within the account, whatever its case */
  name: string
  /** Shown to recipients */
  description?: string | null | undefined
  /** Sort order in the preference centre */
  position?: number | null | undefined
}

export interface NewWebhook {
  /** HTTPS, at a public address unless the operator allows others */
  url: string
  /** Default: all */
  events?: readonly ('email.sent' | 'email.delivered' | 'email.bounced' | 'email.complained' | 'email.failed' | 'email.opened' | 'email.clicked')[] | null | undefined
}

export interface NotFound {
  /** Resource or URL does not exist; 405: it does not know the method */
  code: 'not_found'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

/** See https://spec.openapis.org/oas/v3.1.0.html */
export interface OpenApi {
  openapi: string
  info: Record<string, unknown>
  paths: Record<string, unknown>
}

export interface OptOuts {
  topic: {
    /** The id that the request named */
    id: string
    /** Shown to recipients; unique within the account, whatever its case */
    name: string
  }
  optOuts: {
    /** The address */
    email: string
    /** The contact's first and last name */
    name: string | null
    /** When they left */
    optedOutAt: string
  }[]
}

export interface Plan {
  /** Stays the same when the plan is renamed */
  id: string
  /** Shown to people */
  name: string
  /** Mails a calendar month, UTC; 0 together with `unlimited` */
  monthlyLimit: number
  /** Only on plans without any cap */
  unlimited?: true
  /** A month, in Naira; 0 if it is free */
  priceNaira: number
  /** Null on plans that cost nothing */
  paymentProviderPlanCode: string | null
  /** How long mails stay in the log */
  retentionDays: number
  /** For people */
  features: string[]
}

export interface PlanLimitExceeded {
  /** 403: a cap of the plan (contacts, domains, API keys, team members) or a feature that it lacks; 402: its monthly volume */
  code: 'plan_limit_exceeded'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface Plans {
  plans: Plan[]
}

export interface RateLimitExceeded {
  /** Request rate exceeded; clears in seconds */
  code: 'rate_limit_exceeded'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface RenderedTemplate {
  /** Filled in */
  subject: string
  /** Filled in */
  html: string
  /** Filled in; null where it is made from the HTML */
  text: string | null
}

export interface RunState {
  /** The id that the request named */
  id: string
  /** `cancelled` */
  status: string
  /** For people */
  message: string
}

/** Exactly one of `html` and `template`. Unknown fields are ignored, but those that other mail APIs know and that would change what is sent are a 422. */
export type Send = {
  /** On a verified domain: `email@domain` or `Name <email@domain>` */
  from: string
  /** Everybody sees everybody. Duplicates are mailed once, also across `cc` and `bcc`; together at most 50 */
  to: string | readonly string[]
  cc?: string | readonly string[] | null | undefined
  bcc?: string | readonly string[] | null | undefined
  /** The template's; those that it uses only within `if`, `unless` and `case` may be missing; at most 256 KiB as JSON */
  variables?: object | null | undefined
  /** Made from the HTML if absent. Beside a template it is Liquid too, at most 256 KiB; a template that has a text part wins */
  text?: string | null | undefined
  replyTo?: string | readonly string[] | null | undefined
  /** Header fields of your own, at most 25 with 4 KiB each and 16 KiB together; signed with DKIM. In-Reply-To and References stay as they are, other text that is not ASCII is encoded (RFC 2047). Those that Posthorn or the servers on the way write are a 422: From, To, Cc, Bcc, Reply-To, Subject, Date, Sender, Message-ID, MIME-Version, Content-*, List-Unsubscribe*, List-Id, Return-Path, Received, DKIM-*, ARC-*, Authentication-Results, Resent-*, CFBL-*, X-Posthorn-* */
  headers?: Record<string, string> | null | undefined
  /** Tags of your own, to find mails by (`GET /v1/emails?tag=name:value`); also in webhooks. Each name once */
  tags?: readonly TagInput[] | null | undefined
  /** When to send it: ISO 8601, in the future and at most 90 days ahead; UTC if it has no zone */
  scheduledAt?: string | Date | null | undefined
  /** Marketing needs a marketing plan, honours unsubscribes and carries the means to unsubscribe (RFC 8058) */
  type?: 'transactional' | 'marketing' | null | undefined
  /** With `marketing` alone: unsubscribing then leaves this topic alone */
  topicId?: string | null | undefined
  /** Files that go with the mail: at most 10 MiB together as they are (not in base64) and 50 of them, unless the operator says otherwise. Large receivers refuse programs and scripts (`.exe`, `.js`, also in archives): Posthorn sends them, the refusal is in `recipients` */
  attachments?: readonly Attachment[] | null | undefined
  /** Kept with the email and given back; at most 16 KiB as JSON */
  metadata?: object | null | undefined
} & ({
  /** At most 2 MiB */
  html: string
  /** Needed with `html`; with `template` it is Liquid and takes the place of the template's; at most 998 bytes, no control characters */
  subject: string
  template?: null | undefined
} | {
  /** The slug of a saved template */
  template: string
  /** Needed with `html`; with `template` it is Liquid and takes the place of the template's; at most 998 bytes, no control characters */
  subject?: string | null | undefined
  html?: null | undefined
})

export interface SendingPaused {
  /** 403: marketing is paused, transactional mail is unaffected; 503: all sending is paused. An operator has to clear it: do not retry */
  code: 'account_paused'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  reason: 'bounce' | 'complaint' | (string & {})
}

export interface ServiceUnavailable {
  /** Server-side, usually brief; retry after `Retry-After` */
  code: 'service_unavailable'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface Simulation {
  /** The id that the request named */
  automationId: string
  /** Of the automation as it is kept; null for steps that were given */
  version: number | null
  lines: {
    /** When */
    at: string
    /** Of which run, from 0 */
    run: number
    /** The key of the step */
    step: string | null
    /** What the step does */
    type: string | null
    /** As in the history of a run */
    result: string
    /** What a condition compared, and how it came out */
    why?: Record<string, unknown>
    event?: {
      /** Of the event that a wait received */
      name: string
      /** When it came */
      at: string
      /** As it was sent */
      payload: unknown
    }
    mail?: {
      /** Its slug */
      template: string
      /** The sender */
      from: string
      /** As it would be */
      subject: string
      /** As it would be */
      html: string
      /** Null: made of the HTML */
      text: string | null
    } | {
      /** Its slug */
      template: string
      /** The sender */
      from: string
      /** Why it cannot be rendered */
      fault: string
    }
    /** What would keep the mail from being made as things stand now */
    stoppedBy?: string
  }[]
  runs: {
    /** When it began */
    startedAt: string
    /** When it ended */
    endedAt: string | null
    /** `running` and `waiting` are under way */
    status: 'running' | 'waiting' | 'completed' | 'exited' | 'failed' | 'cancelled' | (string & {})
    /** Why it ended */
    reason: string | null
    /** Where it stands at the end */
    currentStep: string | null
  }[]
  /** Events that started nothing */
  refused: {
    /** When */
    at: string
    /** Why */
    reason: string
  }[]
  /** Whether it went on for more than some 5,000 lines: only these are told */
  cut: boolean
}

export interface Stats {
  /** The first day, UTC */
  from: string
  /** The last day, UTC, included */
  to: string
  /** As asked */
  groupBy: ('day' | 'domain' | 'provider' | 'tag' | 'broadcast' | 'type' | (string & {}))[]
  /** False for a while after an update, until the log of before is counted */
  upToDate: boolean
  total: StatsFigures
  /** By day, then the largest first; `other` after them */
  groups: StatsGroup[]
}

export interface StatsFigures {
  /** Accepted mails, on the day of acceptance; null by provider */
  mails: number | null
  /** Their recipients, on the day of acceptance; null by provider, which is known later */
  accepted: number | null
  /** Recipients not mailed as they were on the suppression list, then or later */
  suppressed: number
  /** Recipients whose server has decided for the first time: delivered, relayed or bounced */
  answered: number
  /** Taken by the recipient's server, or reported to have arrived */
  delivered: number
  /** Taken by a smart host */
  relayed: number
  /** Refused for good, at once or by a report after the delivery */
  bouncedHard: number
  /** Refused for a reason that may pass */
  bouncedSoft: number
  /** Given up: no server has decided in time, or it could not be sent */
  failed: number
  /** Put off, each time */
  deferred: number
  /** Complaints of which it is proved that a feedback loop sent them */
  complained: number
  /** Complaints without proof */
  complainedUnproved: number
  /** Recipients who left all marketing mail, or a topic, by a mail */
  unsubscribed: number
  /** Opens by people */
  opened: number
  /** Mails, on the day when a person first opened them */
  openedUnique: number
  /** Opens by machines: prefetching, filters */
  openedByMachines: number
  /** Clicks by people */
  clicked: number
  /** Mails, on the day when a person first clicked in them */
  clickedUnique: number
  /** Clicks by machines */
  clickedByMachines: number
  rates: {
    /** `delivered` of `answered`; null where that is 0 */
    delivery: number | null
    /** `bouncedHard` and `bouncedSoft` of `answered`; null where that is 0 */
    bounce: number | null
    /** `complained` of `delivered`; null where that is 0 */
    complaint: number | null
    /** `unsubscribed` of `delivered`; null where that is 0 */
    unsubscribe: number | null
    /** `openedUnique` of `delivered`; null where that is 0 */
    open: number | null
    /** `clickedUnique` of `delivered`; null where that is 0 */
    click: number | null
  }
}

export interface StatsGroup {
  /** UTC */
  day?: string
  /** The sending domain; null of mail that was gone before it was counted */
  domain?: string | null
  /** The recipient's mailbox provider by name, else the domain */
  provider?: string | null
  tag?: {
    /** Of the tag */
    name: string
    /** Of the tag */
    value: string
  } | null
  /** The campaign; null of mail that is of none */
  broadcastId?: string | null
  type?: 'transactional' | 'marketing' | null | (string & {})
  /** All groups beyond `limit` together; its names are null */
  other: boolean
  /** Accepted mails, on the day of acceptance; null by provider */
  mails: number | null
  /** Their recipients, on the day of acceptance; null by provider, which is known later */
  accepted: number | null
  /** Recipients not mailed as they were on the suppression list, then or later */
  suppressed: number
  /** Recipients whose server has decided for the first time: delivered, relayed or bounced */
  answered: number
  /** Taken by the recipient's server, or reported to have arrived */
  delivered: number
  /** Taken by a smart host */
  relayed: number
  /** Refused for good, at once or by a report after the delivery */
  bouncedHard: number
  /** Refused for a reason that may pass */
  bouncedSoft: number
  /** Given up: no server has decided in time, or it could not be sent */
  failed: number
  /** Put off, each time */
  deferred: number
  /** Complaints of which it is proved that a feedback loop sent them */
  complained: number
  /** Complaints without proof */
  complainedUnproved: number
  /** Recipients who left all marketing mail, or a topic, by a mail */
  unsubscribed: number
  /** Opens by people */
  opened: number
  /** Mails, on the day when a person first opened them */
  openedUnique: number
  /** Opens by machines: prefetching, filters */
  openedByMachines: number
  /** Clicks by people */
  clicked: number
  /** Mails, on the day when a person first clicked in them */
  clickedUnique: number
  /** Clicks by machines */
  clickedByMachines: number
  rates: {
    /** `delivered` of `answered`; null where that is 0 */
    delivery: number | null
    /** `bouncedHard` and `bouncedSoft` of `answered`; null where that is 0 */
    bounce: number | null
    /** `complained` of `delivered`; null where that is 0 */
    complaint: number | null
    /** `unsubscribed` of `delivered`; null where that is 0 */
    unsubscribe: number | null
    /** `openedUnique` of `delivered`; null where that is 0 */
    open: number | null
    /** `clickedUnique` of `delivered`; null where that is 0 */
    click: number | null
  }
}

export interface SubscriptionExpired {
  /** Subscription ended and grace is over */
  code: 'subscription_expired'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface SubscriptionPastDue {
  /** Renewal failed: sending goes on, but nothing can be added until it is paid */
  code: 'subscription_past_due'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface SuppressedAddress {
  /** In lower case */
  email: string
  /** What is not sent there; null: all is */
  blocks: 'all' | 'marketing' | null | (string & {})
  suppressions: Suppression[]
  /** How the address came in, what it left, and who took that back; the last 200 */
  history: {
    /** When */
    at: string
    /** What */
    kind: string
    /** What else is known: who did it, and which mail it came from */
    detail: Record<string, unknown>
  }[]
}

export interface Suppression {
  /** The whole address in lower case */
  email: string
  /** Why */
  reason: 'unsubscribe' | 'bounce' | 'complaint' | 'manual' | (string & {})
  /** What is blocked */
  scope: 'all' | 'marketing' | (string & {})
  /** The mail that led to it */
  emailId: string | null
  /** A note, or what the recipient's server said */
  detail: string | null
  /** Since when */
  createdAt: string
  /** When it ends by itself */
  expiresAt: string | null
}

export interface SuppressionRemoved {
  /** In lower case */
  email: string
  /** How many records */
  removed: number
  /** For people */
  message: string
}

export interface Suppressions {
  suppressions: Suppression[]
  /** Whether there is another page */
  hasMore: boolean
  /** Where the next page begins; null at the end */
  nextCursor: string | null
}

export interface SuppressionsImported {
  /** How many are new */
  added: number
  /** How many were there */
  known: number
  refused: {
    /** Of the item, from 0 */
    index: number
    /** What is wrong */
    error: string
  }[]
}

/** Each name once */
export interface TagInput {
  /** 1 to 64 of A-Z, a-z, 0-9, `_` and `-` */
  name: string
  /** 1 to 256 of these and `.:@/+=` */
  value: string
}

/** Each name once */
export interface Tag {
  /** 1 to 64 of A-Z, a-z, 0-9, `_` and `-` */
  name: string
  /** 1 to 256 of these and `.:@/+=` */
  value: string
}

export interface Template {
  /** By which mails name it; case-sensitive */
  slug: string
  /** Each save makes the next */
  version: number
  /** Liquid */
  subject: string
  /** Liquid; at most 256 KiB */
  html: string
  /** Liquid; at most 256 KiB. Without it the text is made from the HTML */
  textBody: string | null
  /** When this version was saved */
  savedAt: string
}

/** What is not given stays. */
export interface TemplateChanges {
  /** Liquid */
  subject?: string | null | undefined
  /** Liquid; at most 256 KiB */
  html?: string | null | undefined
  /** An empty one takes it away: the text is then made from the HTML */
  textBody?: string | null | undefined
}

export interface TemplateDeleted {
  /** By which mails name it; case-sensitive */
  slug: string
  deleted: true
  /** For people */
  message: string
}

export interface TemplateSaved {
  /** By which mails name it; case-sensitive */
  slug: string
  /** Each save makes the next */
  version: number
  /** Liquid */
  subject: string
  /** Liquid; at most 256 KiB */
  html: string
  /** Liquid; at most 256 KiB. Without it the text is made from the HTML */
  textBody: string | null
  /** When this version was saved */
  savedAt: string
  /** Live runs whose next mails are made of this template */
  automations: {
    /** The automation */
    id: string
    /** Its name */
    name: string
    /** Runs that send it */
    liveRuns: number
    /** Variables that a send step cannot fill in */
    warnings: {
      /** The step */
      key: string
      /** What is wrong */
      error: string
    }[]
  }[]
}

export interface TemplateVariables {
  /** What it is filled in with; at most 256 KiB */
  variables?: object | null | undefined
  /** In place of the template's */
  subject?: string | null | undefined
  /** An older one */
  version?: number | null | undefined
}

export interface TemplateVersions {
  versions: {
    /** Each save makes the next */
    version: number
    /** Liquid */
    subject: string
    /** When it was saved */
    savedAt: string
  }[]
  /** Whether there is another page */
  hasMore: boolean
  /** Where the next page begins; null at the end */
  nextCursor: string | null
}

export interface Templates {
  templates: {
    /** By which mails name it; case-sensitive */
    slug: string
    /** Each save makes the next */
    version: number
    /** Liquid */
    subject: string
    /** When its first version was saved */
    createdAt: string
    /** When this version was saved */
    savedAt: string
  }[]
  /** Whether there is another page */
  hasMore: boolean
  /** Where the next page begins; null at the end */
  nextCursor: string | null
}

/** The campaign, and whom to send it to. Unknown fields are ignored, but those that other mail APIs know and that would change what is sent are a 422. */
export interface TestBroadcast {
  /** Whom it is for */
  listId: string
  /** On a verified domain of the account */
  from: string
  /** At most 200 characters; merge tags as in the HTML */
  subject: string
  /** Liquid, at most 2 MiB. Merge tags: `{{firstName}}`, `{{lastName}}`, `{{email}}` and what is in the metadata; an empty one renders as nothing, or as `| default: "there"` says. The text part is made from it. */
  html: string
  /** Who has left the topic gets nothing, and unsubscribing is from this topic only */
  topicId?: string | null | undefined
  /** For yourself; recipients never see it */
  name?: string | null | undefined
  replyTo?: string | readonly string[] | null | undefined
  /** Header fields of your own, at most 25 with 4 KiB each and 16 KiB together; signed with DKIM. In-Reply-To and References stay as they are, other text that is not ASCII is encoded (RFC 2047). Those that Posthorn or the servers on the way write are a 422: From, To, Cc, Bcc, Reply-To, Subject, Date, Sender, Message-ID, MIME-Version, Content-*, List-Unsubscribe*, List-Id, Return-Path, Received, DKIM-*, ARC-*, Authentication-Results, Resent-*, CFBL-*, X-Posthorn-* */
  headers?: Record<string, string> | null | undefined
  /** Tags of your own, to find mails by (`GET /v1/emails?tag=name:value`); also in webhooks. Each name once */
  tags?: readonly TagInput[] | null | undefined
  /** Files that go with the mail: at most 10 MiB together as they are (not in base64) and 50 of them, unless the operator says otherwise. Large receivers refuse programs and scripts (`.exe`, `.js`, also in archives): Posthorn sends them, the refusal is in `recipients` */
  attachments?: readonly Attachment[] | null | undefined
  /** When to dispatch it: ISO 8601, in the future, however far ahead; UTC if it has no zone */
  scheduledAt?: string | Date | null | undefined
  /** A mailbox on a verified domain of the account */
  to: string
}

export interface TestSent {
  /** The email, to look at by its own endpoint */
  id: string
  /** For people */
  message: string
}

export interface TooLarge {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** Bytes that a body may have */
  max: number
}

export interface TooManyRecipients {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
  /** How many were given */
  count: number
  /** How many may be given */
  max: number
}

export interface Topic {
  /** Never changes */
  id: string
  /** Shown to recipients; unique within the account, whatever its case */
  name: string
  /** Shown to recipients */
  description: string
  /** Sort order in the preference centre */
  position: number
  /** Not sendable, and not in the preference centre */
  archived: boolean
  /** How many have left it */
  optedOut: number
  /** When it was made */
  createdAt: string
}

export interface TopicArchived {
  /** For people */
  message: string
}

/** What is not given stays. */
export interface TopicChanges {
  /** Shown to recipients; unique within the account, whatever its case */
  name?: string | null | undefined
  /** Shown to recipients */
  description?: string | null | undefined
  position?: number | null | undefined
  /** Archives or restores it */
  archived?: boolean | null | undefined
}

export interface TopicCreated {
  /** For topicId */
  id: string
  /** Shown to recipients; unique within the account, whatever its case */
  name: string
  /** For people */
  message: string
}

export interface Topics {
  topics: Topic[]
}

export interface UnsupportedMediaType {
  /** File or body type not accepted by the endpoint */
  code: 'unsupported_media_type'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

/** At least one of `to` and `phoneNumber`; `to` wins. Unknown fields are ignored, but those that other mail APIs know and that would change what is sent are a 422. */
export type Ussd = {
  /** On a verified domain: `email@domain` or `Name <email@domain>` */
  from: string
  /** As shown to the recipient; at most 998 bytes, no control characters */
  subject: string
  /** At most 2 MiB */
  html: string
  /** Made from the HTML if absent */
  text?: string | null | undefined
  replyTo?: string | readonly string[] | null | undefined
  /** Kept with the email and given back; at most 16 KiB as JSON */
  metadata?: object | null | undefined
} & ({
  /** An address: `email@domain` or `Name <email@domain>` */
  to: string
  phoneNumber?: null | undefined
} | {
  /** Looked up among all contacts of the account, whatever its notation */
  phoneNumber: string
  to?: null | undefined
})

export interface UssdQueued {
  queued: true
  /** The id of the email */
  ref: string
}

export interface ValidationError {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** For people; its wording may change. Branch on `code`. */
  error: string
}

export interface Webhook {
  /** Never changes */
  id: string
  /** Where it is told */
  url: string
  /** What it is told */
  events: string[]
  /** Nothing is queued for one that is not */
  enabled: boolean
  /** Events in a row that were dropped after their last attempt */
  failures: number
  /** When it was switched off */
  disabledAt: string | null
  /** Who switched it off, or after what it was switched off */
  disabledBecause: string | null
  /** Until then the secret before the last rotation signs too */
  oldSecretUntil: string | null
  /** When it was added */
  createdAt: string
}

/** What is not given stays. */
export interface WebhookChanges {
  /** HTTPS, at a public address unless the operator allows others */
  url?: string | null | undefined
  events?: readonly ('email.sent' | 'email.delivered' | 'email.bounced' | 'email.complained' | 'email.failed' | 'email.opened' | 'email.clicked')[] | null | undefined
  enabled?: boolean | null | undefined
}

export interface WebhookCreated {
  /** Never changes */
  id: string
  /** Where it is told */
  url: string
  /** What it is told */
  events: string[]
  /** Nothing is queued for one that is not */
  enabled: boolean
  /** Events in a row that were dropped after their last attempt */
  failures: number
  /** When it was switched off */
  disabledAt: string | null
  /** Who switched it off, or after what it was switched off */
  disabledBecause: string | null
  /** Until then the secret before the last rotation signs too */
  oldSecretUntil: string | null
  /** When it was added */
  createdAt: string
  /** Shown only this once; null in a repeat with the same Idempotency-Key */
  secret: string | null
}

export interface WebhookDeleted {
  /** As given */
  id: string
  deleted: true
  /** For people */
  message: string
}

export interface WebhookDeliveries {
  deliveries: {
    /** Its number */
    id: number
    /** What happened */
    event: string
    /** The mail, or what else it speaks of */
    subjectId: string
    /** `dropped`: set aside as the endpoint was switched off */
    state: 'waiting' | 'delivered' | 'failed' | 'dropped' | (string & {})
    /** So far */
    attempts: number
    /** Of the last answer */
    status: number | null
    /** The beginning of its body */
    response: string | null
    /** Why it was not taken */
    error: string | null
    /** What was sent, or is to be */
    payload: unknown
    /** When it was queued */
    createdAt: string
    /** Null before the first */
    lastAttemptAt: string | null
    /** Of what waits */
    nextAttemptAt: string | null
    /** Of what has ended */
    endedAt: string | null
  }[]
  /** Whether there is another page */
  hasMore: boolean
  /** Where the next page begins; null at the end */
  nextCursor: string | null
}

export interface WebhookPayload {
  /** What happened */
  event: 'email.sent' | 'email.delivered' | 'email.bounced' | 'email.complained' | 'email.failed' | 'email.opened' | 'email.clicked' | (string & {})
  /** The mail */
  emailId: string
  /** Whom it speaks of */
  to: string[]
  /** Of mails with copies: all their addresses */
  cc?: string[]
  /** Likewise; no recipient sees them */
  bcc?: string[]
  /** Of mails with tags, as given */
  tags?: Tag[]
  /** The subject of the mail */
  subject: string
  /** The event without `email.` */
  status: string
  /** When it happened; the same at every attempt */
  timestamp: string
  /** Not on `email.opened` and `email.clicked` */
  messageId?: string
  /** Only on `email.bounced` */
  bounceReason?: 'Permanent' | 'Transient' | (string & {})
  /** The sending domain */
  domainId?: string
  /** Its name */
  domain?: string
}

export interface WebhookReplay {
  /** The number of the first delivery */
  from: number
  /** The number of the last one */
  to: number
  /** Leaves out what did arrive */
  failedOnly?: boolean | null | undefined
}

export interface WebhookRotation {
  /** How long the secret before it signs too */
  overlapSeconds?: number | null | undefined
}

export interface WebhookSecret {
  /** As given */
  id: string
  /** Shown only this once; null in a repeat with the same Idempotency-Key */
  secret: string | null
  /** Until then the secret before the last rotation signs too */
  oldSecretUntil: string | null
}

export interface WebhookTrial {
  /** Whether it answered 2xx */
  taken: boolean
  /** Of its answer */
  status: number | null
  /** The beginning of its body */
  response: string | null
  /** Why it was not taken */
  error: string | null
  /** Milliseconds */
  tookMs: number
  payload: WebhookPayload
}

export interface Webhooks {
  webhooks: Webhook[]
}

export interface WebhooksQueued {
  /** How many; what still waits for an attempt is queued already, and not counted */
  queued: number
}

/** Every endpoint by its method and path. */
export interface Operations {
  /** Send an email */
  'POST /v1/emails/send': {
    id: 'sendEmail'
    params: Record<never, never>
    query: Record<never, never>
    body: Send
    answer: EmailQueued | EmailScheduled
  }
  /** Send up to 100 emails */
  'POST /v1/emails/batch': {
    id: 'sendBatch'
    params: Record<never, never>
    query: Record<never, never>
    body: Batch
    answer: BatchQueued
  }
  /** Send an email that a USSD callback asks for */
  'POST /v1/emails/ussd': {
    id: 'sendFromUssd'
    params: Record<never, never>
    query: Record<never, never>
    body: Ussd
    answer: UssdQueued
  }
  /** List emails, newest first */
  'GET /v1/emails': {
    id: 'listEmails'
    params: Record<never, never>
    query: { limit?: number | undefined; cursor?: string | undefined; status?: string | undefined; to?: string | undefined; from?: string | undefined; domain?: string | undefined; type?: 'transactional' | 'marketing' | undefined; topicId?: string | undefined; broadcastId?: string | undefined; template?: string | undefined; tag?: string | undefined; messageId?: string | undefined; automationId?: string | undefined; step?: string | undefined; createdAfter?: string | Date | undefined; createdBefore?: string | Date | undefined }
    body: undefined
    answer: EmailList
  }
  /** What became of an email */
  'GET /v1/emails/{id}': {
    id: 'getEmail'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: EmailFound
  }
  /** Cancel a scheduled email */
  'DELETE /v1/emails/{id}/cancel': {
    id: 'cancelEmail'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: EmailCancelled
  }
  /** List the contact lists */
  'GET /v1/contacts/lists': {
    id: 'listContactLists'
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: ContactLists
  }
  /** Make a contact list */
  'POST /v1/contacts/lists': {
    id: 'createContactList'
    params: Record<never, never>
    query: Record<never, never>
    body: NewContactList
    answer: ContactListCreated
  }
  /** Rename a contact list */
  'PATCH /v1/contacts/lists/{id}': {
    id: 'renameContactList'
    params: { id: string }
    query: Record<never, never>
    body: NewContactList
    answer: ContactList
  }
  /** Delete a list and its contacts */
  'DELETE /v1/contacts/lists/{id}': {
    id: 'deleteContactList'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: Gone
  }
  /** List the contacts of a list */
  'GET /v1/contacts/{listId}': {
    id: 'listContacts'
    params: { listId: string }
    query: { limit?: number | undefined; cursor?: string | undefined; email?: string | undefined }
    body: undefined
    answer: Contacts
  }
  /** Put a contact on a list */
  'POST /v1/contacts/{listId}': {
    id: 'addContact'
    params: { listId: string }
    query: Record<never, never>
    body: NewContact
    answer: ContactAdded
  }
  /** Put the contacts of a CSV file on a list */
  'POST /v1/contacts/{listId}/import': {
    id: 'importContacts'
    params: { listId: string }
    query: { trigger?: boolean | undefined }
    body: FormData
    answer: Imported
  }
  /** Take a contact off a list */
  'DELETE /v1/contacts/{listId}/{contactId}': {
    id: 'removeContact'
    params: { listId: string; contactId: string }
    query: Record<never, never>
    body: undefined
    answer: Gone
  }
  /** List who must not be mailed */
  'GET /v1/suppressions': {
    id: 'listSuppressions'
    params: Record<never, never>
    query: { reason?: 'unsubscribe' | 'bounce' | 'complaint' | 'manual' | undefined; limit?: number | undefined; cursor?: string | undefined }
    body: undefined
    answer: Suppressions
  }
  /** Suppress an address */
  'POST /v1/suppressions': {
    id: 'addSuppression'
    params: Record<never, never>
    query: Record<never, never>
    body: NewSuppression
    answer: Suppression
  }
  /** Suppress up to 1,000 addresses */
  'POST /v1/suppressions/import': {
    id: 'importSuppressions'
    params: Record<never, never>
    query: Record<never, never>
    body: NewSuppressions
    answer: SuppressionsImported
  }
  /** Why an address is (not) mailed */
  'GET /v1/suppressions/{email}': {
    id: 'getSuppression'
    params: { email: string }
    query: Record<never, never>
    body: undefined
    answer: SuppressedAddress
  }
  /** Let an address be mailed again */
  'DELETE /v1/suppressions/{email}': {
    id: 'removeSuppression'
    params: { email: string }
    query: { reason?: 'unsubscribe' | 'bounce' | 'complaint' | 'manual' | undefined }
    body: undefined
    answer: SuppressionRemoved
  }
  /** List the topics */
  'GET /v1/topics': {
    id: 'listTopics'
    params: Record<never, never>
    query: { includeArchived?: boolean | undefined }
    body: undefined
    answer: Topics
  }
  /** Make a topic */
  'POST /v1/topics': {
    id: 'createTopic'
    params: Record<never, never>
    query: Record<never, never>
    body: NewTopic
    answer: TopicCreated
  }
  /** Change, archive or restore a topic */
  'PATCH /v1/topics/{id}': {
    id: 'updateTopic'
    params: { id: string }
    query: Record<never, never>
    body: TopicChanges
    answer: Topic
  }
  /** Archive a topic */
  'DELETE /v1/topics/{id}': {
    id: 'archiveTopic'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: TopicArchived
  }
  /** Who has left a topic */
  'GET /v1/topics/{id}/opt-outs': {
    id: 'listOptOuts'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: OptOuts
  }
  /** Whom a campaign would reach */
  'POST /v1/broadcasts/preview': {
    id: 'previewBroadcast'
    params: Record<never, never>
    query: Record<never, never>
    body: BroadcastAudience
    answer: BroadcastPreview
  }
  /** Send a campaign to yourself */
  'POST /v1/broadcasts/test': {
    id: 'testBroadcast'
    params: Record<never, never>
    query: Record<never, never>
    body: TestBroadcast
    answer: TestSent
  }
  /** Make a campaign */
  'POST /v1/broadcasts': {
    id: 'createBroadcast'
    params: Record<never, never>
    query: Record<never, never>
    body: NewBroadcast
    answer: BroadcastSending | BroadcastScheduled | BroadcastDraft
  }
  /** List the campaigns */
  'GET /v1/broadcasts': {
    id: 'listBroadcasts'
    params: Record<never, never>
    query: { limit?: number | undefined; cursor?: string | undefined }
    body: undefined
    answer: Broadcasts
  }
  /** The marketing plan, and what is used of it */
  'GET /v1/broadcasts/plan/usage': {
    id: 'getMarketingUsage'
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: MarketingUsage
  }
  /** What became of a campaign */
  'GET /v1/broadcasts/{id}': {
    id: 'getBroadcast'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: BroadcastDetail
  }
  /** Change a draft */
  'PATCH /v1/broadcasts/{id}': {
    id: 'updateBroadcast'
    params: { id: string }
    query: Record<never, never>
    body: BroadcastChanges
    answer: BroadcastDetail
  }
  /** The recipients of a campaign */
  'GET /v1/broadcasts/{id}/recipients': {
    id: 'listBroadcastRecipients'
    params: { id: string }
    query: { status?: 'queued' | 'scheduled' | 'sending' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'cancelled' | 'suppressed' | undefined; limit?: number | undefined; cursor?: string | undefined }
    body: undefined
    answer: BroadcastRecipients
  }
  /** Send a draft */
  'POST /v1/broadcasts/{id}/send': {
    id: 'sendBroadcast'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: BroadcastSending | BroadcastScheduled
  }
  /** Pause a campaign */
  'POST /v1/broadcasts/{id}/pause': {
    id: 'pauseBroadcast'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: BroadcastPaused
  }
  /** Let a campaign go on that you have paused */
  'POST /v1/broadcasts/{id}/resume': {
    id: 'resumeBroadcast'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: BroadcastResumed
  }
  /** Cancel a draft or a scheduled campaign */
  'POST /v1/broadcasts/{id}/cancel': {
    id: 'cancelBroadcast'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: BroadcastCancelled
  }
  /** Tell what a contact did */
  'POST /v1/events/send': {
    id: 'sendEvent'
    params: Record<never, never>
    query: Record<never, never>
    body: NewEvent
    answer: EventAccepted
  }
  /** Tell what contacts did, 100 events at a time */
  'POST /v1/events/batch': {
    id: 'sendEvents'
    params: Record<never, never>
    query: Record<never, never>
    body: NewEvents
    answer: EventsAccepted
  }
  /** Make an automation */
  'POST /v1/automations': {
    id: 'createAutomation'
    params: Record<never, never>
    query: Record<never, never>
    body: NewAutomation
    answer: AutomationCreated
  }
  /** List the automations */
  'GET /v1/automations': {
    id: 'listAutomations'
    params: Record<never, never>
    query: { limit?: number | undefined; cursor?: string | undefined }
    body: undefined
    answer: Automations
  }
  /** One automation with its steps */
  'GET /v1/automations/{id}': {
    id: 'getAutomation'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: AutomationDetail
  }
  /** Change an automation */
  'PATCH /v1/automations/{id}': {
    id: 'updateAutomation'
    params: { id: string }
    query: Record<never, never>
    body: AutomationChanges
    answer: AutomationDetail
  }
  /** Let its event start an automation */
  'POST /v1/automations/{id}/enable': {
    id: 'enableAutomation'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: AutomationEnabled
  }
  /** Let nothing start an automation */
  'POST /v1/automations/{id}/disable': {
    id: 'disableAutomation'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: AutomationState
  }
  /** Stop an automation for good */
  'POST /v1/automations/{id}/archive': {
    id: 'archiveAutomation'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: AutomationState
  }
  /** Walk somebody through an automation */
  'POST /v1/automations/{id}/simulate': {
    id: 'simulateAutomation'
    params: { id: string }
    query: Record<never, never>
    body: NewSimulation
    answer: Simulation | Cohort
  }
  /** The runs of an automation */
  'GET /v1/automations/{id}/runs': {
    id: 'listRuns'
    params: { id: string }
    query: { status?: string | undefined; limit?: number | undefined; cursor?: string | undefined }
    body: undefined
    answer: AutomationRuns
  }
  /** One run */
  'GET /v1/automations/runs/{id}': {
    id: 'getRun'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: AutomationRun
  }
  /** Stop a run */
  'POST /v1/automations/runs/{id}/cancel': {
    id: 'cancelRun'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: RunState
  }
  /** List the templates */
  'GET /v1/templates': {
    id: 'listTemplates'
    params: Record<never, never>
    query: { limit?: number | undefined; cursor?: string | undefined }
    body: undefined
    answer: Templates
  }
  /** Make a template */
  'POST /v1/templates': {
    id: 'createTemplate'
    params: Record<never, never>
    query: Record<never, never>
    body: NewTemplate
    answer: Template
  }
  /** One template, as it is in use */
  'GET /v1/templates/{slug}': {
    id: 'getTemplate'
    params: { slug: string }
    query: Record<never, never>
    body: undefined
    answer: Template
  }
  /** Save a template's next version */
  'PATCH /v1/templates/{slug}': {
    id: 'updateTemplate'
    params: { slug: string }
    query: Record<never, never>
    body: TemplateChanges
    answer: TemplateSaved
  }
  /** Delete a template with its versions */
  'DELETE /v1/templates/{slug}': {
    id: 'deleteTemplate'
    params: { slug: string }
    query: Record<never, never>
    body: undefined
    answer: TemplateDeleted
  }
  /** What a template makes of variables */
  'POST /v1/templates/{slug}/render': {
    id: 'renderTemplate'
    params: { slug: string }
    query: Record<never, never>
    body: TemplateVariables
    answer: RenderedTemplate
  }
  /** The versions of a template */
  'GET /v1/templates/{slug}/versions': {
    id: 'listTemplateVersions'
    params: { slug: string }
    query: { limit?: number | undefined; cursor?: string | undefined }
    body: undefined
    answer: TemplateVersions
  }
  /** One version of a template */
  'GET /v1/templates/{slug}/versions/{version}': {
    id: 'getTemplateVersion'
    params: { slug: string; version: string }
    query: Record<never, never>
    body: undefined
    answer: Template
  }
  /** Bring an older version back into use */
  'POST /v1/templates/{slug}/versions/{version}/restore': {
    id: 'restoreTemplateVersion'
    params: { slug: string; version: string }
    query: Record<never, never>
    body: undefined
    answer: TemplateSaved
  }
  /** List the endpoints */
  'GET /v1/webhooks': {
    id: 'listWebhooks'
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: Webhooks
  }
  /** Add an endpoint */
  'POST /v1/webhooks': {
    id: 'createWebhook'
    params: Record<never, never>
    query: Record<never, never>
    body: NewWebhook
    answer: WebhookCreated
  }
  /** One endpoint */
  'GET /v1/webhooks/{id}': {
    id: 'getWebhook'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: Webhook
  }
  /** Change an endpoint, or switch it off and on */
  'PATCH /v1/webhooks/{id}': {
    id: 'updateWebhook'
    params: { id: string }
    query: Record<never, never>
    body: WebhookChanges
    answer: Webhook
  }
  /** Delete an endpoint */
  'DELETE /v1/webhooks/{id}': {
    id: 'deleteWebhook'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: WebhookDeleted
  }
  /** Make a new secret */
  'POST /v1/webhooks/{id}/rotate': {
    id: 'rotateWebhookSecret'
    params: { id: string }
    query: Record<never, never>
    body: WebhookRotation
    answer: WebhookSecret
  }
  /** Send an invented event at once */
  'POST /v1/webhooks/{id}/test': {
    id: 'testWebhook'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: WebhookTrial
  }
  /** What waits for an endpoint, and what went there */
  'GET /v1/webhooks/{id}/deliveries': {
    id: 'listWebhookDeliveries'
    params: { id: string }
    query: { failed?: boolean | undefined; limit?: number | undefined; cursor?: string | undefined }
    body: undefined
    answer: WebhookDeliveries
  }
  /** Send a delivery again */
  'POST /v1/webhooks/{id}/deliveries/{deliveryId}/replay': {
    id: 'replayWebhookDelivery'
    params: { id: string; deliveryId: string }
    query: Record<never, never>
    body: undefined
    answer: WebhooksQueued
  }
  /** Send a range of deliveries again */
  'POST /v1/webhooks/{id}/deliveries/replay': {
    id: 'replayWebhookDeliveries'
    params: { id: string }
    query: Record<never, never>
    body: WebhookReplay
    answer: WebhooksQueued
  }
  /** Send all again that did not arrive */
  'POST /v1/webhooks/{id}/replay': {
    id: 'replayFailedWebhooks'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: WebhooksQueued
  }
  /** List the domains */
  'GET /v1/domains': {
    id: 'listDomains'
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: Domains
  }
  /** Add a domain */
  'POST /v1/domains': {
    id: 'addDomain'
    params: Record<never, never>
    query: Record<never, never>
    body: NewDomain
    answer: DomainDetail
  }
  /** One domain with its DNS records */
  'GET /v1/domains/{id}': {
    id: 'getDomain'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: DomainDetail
  }
  /** Change the tracking of a domain */
  'PATCH /v1/domains/{id}': {
    id: 'updateDomain'
    params: { id: string }
    query: Record<never, never>
    body: DomainChanges
    answer: DomainDetail
  }
  /** Delete a domain and its keys */
  'DELETE /v1/domains/{id}': {
    id: 'deleteDomain'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: DomainDeleted
  }
  /** What receivers report of mail in its name */
  'GET /v1/domains/{id}/dmarc': {
    id: 'getDomainDmarc'
    params: { id: string }
    query: { days?: number | undefined }
    body: undefined
    answer: DomainDmarc
  }
  /** Look the DNS records up */
  'POST /v1/domains/{id}/verify': {
    id: 'verifyDomain'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: DomainVerification
  }
  /** List the API keys */
  'GET /v1/keys': {
    id: 'listKeys'
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: Keys
  }
  /** Make an API key */
  'POST /v1/keys': {
    id: 'createKey'
    params: Record<never, never>
    query: Record<never, never>
    body: NewKey
    answer: KeyCreated
  }
  /** One API key */
  'GET /v1/keys/{id}': {
    id: 'getKey'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: Key
  }
  /** Rename or limit an API key */
  'PATCH /v1/keys/{id}': {
    id: 'updateKey'
    params: { id: string }
    query: Record<never, never>
    body: KeyChanges
    answer: Key
  }
  /** Delete an API key */
  'DELETE /v1/keys/{id}': {
    id: 'deleteKey'
    params: { id: string }
    query: Record<never, never>
    body: undefined
    answer: KeyDeleted
  }
  /** Figures over time */
  'GET /v1/stats': {
    id: 'getStats'
    params: Record<never, never>
    query: { from?: string | undefined; to?: string | undefined; groupBy?: string | undefined; domain?: string | undefined; provider?: string | undefined; tag?: string | undefined; broadcastId?: string | undefined; type?: 'transactional' | 'marketing' | undefined; limit?: number | undefined }
    body: undefined
    answer: Stats
  }
  /** List the email plans */
  'GET /v1/billing/plans': {
    id: 'listPlans'
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: Plans
  }
  /** This document */
  'GET /v1/openapi.json': {
    id: 'getOpenApi'
    params: Record<never, never>
    query: Record<never, never>
    body: undefined
    answer: OpenApi
  }
}

/** The bodies that an error can have, by its code. */
export interface ErrorBodies {
  account_paused: AccountPaused | SendingPaused
  account_suspended: AccountSuspended
  application_error: ApplicationError
  concurrent_idempotent_request: ConcurrentIdempotentRequest
  conflict: Conflict | DomainInUse
  daily_quota_exceeded: DailyQuotaExceeded | DailyQuotaOfBatch
  domain_not_verified: DomainNotVerified
  forbidden: Forbidden
  invalid_api_key: InvalidApiKey
  invalid_idempotent_request: InvalidIdempotentRequest
  marketing_subscription_required: MarketingSubscriptionRequired
  missing_api_key: MissingApiKey
  monthly_quota_exceeded: MonthlyQuotaExceeded | MonthlyQuotaOfBatch
  not_found: NotFound
  plan_limit_exceeded: CampaignCap | ImportFull | PlanLimitExceeded
  rate_limit_exceeded: RateLimitExceeded
  service_unavailable: ImportWithoutRoom | ServiceUnavailable
  subscription_expired: SubscriptionExpired
  subscription_past_due: SubscriptionPastDue
  unsupported_media_type: UnsupportedMediaType
  validation_error: BadContent | BadTemplate | BrokenCsv | ImportCutOff | ImportTooLarge | InvalidAutomation | InvalidEvents | InvalidField | InvalidItems | InvalidSender | TooLarge | TooManyRecipients | ValidationError
}
