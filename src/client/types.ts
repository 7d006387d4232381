/*
 * Made by bin/client-types from the OpenAPI document: change that, not this.
 * What is sent has closed types, so that a typo is an error; what is answered has open ones, so that
 * a newer server breaks nobody.
 */

export const clientVersion = '0.1.0'

export interface AccountPaused {
  /** 403: marketing is paused, transactional mail is unaffected; 503: all sending is paused. An operator has to clear it: do not retry */
  code: 'account_paused'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface AccountSuspended {
  /** Account suspended */
  code: 'account_suspended'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface ApplicationError {
  /** Server-side fault; retry */
  code: 'application_error'
  /** What is wrong, in words for people. They may change: branch on `code` */
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
  /** The media type of the file; absent: as its name suggests. `text/calendar; method=REQUEST` is an invitation: clients show it with its buttons, and as a file. At most one in a mail */
  contentType?: string | undefined
  /** Names a picture for the HTML: `logo` for `<img src="cid:logo">` */
  contentId?: string | undefined
  /** Default: `inline` if it has a `contentId`, else `attachment` */
  disposition?: 'attachment' | 'inline' | undefined
}

export interface Automation {
  /** The id of the automation, which never changes */
  id: string
  /** The name of the automation, for yourself */
  name: string
  /** `disabled`: no event starts it; `archived`: it is stopped for good */
  status: 'disabled' | 'enabled' | 'archived' | (string & {})
  /** The version of its steps now; runs go on in the version in which they began */
  version: number
  runs: {
    /** How many runs have the status `running` */
    running: number
    /** How many runs have the status `waiting` */
    waiting: number
    /** How many runs have the status `completed` */
    completed: number
    /** How many runs have the status `exited` */
    exited: number
    /** How many runs have the status `failed` */
    failed: number
    /** How many runs have the status `cancelled` */
    cancelled: number
  }
  /** How many contacts have ever entered it */
  enrolledContacts: number
  /** When the automation was made */
  createdAt: string
  /** When the automation was last changed */
  updatedAt: string
}

/** Fields that are not given stay as they are; steps and connections are replaced as a whole. */
export interface AutomationChanges {
  /** The name of the automation, for yourself */
  name?: string | null | undefined
  steps?: readonly {
    /** The name of the step in this automation */
    key: string
    /** What the step does */
    type: 'trigger' | 'send_email' | 'delay' | 'wait_for_event' | 'condition' | 'contact_update' | 'split' | 'webhook' | 'exit'
    /** The settings of the step, which depend on `type` */
    config?: object | null | undefined
  }[] | null | undefined
  connections?: readonly {
    /** The key of the step that it leaves */
    from: string
    /** The key of the step that it leads to */
    to: string
    /** By which result of the step it leaves; `default` where there is only one */
    type: 'default' | 'condition_met' | 'condition_not_met' | 'event_received' | 'timeout' | 'branch'
    /** The key of the branch, only with the type `branch` */
    branch?: string | null | undefined
  }[] | null | undefined
  /** Settings of the whole automation: `exitOn` [{ eventName, filter? }] ends a run wherever it is; `goal` { eventName, filter?, to? }; `timeZone`; `sendWindow` { from, to, days?, zone? }; `maxPerHour`; `onUnsubscribe` (`continue` where all mail is transactional) */
  settings?: object | null | undefined
}

export interface AutomationCreated {
  /** The id of the automation, for the other endpoints */
  id: string
  /** The name of the automation, for yourself */
  name: string
  /** `disabled`: no event starts it; `archived`: it is stopped for good */
  status: 'disabled' | 'enabled' | 'archived' | (string & {})
  /** What was done, in words for people, which may change */
  message: string
}

export interface AutomationDetail {
  /** The id of the automation, which never changes */
  id: string
  /** The name of the automation, for yourself */
  name: string
  /** `disabled`: no event starts it; `archived`: it is stopped for good */
  status: 'disabled' | 'enabled' | 'archived' | (string & {})
  /** The version of its steps now; runs go on in the version in which they began */
  version: number
  runs: {
    /** How many runs have the status `running` */
    running: number
    /** How many runs have the status `waiting` */
    waiting: number
    /** How many runs have the status `completed` */
    completed: number
    /** How many runs have the status `exited` */
    exited: number
    /** How many runs have the status `failed` */
    failed: number
    /** How many runs have the status `cancelled` */
    cancelled: number
  }
  /** How many contacts have ever entered it */
  enrolledContacts: number
  /** When the automation was made */
  createdAt: string
  /** When the automation was last changed */
  updatedAt: string
  steps: {
    /** The name of the step in this automation */
    key: string
    /** What the step does */
    type: 'trigger' | 'send_email' | 'delay' | 'wait_for_event' | 'condition' | 'contact_update' | 'split' | 'webhook' | 'exit' | (string & {})
    /** The settings of the step, which depend on `type` */
    config?: Record<string, unknown>
  }[]
  connections: {
    /** The key of the step that it leaves */
    from: string
    /** The key of the step that it leads to */
    to: string
    /** By which result of the step it leaves; `default` where there is only one */
    type: 'default' | 'condition_met' | 'condition_not_met' | 'event_received' | 'timeout' | 'branch' | (string & {})
    /** The key of the branch, only with the type `branch` */
    branch?: string
  }[]
  /** Settings of the whole automation: `exitOn` [{ eventName, filter? }] ends a run wherever it is; `goal` { eventName, filter?, to? }; `timeZone`; `sendWindow` { from, to, days?, zone? }; `maxPerHour`; `onUnsubscribe` (`continue` where all mail is transactional) */
  settings: Record<string, unknown>
  /** What may fail when a step runs, such as a variable that its template needs and does not get */
  warnings?: {
    /** The key of the step; null for what concerns no single step */
    key: string | null
    /** What may fail there */
    error: string
  }[]
}

export interface AutomationEnabled {
  /** The id that the request named */
  id: string
  /** The status after the request */
  status: string
  /** What was done, in words for people, which may change */
  message: string
  /** What may fail when a step runs, such as a variable that its template needs and does not get */
  warnings: {
    /** The key of the step; null for what concerns no single step */
    key: string | null
    /** What may fail there */
    error: string
  }[]
}

export interface AutomationRun {
  /** The id of the run, which never changes */
  id: string
  /** The automation of the run */
  automationId: string
  /** The version of the automation in which it runs */
  version: number
  /** The contact; null once it is deleted */
  contactId: string | null
  /** The address of the contact; null once it is deleted */
  email: string | null
  /** `running` and `waiting` are under way, the others have ended */
  status: 'running' | 'waiting' | 'completed' | 'exited' | 'failed' | 'cancelled' | (string & {})
  /** Why the run has ended: `unsubscribed`, `bounced`, `complained`, `deleted` …, or what its `exit` step says; null while it is under way, and where there is nothing to say */
  reason: string | null
  /** The key of the step at which the run is or has ended */
  currentStep: string | null
  /** When the event that started the run came */
  startedAt: string
  /** When the run last moved, or ended */
  updatedAt: string
  /** What the run waits for; null when it has ended, or goes on at once */
  waitingFor: null | {
    /** What it is: `event`, `delay`, or why a step cannot be taken yet: `suspended`, `quota`, `paused`, `domain`, `plan`, `queue_full`, `window`, `cap`, `held`, `retry` */
    kind: string
    /** The name of the event, when the kind is `event` */
    event?: string
    /** Why it is held, when the kind is `held` */
    reason?: string
    /** When the run goes on at the latest; null when it is held until the operator releases it */
    until: string | null
  }
  history: {
    /** The key of the step; null where lines were left out */
    step: string | null
    /** When this happened */
    at: string
    /** What came of the step: `sent`, `waited`, `received`, `timed_out`, `met`, `not_met` … */
    result: string
    /** The id of the mail, when the result is `sent` */
    emailId?: string
    /** The number of the event, when the result is `received` */
    eventId?: number
  }[]
  /** Why the run is where it is and until when, in a sentence; not in lists */
  why?: string
}

export interface AutomationRuns {
  runs: AutomationRun[]
  /** Whether there is another page */
  hasMore: boolean
  /** The `cursor` of the next page; null on the last page */
  nextCursor: string | null
}

export interface AutomationState {
  /** The id that the request named */
  id: string
  /** The status after the request */
  status: string
  /** What was done, in words for people, which may change */
  message: string
}

export interface Automations {
  automations: Automation[]
  /** Whether there is another page */
  hasMore: boolean
  /** The `cursor` of the next page; null on the last page */
  nextCursor: string | null
}

export interface BadContent {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** The part that is wrong, `subject` or `html`; null: all of it */
  part: string | null
  /** The line of that part, from 1 */
  line?: number
  /** The column of that line, from 1 */
  column?: number
}

export interface BadTemplate {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** The part that is wrong, `subject`, `html` or `text`; null: all of it */
  part: string | null
  /** The line of that part, from 1 */
  line?: number
  /** The column of that line, from 1 */
  column?: number
}

/** All or none of them are queued. */
export interface Batch {
  emails: readonly Send[]
  /** Each of the emails has these beside its own: a file that all of them carry is sent and read once */
  attachments?: readonly Attachment[] | null | undefined
}

export interface BatchQueued {
  /** How many mails were queued */
  queued: number
  /** The ids of the mails, in the order of `emails` */
  ids: string[]
}

export interface Broadcast {
  /** The id of the campaign */
  id: string
  /** Its name, for yourself; null when it has none */
  name: string | null
  /** The subject as given, with its merge tags */
  subject: string
  /** `sent`: every mail has ended, or was handed to a smart host. `paused`: by the operator, or because the account is */
  status: 'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'cancelled' | 'failed' | (string & {})
  /** Why it is paused; null when it is not */
  pausedReason: string | null
  /** Who has paused it; null when it is not paused. The account resumes only its own pauses, the operator any. A campaign whose list has grown beyond what the plan has room for this month is the account’s to resume */
  pausedBy: 'account' | 'operator' | null | (string & {})
  /** Why it could not be dispatched; null unless its `status` is `failed` */
  failedReason: string | null
  /** The contact list that it goes to */
  listId: string
  /** Its topic; null when it has none */
  topicId: string | null
  /** How many recipients it has; before it is dispatched, how many it would have */
  recipientCount: number
  /** When it is or was to be dispatched; null: no time was given */
  scheduledAt: string | null
  /** When it was dispatched; null before */
  sentAt: string | null
  /** When the campaign was made */
  createdAt: string
  stats: BroadcastStats
}

export interface BroadcastAudience {
  /** The contact list that it goes to */
  listId: string
  /** The topic: whoever has left it gets nothing, and unsubscribing is from this topic only */
  topicId?: string | null | undefined
}

export interface BroadcastCancelled {
  /** The id of the campaign */
  id: string
  status: 'cancelled'
  /** What was done, in words for people, which may change */
  message: string
}

/** What is to be changed, at least one. Unknown fields are ignored, but those that other mail APIs know and that would change what is sent are a 422. */
export interface BroadcastChanges {
  /** The contact list that it goes to */
  listId?: string | null | undefined
  /** The sender, on a verified domain of the account */
  from?: string | null | undefined
  /** The subject, at most 200 characters; merge tags as in the HTML, but those of links. One that is empty for somebody of whom nothing is known is a 422 */
  subject?: string | null | undefined
  /** The content in Liquid, at most 2 MiB. Merge tags: `{{firstName}}`, `{{lastName}}`, `{{email}}` and what is in the metadata; an empty one renders as nothing, or as `| default: "there"` says. `{{ unsubscribe_url }}` and `{{ preferences_url }}` are the recipient's own links, `{{ unsubscribe_footer }}` places the footer: without it the footer is at the end, and it is left out where a link of yours leads to `{{ unsubscribe_url }}`. In an `href` a tag may be percent-encoded (`%7B%7B`). The text part is made from it. */
  html?: string | null | undefined
  /** The id of the topic; an empty text takes it away */
  topicId?: string | null | undefined
  /** A name of at most 200 characters; an empty text takes it away */
  name?: string | null | undefined
  replyTo?: string | readonly string[] | null | undefined
  /** Header fields of your own, at most 25 with 4 KiB each and 16 KiB together; signed with DKIM. In-Reply-To and References stay as they are, other text that is not ASCII is encoded (RFC 2047). Those that Posthorn or the servers on the way write are a 422: From, To, Cc, Bcc, Reply-To, Subject, Date, Sender, Message-ID, MIME-Version, Content-*, List-Unsubscribe*, List-Id, Return-Path, Received, DKIM-*, ARC-*, Authentication-Results, Resent-*, CFBL-*, X-Posthorn-*. Mail of campaigns and automations has a Feedback-ID, in whose place one of yours stands */
  headers?: Record<string, string> | null | undefined
  /** Tags of your own, to find mails by (`GET /v1/emails?tag=name:value`); also in webhooks. Each name once */
  tags?: readonly TagInput[] | null | undefined
  /** Files that go with the mail: at most 10 MiB together as they are (not in base64) and 50 of them, unless the operator says otherwise. Large receivers refuse programs and scripts (`.exe`, `.js`, also in archives): Posthorn sends them, the refusal is in `recipients` */
  attachments?: readonly Attachment[] | null | undefined
  /** When to dispatch it, as for a new campaign. An empty text takes the time away: the draft then goes at once when you send it */
  scheduledAt?: string | Date | null | undefined
}

export interface BroadcastDetail {
  /** The id of the campaign */
  id: string
  /** Its name, for yourself; null when it has none */
  name: string | null
  /** The subject as given, with its merge tags */
  subject: string
  /** `sent`: every mail has ended, or was handed to a smart host. `paused`: by the operator, or because the account is */
  status: 'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'cancelled' | 'failed' | (string & {})
  /** Why it is paused; null when it is not */
  pausedReason: string | null
  /** Who has paused it; null when it is not paused. The account resumes only its own pauses, the operator any. A campaign whose list has grown beyond what the plan has room for this month is the account’s to resume */
  pausedBy: 'account' | 'operator' | null | (string & {})
  /** Why it could not be dispatched; null unless its `status` is `failed` */
  failedReason: string | null
  /** The contact list that it goes to */
  listId: string
  /** Its topic; null when it has none */
  topicId: string | null
  /** How many recipients it has; before it is dispatched, how many it would have */
  recipientCount: number
  /** When it is or was to be dispatched; null: no time was given */
  scheduledAt: string | null
  /** When it was dispatched; null before */
  sentAt: string | null
  /** When the campaign was made */
  createdAt: string
  stats: BroadcastStats
  /** The sender, as given */
  from: string
  /** The addresses that answers go to */
  replyTo: string[]
  /** The headers that were given */
  headers: Record<string, string>
  /** The attachments, without their bytes */
  attachments: EmailAttachment[]
  /** The tags of its mails */
  tags: Tag[]
  /** What you should know though it was taken: that the HTML is too long to be made into a text part as a whole. Most have none */
  warnings: string[]
  progress: {
    /** How many mails have not ended */
    waiting: number
    /** How many a smart host has taken, which has told no more */
    relayed: number
    /** How many were given up after the time for which mail is tried */
    failed: number
    /** How many were not sent as the recipient had unsubscribed, bounced or complained since */
    suppressed: number
    /** How many the operator has cancelled */
    cancelled: number
    /** True: mails are still to be made, and the appliance has no room for more now, as its queue or its disk is full. It goes on by itself */
    waitsForRoom: boolean
  }
  /** The first 1,000 recipients */
  recipients: {
    /** The address of the recipient */
    email: string
    status: EmailStatus
    /** When a person first opened the mail; null: not yet */
    openedAt: string | null
    /** When a person first clicked a link in it; null: not yet */
    clickedAt: string | null
    /** How often people opened it; machines are not counted */
    opensCount: number
    /** How often people clicked a link in it; machines are not counted */
    clicksCount: number
  }[]
}

export interface BroadcastDraft {
  /** The id of the campaign */
  id: string
  status: 'draft'
  /** How many recipients would get it now */
  estimatedRecipients: number
}

export interface BroadcastPaused {
  /** The id of the campaign */
  id: string
  status: 'paused'
  /** What was done, in words for people, which may change */
  message: string
}

export interface BroadcastPreview {
  /** How many recipients would get it now */
  recipientCount: number
  /** Some of the recipients */
  sample: string[]
  /** What the count leaves out, in words for people */
  note: string
}

export interface BroadcastRecipients {
  recipients: {
    /** The id of the mail */
    emailId: string
    /** The address of the recipient */
    email: string
    status: EmailStatus
    /** When a person first opened the mail; null: not yet */
    openedAt: string | null
    /** When a person first clicked a link in it; null: not yet */
    clickedAt: string | null
    /** How often people opened it; machines are not counted */
    opensCount: number
    /** How often people clicked a link in it; machines are not counted */
    clicksCount: number
  }[]
  /** Whether there is another page */
  hasMore: boolean
  /** The `cursor` of the next page; null on the last page */
  nextCursor: string | null
}

export interface BroadcastResumed {
  /** The id of the campaign */
  id: string
  /** What was done, in words for people, which may change */
  message: string
}

export interface BroadcastScheduled {
  /** The id of the campaign */
  id: string
  status: 'scheduled'
  /** When it will be dispatched */
  scheduledAt: string
  /** How many recipients would get it now */
  estimatedRecipients: number
}

export interface BroadcastSending {
  /** The id of the campaign */
  id: string
  status: 'sending'
  /** How many recipients it has */
  recipientCount: number
}

export interface BroadcastStats {
  /** How many mails were made so far */
  recipients: number
  /** How many mails the recipient’s server has taken */
  delivered: number
  /** How many mails it has refused for good */
  bounced: number
  /** How many mails people opened */
  opened: number
  /** In how many mails people clicked a link */
  clicked: number
  /** `opened` in percent of the mails that servers or smart hosts have taken */
  openRate: number
  /** `clicked` in percent of the same */
  clickRate: number
}

export interface Broadcasts {
  broadcasts: Broadcast[]
  /** Whether there is another page */
  hasMore: boolean
  /** The `cursor` of the next page; null on the last page */
  nextCursor: string | null
}

export interface BrokenCsv {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** The line from which on the file cannot be read, from 1 */
  line: number
  /** How many rows put somebody on the list */
  imported: number
  /** How many rows name somebody who is on it already, from before or by an earlier row */
  skipped: number
  /** How many rows have no valid address, or something that cannot be kept */
  invalid: number
  /** The first 100 of the invalid rows */
  refused: {
    /** The line of the file where the row begins, from 1 */
    line: number
    /** Why the row is invalid, in words for people */
    reason: string
  }[]
  /** How many rows say of somebody that they left, bounced or complained: their address is suppressed for that */
  suppressed: number
  /** What each column became, in the order of the file */
  columns: {
    /** The name of the column, at most 100 characters of it */
    name: string
    /** `name` is split into first and last name; `metadata`: each cell is a value under the name of the column; `suppression`: a cell that says that somebody left suppresses the address */
    became: 'email' | 'firstName' | 'lastName' | 'name' | 'phone' | 'metadata' | 'suppression' | 'nothing' | (string & {})
  }[]
}

export interface CampaignCap {
  /** 403: a cap of the plan (contacts, domains, API keys, team members) or a feature that it lacks; 402: its monthly volume */
  code: 'plan_limit_exceeded'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** How many campaign mails the plan allows in a month */
  limit: number
  /** How many of them are used */
  used: number
  /** The name of the marketing plan */
  plan: string
}

export interface Cohort {
  /** How many contacts were walked through it */
  contacts: number
  /** For how many of them a run began */
  started: number
  /** How often each step had each result: by the key of the step, then by the result */
  steps: Record<string, Record<string, number>>
  /** How often each end came, such as `completed` or `exited:goal` */
  ends: Record<string, number>
  /** True: it took too many steps, and not all contacts were walked through it to the end */
  cut: boolean
}

export interface ConcurrentIdempotentRequest {
  /** An identical request with the same idempotency key is still running */
  code: 'concurrent_idempotent_request'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface Conflict {
  /** Resource state disallows the operation */
  code: 'conflict'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface Contact {
  /** The id of the contact, the same on every list */
  id: string
  /** The address as it was added */
  email: string
  /** The first name; null when it is not known */
  firstName: string | null
  /** The last name; null when it is not known */
  lastName: string | null
  /** The phone number in E.164; null when it is not known */
  phone: string | null
  /** Fields of your own */
  metadata: Record<string, unknown>
  /** Whether the contact has left all marketing mail of the account */
  unsubscribed: boolean
  /** When the contact unsubscribed; null when they have not */
  unsubscribedAt: string | null
  /** The strongest reason for which the address is not mailed; null: there is none */
  suppressed: 'bounce' | 'complaint' | 'unsubscribe' | 'manual' | null | (string & {})
  /** When the account came to know the address */
  createdAt: string
}

export interface ContactAdded {
  /** The id of the contact */
  id: string
  /** Its address */
  email: string
}

export interface ContactList {
  /** The id of the list, for `listId` */
  id: string
  /** The name of the list; two lists may have the same name */
  name: string
  /** How many contacts are on it */
  contactCount: number
  /** When the list was made */
  createdAt: string
}

export interface ContactListCreated {
  /** The id of the list, for `listId` */
  id: string
  /** The name of the list; two lists may have the same name */
  name: string
}

export interface ContactLists {
  lists: ContactList[]
}

export interface Contacts {
  contacts: Contact[]
  /** Whether there is another page */
  hasMore: boolean
  /** The `cursor` of the next page; null on the last page */
  nextCursor: string | null
}

export interface CsvUpload {
  /** The CSV file */
  file: unknown
}

export interface DailyQuotaExceeded {
  /** Daily cap of mails reached; clears at midnight UTC */
  code: 'daily_quota_exceeded'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** How many mails the plan allows in a day */
  dailyLimit: number
  /** How many of them are used */
  dailySent: number
  /** When the count starts again: the next midnight, UTC */
  resetsAt: string
  /** The name of the account's plan */
  plan: string
}

export interface DailyQuotaOfBatch {
  /** Daily cap of mails reached; clears at midnight UTC */
  code: 'daily_quota_exceeded'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** How many mails of the batch could be sent now */
  canSend: number
}

export interface DmarcSource {
  /** The IP address that the mail came from; empty: several, which were too many to be told apart */
  address: string
  /** Its name in the DNS; empty where it has none, or nothing answered */
  name: string
  /** `ours`: the appliance sends from it. `forwarder`: it sends on what was signed for the domain. `service`: SPF of the domain lets it send. `other`: a stranger, or a server that is not set up. */
  kind: 'ours' | 'forwarder' | 'service' | 'other' | (string & {})
  /** How many mails receivers counted from it */
  messages: number
  /** How many of these passed DMARC: DKIM or SPF did, for a domain that aligns with the From */
  passed: number
  /** How many of these passed by DKIM */
  dkimPassed: number
  /** How many of these passed by SPF */
  spfPassed: number
  /** How many mails receivers took as spam, as the policy asks */
  quarantined: number
  /** How many mails receivers refused, as the policy asks */
  rejected: number
  /** How many mails are from reports that nobody has signed */
  unproven: number
  /** Some of the receivers that report it */
  reporters: string[]
  /** Which domains passed or failed by SPF and DKIM, in one of the reports */
  identifiers: string
  /** What to do about it; empty when there is nothing to do */
  advice: string
}

export interface Domain {
  /** The id of the domain, which never changes */
  id: string
  /** The name of the domain in lower case, as A-labels (`xn--…`) */
  name: string
  /** Mail is sent only from a verified domain */
  status: 'pending' | 'verified' | (string & {})
  /** True: verified because the operator said so, whatever the DNS says */
  trusted: boolean
  /** Whether bounces come back to a host of the domain itself */
  returnPath: boolean
  dkim: {
    /** The selector: the first part of the name of its DNS record */
    selector: string
    algorithm: 'rsa-sha256' | 'ed25519-sha256' | (string & {})
    /** Whether mail is signed with this key */
    verified: boolean
  }[]
  /** Whether opens are tracked; `default`: as the account has it, and in transactional mail not, unless the account says `on` */
  trackOpens: 'on' | 'off' | 'default' | (string & {})
  /** Whether clicks are tracked; `default`: as the account has it */
  trackClicks: 'on' | 'off' | 'default' | (string & {})
  /** The host of the domain for tracked links; null when it has none */
  trackingHost: string | null
  /** Whether the DNS leads that host here */
  trackingHostReady: boolean
  /** When the domain was added */
  createdAt: string
  /** Since when it is verified; null while it is not */
  verifiedAt: string | null
  /** When its DNS records were last looked up; null: never */
  checkedAt: string | null
}

/** At least one field; those that are not given stay as they are. */
export interface DomainChanges {
  /** Whether opens are tracked; `default`: as the account has it, and in transactional mail not, unless the account says `on` */
  trackOpens?: 'on' | 'off' | 'default' | null | undefined
  /** Whether clicks are tracked; `default`: as the account has it */
  trackClicks?: 'on' | 'off' | 'default' | null | undefined
  /** A host of the domain for tracked links, with a CNAME record to publish; an empty text takes it away */
  trackingHost?: string | null | undefined
}

export interface DomainDeleted {
  /** The id that the request named */
  id: string
  deleted: true
  /** What was done, in words for people, which may change */
  message: string
  /** Automations that are enabled, or have live runs, and send from it: their runs wait until it is added and verified again */
  automations: {
    /** The id of the automation */
    id: string
    /** The name of the automation */
    name: string
  }[]
}

export interface DomainDetail {
  /** The id of the domain, which never changes */
  id: string
  /** The name of the domain in lower case, as A-labels (`xn--…`) */
  name: string
  /** Mail is sent only from a verified domain */
  status: 'pending' | 'verified' | (string & {})
  /** True: verified because the operator said so, whatever the DNS says */
  trusted: boolean
  /** Whether bounces come back to a host of the domain itself */
  returnPath: boolean
  dkim: {
    /** The selector: the first part of the name of its DNS record */
    selector: string
    algorithm: 'rsa-sha256' | 'ed25519-sha256' | (string & {})
    /** Whether mail is signed with this key */
    verified: boolean
  }[]
  /** Whether opens are tracked; `default`: as the account has it, and in transactional mail not, unless the account says `on` */
  trackOpens: 'on' | 'off' | 'default' | (string & {})
  /** Whether clicks are tracked; `default`: as the account has it */
  trackClicks: 'on' | 'off' | 'default' | (string & {})
  /** The host of the domain for tracked links; null when it has none */
  trackingHost: string | null
  /** Whether the DNS leads that host here */
  trackingHostReady: boolean
  /** When the domain was added */
  createdAt: string
  /** Since when it is verified; null while it is not */
  verifiedAt: string | null
  /** When its DNS records were last looked up; null: never */
  checkedAt: string | null
  /** The records to publish */
  records: {
    purpose: 'dkim-rsa' | 'dkim-ed25519' | 'return-path-mx' | 'return-path-spf' | 'dmarc' | 'tracking' | (string & {})
    type: 'TXT' | 'MX' | 'CNAME' | (string & {})
    /** The whole name of the record, without a dot at the end */
    name: string
    /** The value to publish; for an MX the preference and the host */
    value: string
    /** True: without this record nothing is sent */
    required: boolean
  }[]
  /** The same records as lines of a zone file */
  zone: string
}

export interface DomainDmarc {
  /** The id of the domain */
  id: string
  /** The name of the domain */
  name: string
  /** When the first day that is counted begins, UTC */
  since: string
  /** The DMARC policy (`p`) in the newest signed report; empty without one */
  policy: string
  /** How many DMARC reports were received */
  reports: number
  /** How many mails in the name of the domain they count */
  messages: number
  /** How many of these passed DMARC */
  passed: number
  /** The 200 sources with most mail, the largest first */
  sources: DmarcSource[]
  /** The 100 receivers with most reports */
  reporters: {
    /** The receiver that reports */
    name: string
    /** The domain whose DKIM signature the report carries; empty if it is not signed */
    proof: string
    /** How many reports it has sent */
    reports: number
  }[]
  /** What others report of TLS with the servers of its return path, to which bounces go */
  tls: {
    /** How many TLS reports were received */
    reports: number
    /** How many TLS sessions succeeded */
    successes: number
    /** How many TLS sessions failed */
    failures: number
    /** Failures by result type (RFC 8460 §4.3) */
    types: Record<string, number>
  }
}

export interface DomainInUse {
  /** Resource state disallows the operation */
  code: 'conflict'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** The campaign that waits; absent when it is mail that waits */
  broadcastId?: string
}

export interface DomainNotVerified {
  /** Sending domain not verified; the response lists those that are */
  code: 'domain_not_verified'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** The domain of `from` */
  domain: string
  /** The domains from which the account may send */
  verifiedDomains: string[]
}

export interface DomainVerification {
  /** The id of the domain, which never changes */
  id: string
  /** The name of the domain in lower case, as A-labels (`xn--…`) */
  name: string
  /** Mail is sent only from a verified domain */
  status: 'pending' | 'verified' | (string & {})
  /** True: verified because the operator said so, whatever the DNS says */
  trusted: boolean
  /** Whether bounces come back to a host of the domain itself */
  returnPath: boolean
  dkim: {
    /** The selector: the first part of the name of its DNS record */
    selector: string
    algorithm: 'rsa-sha256' | 'ed25519-sha256' | (string & {})
    /** Whether mail is signed with this key */
    verified: boolean
  }[]
  /** Whether opens are tracked; `default`: as the account has it, and in transactional mail not, unless the account says `on` */
  trackOpens: 'on' | 'off' | 'default' | (string & {})
  /** Whether clicks are tracked; `default`: as the account has it */
  trackClicks: 'on' | 'off' | 'default' | (string & {})
  /** The host of the domain for tracked links; null when it has none */
  trackingHost: string | null
  /** Whether the DNS leads that host here */
  trackingHostReady: boolean
  /** When the domain was added */
  createdAt: string
  /** Since when it is verified; null while it is not */
  verifiedAt: string | null
  /** When its DNS records were last looked up; null: never */
  checkedAt: string | null
  records: {
    purpose: 'dkim-rsa' | 'dkim-ed25519' | 'return-path-mx' | 'return-path-spf' | 'dmarc' | 'tracking' | (string & {})
    type: 'TXT' | 'MX' | 'CNAME' | (string & {})
    /** The whole name of the record, without a dot at the end */
    name: string
    /** The value to publish; for an MX the preference and the host */
    value: string
    /** True: without this record nothing is sent */
    required: boolean
    /** `unknown`: the DNS gave no answer, so nothing was concluded */
    state: 'ok' | 'missing' | 'different' | 'unknown' | (string & {})
    /** What the DNS has there */
    found: string[]
    /** What to do about it; empty when there is nothing to do */
    advice: string
  }[]
}

export interface Domains {
  domains: Domain[]
}

export interface Email {
  /** The id of the mail, which a send is answered with */
  id: string
  /** The sender, as the request named it */
  from: string
  /** The recipients as the request named them, joined by commas when there are several */
  to: string
  /** Recipients of a copy, whom everybody sees */
  cc: string[]
  /** Recipients of a copy, whom nobody sees */
  bcc: string[]
  /** The subject, as it is sent */
  subject: string
  /** The tags of the mail, or of its campaign */
  tags: Tag[]
  status: EmailStatus
  type: 'transactional' | 'marketing' | (string & {})
  /** The topic; null for mail without one */
  topicId: string | null
  /** The campaign that the mail belongs to; null: none */
  broadcastId: string | null
  /** The slug of the template that it was made from; null: none */
  template: string | null
  /** How often people opened it; machines are not counted */
  opensCount: number
  /** How often people clicked a link in it; machines are not counted */
  clicksCount: number
  /** When a person first opened it; null: not yet */
  openedAt: string | null
  /** When a person first clicked a link in it; null: not yet */
  clickedAt: string | null
  /** When it is, or was, to leave; null: no time was given */
  scheduledAt: string | null
  /** When the first attempt began; null before */
  sentAt: string | null
  /** When it was accepted */
  createdAt: string
  /** The Message-ID: compare it, do not take it apart */
  messageId: string
  /** `failover`: it went by the other path during an incident */
  provider: 'primary' | 'failover' | (string & {})
  /** The addresses that answers go to */
  replyTo: string[]
  /** The headers that were given */
  headers: Record<string, string>
  /** The attachments, without their bytes */
  attachments: EmailAttachment[]
  /** The metadata, as given; null: none */
  metadata: Record<string, unknown> | null
  /** True: text, HTML and attachments were deleted, as they were older than the operator keeps them; `attachments` is empty then */
  contentDeleted: boolean
  /** What you should know though it was taken: that the HTML is too long to be made into a text part as a whole. Most have none */
  warnings: string[]
  /** All that the account sends waits, or some of this mail, until the operator releases it; null: nothing is held */
  held: {
    /** Since when; null where the whole account is stopped */
    since: string | null
    /** Why it waits, in a sentence */
    reason: string
  } | null
  /** What became of the mail for each recipient, in the order given */
  recipients: EmailRecipient[]
}

export interface EmailAttachment {
  /** The name of the file, as given */
  filename: string
  /** The media type, as given, or as the name of the file suggests */
  contentType: string
  /** The size of the file in bytes, not in base64 */
  size: number
  /** The name by which the HTML shows it; null when none was given */
  contentId: string | null
  disposition: 'attachment' | 'inline' | (string & {})
}

export interface EmailCancelled {
  /** What was done, in words for people, which may change */
  message: string
}

export interface EmailFound {
  email: Email
}

export interface EmailList {
  /** Newest first; may be fewer than `limit`, or none, although there are more */
  emails: EmailSummary[]
  /** Whether there is another page */
  hasMore: boolean
  /** The `cursor` of the next page; null on the last page */
  nextCursor: string | null
}

export interface EmailQueued {
  /** The id of the email */
  id: string
  /** What was done, in words for people, which may change */
  message: string
}

export interface EmailRecipient {
  /** The address, without a name */
  email: string
  /** The field that names the recipient; if several do, the first of `to`, `cc`, `bcc` */
  kind: 'to' | 'cc' | 'bcc' | (string & {})
  /** `sent`: a smart host has taken it on; what became of it there is not known */
  status: 'queued' | 'deferred' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'cancelled' | 'suppressed' | (string & {})
  /** How many attempts were made so far */
  attempts: number
  /** When the next attempt is due; null during one, while it is held, and at the end */
  nextAttemptAt: string | null
  /** The last reply of the recipient's server, word for word; null: none */
  reply: string | null
  /** When the last attempt was made, or when it ended; null before */
  updatedAt: string | null
  /** It waits until the operator releases it; null: it is not held */
  held: {
    /** Since when; null where the whole account is stopped */
    since: string | null
    /** Why it waits, in a sentence */
    reason: string
  } | null
}

export interface EmailScheduled {
  /** The id of the email */
  id: string
  status: 'scheduled'
  /** When it will leave, in UTC */
  scheduledAt: string
  /** What was done, in words for people, which may change */
  message: string
}

/** `suppressed`: nobody is left to mail. `cancelled` and `suppressed` never change */
export type EmailStatus = 'queued' | 'scheduled' | 'sending' | 'sent' | 'delivered' | 'bounced' | 'failed' | 'cancelled' | 'suppressed' | (string & {})

export interface EmailSummary {
  /** The id of the mail, which a send is answered with */
  id: string
  /** The sender, as the request named it */
  from: string
  /** The recipients as the request named them, joined by commas when there are several */
  to: string
  /** Recipients of a copy, whom everybody sees */
  cc: string[]
  /** Recipients of a copy, whom nobody sees */
  bcc: string[]
  /** The subject, as it is sent */
  subject: string
  /** The tags of the mail, or of its campaign */
  tags: Tag[]
  status: EmailStatus
  type: 'transactional' | 'marketing' | (string & {})
  /** The topic; null for mail without one */
  topicId: string | null
  /** The campaign that the mail belongs to; null: none */
  broadcastId: string | null
  /** The slug of the template that it was made from; null: none */
  template: string | null
  /** How often people opened it; machines are not counted */
  opensCount: number
  /** How often people clicked a link in it; machines are not counted */
  clicksCount: number
  /** When a person first opened it; null: not yet */
  openedAt: string | null
  /** When a person first clicked a link in it; null: not yet */
  clickedAt: string | null
  /** When it is, or was, to leave; null: no time was given */
  scheduledAt: string | null
  /** When the first attempt began; null before */
  sentAt: string | null
  /** When it was accepted */
  createdAt: string
  /** The Message-ID: compare it, do not take it apart */
  messageId: string
  /** `failover`: it went by the other path during an incident */
  provider: 'primary' | 'failover' | (string & {})
}

export interface EventAccepted {
  /** The name of the event: 1 to 100 of A-Z, a-z, 0-9, `_`, `.`, `:` and `-` */
  event: string
  /** The contact whose event it is */
  contactId: string
  /** True: the contact is new to the account */
  contactCreated: boolean
  /** How many runs began */
  started: number
  /** How many runs waited for the event and go on */
  resumed: number
  /** The enabled automations that begin with the event */
  automations: {
    /** The id of an enabled automation that the event can start */
    automationId: string
    /** The name of the automation, for yourself */
    name: string
    /** Whether a run of the contact began */
    started: boolean
    /** The run that began, or the one that is under way; null: there is none */
    runId: string | null
    /** Why no run began; absent when one did */
    reason?: 'already_running' | 'already_entered' | 'too_soon' | 'filtered' | 'suppressed' | 'too_old' | 'limit' | (string & {})
  }[]
}

export interface EventsAccepted {
  /** How many events were taken in */
  accepted: number
  results: EventAccepted[]
}

export interface Forbidden {
  /** Valid credentials, not permitted */
  code: 'forbidden'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface Gone {
  /** The id of what was deleted */
  id: string
  deleted: true
  /** What was done, in words for people, which may change */
  message: string
}

export interface ImportCutOff {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** How many rows put somebody on the list */
  imported: number
  /** How many rows name somebody who is on it already, from before or by an earlier row */
  skipped: number
  /** How many rows have no valid address, or something that cannot be kept */
  invalid: number
  /** The first 100 of the invalid rows */
  refused: {
    /** The line of the file where the row begins, from 1 */
    line: number
    /** Why the row is invalid, in words for people */
    reason: string
  }[]
  /** How many rows say of somebody that they left, bounced or complained: their address is suppressed for that */
  suppressed: number
  /** What each column became, in the order of the file */
  columns: {
    /** The name of the column, at most 100 characters of it */
    name: string
    /** `name` is split into first and last name; `metadata`: each cell is a value under the name of the column; `suppression`: a cell that says that somebody left suppresses the address */
    became: 'email' | 'firstName' | 'lastName' | 'name' | 'phone' | 'metadata' | 'suppression' | 'nothing' | (string & {})
  }[]
}

export interface ImportFull {
  /** 403: a cap of the plan (contacts, domains, API keys, team members) or a feature that it lacks; 402: its monthly volume */
  code: 'plan_limit_exceeded'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** How many rows put somebody on the list */
  imported: number
  /** How many rows name somebody who is on it already, from before or by an earlier row */
  skipped: number
  /** How many rows have no valid address, or something that cannot be kept */
  invalid: number
  /** The first 100 of the invalid rows */
  refused: {
    /** The line of the file where the row begins, from 1 */
    line: number
    /** Why the row is invalid, in words for people */
    reason: string
  }[]
  /** How many rows say of somebody that they left, bounced or complained: their address is suppressed for that */
  suppressed: number
  /** What each column became, in the order of the file */
  columns: {
    /** The name of the column, at most 100 characters of it */
    name: string
    /** `name` is split into first and last name; `metadata`: each cell is a value under the name of the column; `suppression`: a cell that says that somebody left suppresses the address */
    became: 'email' | 'firstName' | 'lastName' | 'name' | 'phone' | 'metadata' | 'suppression' | 'nothing' | (string & {})
  }[]
}

export interface ImportTooLarge {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** How many bytes a body may have */
  max: number
  /** How many rows put somebody on the list */
  imported: number
  /** How many rows name somebody who is on it already, from before or by an earlier row */
  skipped: number
  /** How many rows have no valid address, or something that cannot be kept */
  invalid: number
  /** The first 100 of the invalid rows */
  refused: {
    /** The line of the file where the row begins, from 1 */
    line: number
    /** Why the row is invalid, in words for people */
    reason: string
  }[]
  /** How many rows say of somebody that they left, bounced or complained: their address is suppressed for that */
  suppressed: number
  /** What each column became, in the order of the file */
  columns: {
    /** The name of the column, at most 100 characters of it */
    name: string
    /** `name` is split into first and last name; `metadata`: each cell is a value under the name of the column; `suppression`: a cell that says that somebody left suppresses the address */
    became: 'email' | 'firstName' | 'lastName' | 'name' | 'phone' | 'metadata' | 'suppression' | 'nothing' | (string & {})
  }[]
}

export interface ImportWithoutRoom {
  /** Server-side, usually brief; retry after `Retry-After` */
  code: 'service_unavailable'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** How many rows put somebody on the list */
  imported: number
  /** How many rows name somebody who is on it already, from before or by an earlier row */
  skipped: number
  /** How many rows have no valid address, or something that cannot be kept */
  invalid: number
  /** The first 100 of the invalid rows */
  refused: {
    /** The line of the file where the row begins, from 1 */
    line: number
    /** Why the row is invalid, in words for people */
    reason: string
  }[]
  /** How many rows say of somebody that they left, bounced or complained: their address is suppressed for that */
  suppressed: number
  /** What each column became, in the order of the file */
  columns: {
    /** The name of the column, at most 100 characters of it */
    name: string
    /** `name` is split into first and last name; `metadata`: each cell is a value under the name of the column; `suppression`: a cell that says that somebody left suppresses the address */
    became: 'email' | 'firstName' | 'lastName' | 'name' | 'phone' | 'metadata' | 'suppression' | 'nothing' | (string & {})
  }[]
}

export interface Imported {
  /** How many rows put somebody on the list */
  imported: number
  /** How many rows name somebody who is on it already, from before or by an earlier row */
  skipped: number
  /** How many rows have no valid address, or something that cannot be kept */
  invalid: number
  /** The first 100 of the invalid rows */
  refused: {
    /** The line of the file where the row begins, from 1 */
    line: number
    /** Why the row is invalid, in words for people */
    reason: string
  }[]
  /** How many rows say of somebody that they left, bounced or complained: their address is suppressed for that */
  suppressed: number
  /** What each column became, in the order of the file */
  columns: {
    /** The name of the column, at most 100 characters of it */
    name: string
    /** `name` is split into first and last name; `metadata`: each cell is a value under the name of the column; `suppression`: a cell that says that somebody left suppresses the address */
    became: 'email' | 'firstName' | 'lastName' | 'name' | 'phone' | 'metadata' | 'suppression' | 'nothing' | (string & {})
  }[]
}

export interface InvalidApiKey {
  /** The API key is malformed, unknown or deleted */
  code: 'invalid_api_key'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface InvalidAutomation {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** Everything that is wrong, by the key of its step */
  errors: {
    /** The key of the step; null for what concerns no single step */
    key: string | null
    /** What is wrong there */
    error: string
  }[]
}

export interface InvalidEvents {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  errors: {
    /** The place of the event in `events`, from 0 */
    index: number
    /** What is wrong with it */
    error: string
  }[]
}

export interface InvalidField {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** The name of the field that is wrong */
  field: string
}

/** Every field that is wrong, at most 50. The only error body without `code`. */
export interface InvalidFields {
  success: false
  error: {
    issues: {
      /** `required`, `invalid_type` or `invalid_` and the rule */
      code: string
      /** The type or rule that the value must meet */
      expected: string
      /** The type that was given; `undefined` for none */
      received: string
      /** Where the field is: names of fields, and places in arrays from `0` */
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
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface InvalidItems {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** What is wrong, in words for people. They may change: branch on `code` */
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
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** Empty: no domain was found in `from` */
  domain: ''
}

export interface Key {
  /** The id of the key, which never changes */
  id: string
  /** The name of the key, for yourself */
  name: string
  /** The last four characters of the key, by which people recognise it */
  last4: string
  /** What the key may do. `full`: everything; `sending`: send mail, look at one by its id, cancel a scheduled one; `read`: all that changes nothing */
  scope: 'full' | 'sending' | 'read' | (string & {})
  /** The sender domains of a sending key, which sees only the mails from them; null: no limit */
  domains: string[] | null
  /** The addresses and CIDR ranges that its requests may come from; null: no limit */
  networks: string[] | null
  /** When the key expires; null: it does not */
  expiresAt: string | null
  /** When the key was made */
  createdAt: string
  /** When it was last used, to the minute; null: never */
  lastUsedAt: string | null
}

/** At least one field; those that are not given stay as they are. Other fields are refused. */
export interface KeyChanges {
  /** The name of the key, for yourself */
  name?: string | null | undefined
  /** What the key may do. `full`: everything; `sending`: send mail, look at one by its id, cancel a scheduled one; `read`: all that changes nothing */
  scope?: 'full' | 'sending' | 'read' | null | undefined
  domains?: 'any' | readonly string[] | null | undefined
  networks?: 'any' | readonly string[] | null | undefined
  expiresAt?: 'never' | string | Date | null | undefined
}

export interface KeyCreated {
  /** The id of the key, which never changes */
  id: string
  /** The name of the key, for yourself */
  name: string
  /** The last four characters of the key, by which people recognise it */
  last4: string
  /** What the key may do. `full`: everything; `sending`: send mail, look at one by its id, cancel a scheduled one; `read`: all that changes nothing */
  scope: 'full' | 'sending' | 'read' | (string & {})
  /** The sender domains of a sending key, which sees only the mails from them; null: no limit */
  domains: string[] | null
  /** The addresses and CIDR ranges that its requests may come from; null: no limit */
  networks: string[] | null
  /** When the key expires; null: it does not */
  expiresAt: string | null
  /** When the key was made */
  createdAt: string
  /** When it was last used, to the minute; null: never */
  lastUsedAt: string | null
  /** The key itself, shown only this once; null in a repeat with the same Idempotency-Key */
  key: string | null
}

export interface KeyDeleted {
  /** The id that the request named */
  id: string
  deleted: true
  /** What was done, in words for people, which may change */
  message: string
}

export interface Keys {
  keys: Key[]
}

export interface MarketingSubscriptionRequired {
  /** No marketing plan, or it expired */
  code: 'marketing_subscription_required'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  upgrade: 'marketing'
}

export interface MarketingUsage {
  plan: {
    /** The id of the plan, which stays the same when the plan is renamed */
    id: string
    /** The name of the plan, as people see it */
    name: string
    /** The price of a month in Naira */
    priceNaira: number
    /** How many contacts the plan allows */
    maxMarketingContacts: number
  }
  /** Whether the account has the plan; if not, it is the smallest there is */
  subscribed: boolean
  /** How many contacts the account has */
  contacts: number
  /** How many contacts it may have; 0 together with `unlimitedContacts` */
  contactLimit: number
  /** True when contacts have no limit, else absent */
  unlimitedContacts?: true
  /** How many campaign mails a calendar month (UTC) allows; null: any number */
  monthlySendLimit: number | null
  /** How many campaign mails of this month are used */
  sentThisMonth: number
  /** Whether campaign mails have no limit */
  unlimitedSends: boolean
  /** When the count of campaign mails starts again */
  periodEnd: string
  /** True: no campaign mail leaves */
  paused: boolean
  /** Why no campaign mail leaves; null when it does */
  pausedReason: string | null
}

export interface MissingApiKey {
  /** No API key was given */
  code: 'missing_api_key'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface MonthlyQuotaExceeded {
  /** Monthly email allowance exhausted */
  code: 'monthly_quota_exceeded'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** How many mails the plan allows in a month */
  limit: number
  /** How many of them are used */
  used: number
  /** The name of the account's plan */
  plan: string
}

export interface MonthlyQuotaOfBatch {
  /** Monthly email allowance exhausted */
  code: 'monthly_quota_exceeded'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** How many mails of the batch could be sent now */
  canSend: number
}

export interface NewAutomation {
  /** The name of the automation, for yourself */
  name: string
  steps: readonly {
    /** The name of the step in this automation */
    key: string
    /** What the step does */
    type: 'trigger' | 'send_email' | 'delay' | 'wait_for_event' | 'condition' | 'contact_update' | 'split' | 'webhook' | 'exit'
    /** The settings of the step, which depend on `type` */
    config?: object | null | undefined
  }[]
  connections: readonly {
    /** The key of the step that it leaves */
    from: string
    /** The key of the step that it leads to */
    to: string
    /** By which result of the step it leaves; `default` where there is only one */
    type: 'default' | 'condition_met' | 'condition_not_met' | 'event_received' | 'timeout' | 'branch'
    /** The key of the branch, only with the type `branch` */
    branch?: string | null | undefined
  }[]
  /** Settings of the whole automation: `exitOn` [{ eventName, filter? }] ends a run wherever it is; `goal` { eventName, filter?, to? }; `timeZone`; `sendWindow` { from, to, days?, zone? }; `maxPerHour`; `onUnsubscribe` (`continue` where all mail is transactional) */
  settings?: object | null | undefined
}

/** Unknown fields are ignored, but those that other mail APIs know and that would change what is sent are a 422. */
export interface NewBroadcast {
  /** The contact list that it goes to */
  listId: string
  /** The sender, on a verified domain of the account */
  from: string
  /** The subject, at most 200 characters; merge tags as in the HTML, but those of links. One that is empty for somebody of whom nothing is known is a 422 */
  subject: string
  /** The content in Liquid, at most 2 MiB. Merge tags: `{{firstName}}`, `{{lastName}}`, `{{email}}` and what is in the metadata; an empty one renders as nothing, or as `| default: "there"` says. `{{ unsubscribe_url }}` and `{{ preferences_url }}` are the recipient's own links, `{{ unsubscribe_footer }}` places the footer: without it the footer is at the end, and it is left out where a link of yours leads to `{{ unsubscribe_url }}`. In an `href` a tag may be percent-encoded (`%7B%7B`). The text part is made from it. */
  html: string
  /** The topic: whoever has left it gets nothing, and unsubscribing is from this topic only */
  topicId?: string | null | undefined
  /** A name for yourself, which recipients never see */
  name?: string | null | undefined
  replyTo?: string | readonly string[] | null | undefined
  /** Header fields of your own, at most 25 with 4 KiB each and 16 KiB together; signed with DKIM. In-Reply-To and References stay as they are, other text that is not ASCII is encoded (RFC 2047). Those that Posthorn or the servers on the way write are a 422: From, To, Cc, Bcc, Reply-To, Subject, Date, Sender, Message-ID, MIME-Version, Content-*, List-Unsubscribe*, List-Id, Return-Path, Received, DKIM-*, ARC-*, Authentication-Results, Resent-*, CFBL-*, X-Posthorn-*. Mail of campaigns and automations has a Feedback-ID, in whose place one of yours stands */
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
  /** The address of the contact */
  email: string
  /** First name; a merge tag of campaigns */
  firstName?: string | null | undefined
  /** Last name; a merge tag of campaigns */
  lastName?: string | null | undefined
  /** The phone number in any notation, by which USSD finds the contact */
  phone?: string | null | undefined
  /** Fields of your own, at most 16 KiB as JSON. Those that are given replace the stored ones of the same name; the others stay. Whole numbers beyond ±9007199254740991 (2^53 - 1) are a 422, as JSON readers change their digits: send them as text */
  metadata?: object | null | undefined
}

export interface NewContactList {
  /** The name of the list; two lists may have the same name */
  name: string
}

export interface NewDomain {
  /** The name of the domain, in Unicode or as A-labels */
  name: string
}

export type NewEvent = {
  /** The name of the event: 1 to 100 of A-Z, a-z, 0-9, `_`, `.`, `:` and `-` */
  event: string
  /** Data of your own, which conditions and templates see as `event` and `trigger`; at most 16 KiB as JSON. Whole numbers beyond ±9007199254740991 (2^53 - 1) are a 422, as JSON readers change their digits: send them as text */
  payload?: object | null | undefined
  /** When the event happened; default: now. One that is older than 24 hours starts nothing, a time more than 5 minutes ahead is a 422 */
  occurredAt?: string | Date | null | undefined
} & ({
  /** The id of the contact; needed unless `email` is given */
  contactId: string
  email?: null | undefined
} | {
  /** The address of the contact; one that the account does not know becomes a contact on no list */
  email: string
  contactId?: null | undefined
})

export interface NewEvents {
  events: readonly {
    /** The name of the event: 1 to 100 of A-Z, a-z, 0-9, `_`, `.`, `:` and `-` */
    event: string
    /** The id of the contact; needed unless `email` is given */
    contactId?: string | null | undefined
    /** The address of the contact; one that the account does not know becomes a contact on no list */
    email?: string | null | undefined
    /** Data of your own, which conditions and templates see as `event` and `trigger`; at most 16 KiB as JSON. Whole numbers beyond ±9007199254740991 (2^53 - 1) are a 422, as JSON readers change their digits: send them as text */
    payload?: object | null | undefined
    /** When the event happened; default: now. One that is older than 24 hours starts nothing, a time more than 5 minutes ahead is a 422 */
    occurredAt?: string | Date | null | undefined
    /** Like the header `Idempotency-Key`, but for this event only */
    idempotencyKey?: string | null | undefined
  }[]
}

/** Other fields are refused, because a limit whose name is misspelt would limit nothing. */
export interface NewKey {
  /** The name of the key, for yourself */
  name: string
  /** What the key may do. `full`: everything; `sending`: send mail, look at one by its id, cancel a scheduled one; `read`: all that changes nothing; default: `full` */
  scope?: 'full' | 'sending' | 'read' | null | undefined
  domains?: 'any' | readonly string[] | null | undefined
  networks?: 'any' | readonly string[] | null | undefined
  expiresAt?: 'never' | string | Date | null | undefined
}

/** Who goes through it, and what happens meanwhile. */
export interface NewSimulation {
  /** The address of a contact of the account, or any other; this or `listId` */
  email?: string | null | undefined
  /** A contact list: the 100 contacts who came to it last go through, and the answer has only counts */
  listId?: string | null | undefined
  /** The payload of the event that starts it */
  payload?: object | null | undefined
  /** When that event comes; default: now */
  at?: string | Date | null | undefined
  /** What else happens to the contact */
  events?: readonly {
    /** The name of the event */
    event: string
    /** When the event comes; this or `after` */
    at?: string | Date | null | undefined
    /** How long after the beginning it comes: `P2D`, `2d`, `90m` */
    after?: string | null | undefined
    /** The payload of the event */
    payload?: object | null | undefined
  }[] | null | undefined
  /** How long after it was sent the mail of a step is opened, by the key of the step */
  opens?: Record<string, string> | null | undefined
  /** How long after it was sent the mail of a step is clicked, by the key of the step */
  clicks?: Record<string, string> | null | undefined
  /** When the simulation ends; default: a year after its beginning */
  until?: string | Date | null | undefined
  steps?: readonly {
    /** The name of the step in this automation */
    key: string
    /** What the step does */
    type: 'trigger' | 'send_email' | 'delay' | 'wait_for_event' | 'condition' | 'contact_update' | 'split' | 'webhook' | 'exit'
    /** The settings of the step, which depend on `type` */
    config?: object | null | undefined
  }[] | null | undefined
  connections?: readonly {
    /** The key of the step that it leaves */
    from: string
    /** The key of the step that it leads to */
    to: string
    /** By which result of the step it leaves; `default` where there is only one */
    type: 'default' | 'condition_met' | 'condition_not_met' | 'event_received' | 'timeout' | 'branch'
    /** The key of the branch, only with the type `branch` */
    branch?: string | null | undefined
  }[] | null | undefined
  /** Settings of the whole automation: `exitOn` [{ eventName, filter? }] ends a run wherever it is; `goal` { eventName, filter?, to? }; `timeZone`; `sendWindow` { from, to, days?, zone? }; `maxPerHour`; `onUnsubscribe` (`continue` where all mail is transactional) */
  settings?: object | null | undefined
}

export interface NewSuppression {
  /** The address: `a@b` or `Name <a@b>` */
  email: string
  /** Why the address must not be mailed; default: `manual` */
  reason?: 'unsubscribe' | 'bounce' | 'complaint' | 'manual' | null | undefined
  /** What is blocked; default: `marketing` for `unsubscribe`, else `all` */
  scope?: 'all' | 'marketing' | null | undefined
  /** A note of your own, such as who asked for it */
  detail?: string | null | undefined
}

export interface NewSuppressions {
  suppressions: readonly {
    /** The address: `a@b` or `Name <a@b>` */
    email: string
    /** Why the address must not be mailed; default: `manual` */
    reason?: 'unsubscribe' | 'bounce' | 'complaint' | 'manual' | null | undefined
    /** What is blocked; default: `marketing` for `unsubscribe`, else `all` */
    scope?: 'all' | 'marketing' | null | undefined
    /** A note of your own, such as who asked for it */
    detail?: string | null | undefined
  }[]
}

export interface NewTemplate {
  /** The name by which mails ask for the template */
  slug: string
  /** The subject, in Liquid */
  subject: string
  /** The HTML, in Liquid; at most 256 KiB. Marketing mail also has `unsubscribe_url`, `preferences_url` and `unsubscribe_footer` (see campaigns). In an `href` a tag may be percent-encoded */
  html: string
  /** The text part, in Liquid; at most 256 KiB. Without it the text is made from the HTML */
  textBody?: string | null | undefined
}

export interface NewTopic {
  /** The name, which recipients see; unique within the account, whatever its case */
  name: string
  /** What the topic is about, which recipients see */
  description?: string | null | undefined
  /** The place in the preference centre: lower numbers come first; default: 0 */
  position?: number | null | undefined
}

export interface NewWebhook {
  /** The URL to POST events to: HTTPS, at a public address unless the operator allows others */
  url: string
  /** The events to send; default: all */
  events?: readonly ('email.sent' | 'email.delivered' | 'email.bounced' | 'email.complained' | 'email.failed' | 'email.opened' | 'email.clicked')[] | null | undefined
}

export interface NotFound {
  /** Resource or URL does not exist; 405: it does not know the method */
  code: 'not_found'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

/** See https://spec.openapis.org/oas/v3.1.0.html */
export interface OpenApi {
  openapi: string
  /** Title and version */
  info: Record<string, unknown>
  /** The operations, by path and method */
  paths: Record<string, unknown>
}

export interface OptOuts {
  topic: {
    /** The id that the request named */
    id: string
    /** The name, which recipients see; unique within the account, whatever its case */
    name: string
  }
  optOuts: {
    /** The address of the recipient */
    email: string
    /** The contact's first and last name; null when it is not known */
    name: string | null
    /** When the recipient left the topic */
    optedOutAt: string
  }[]
}

export interface Plan {
  /** The id of the plan, which stays the same when the plan is renamed */
  id: string
  /** The name of the plan, as people see it */
  name: string
  /** How many mails a calendar month (UTC) allows; 0 together with `unlimited` */
  monthlyLimit: number
  /** True on plans without any limit, absent on others */
  unlimited?: true
  /** The price of a month in Naira; 0 if the plan is free */
  priceNaira: number
  /** The code of the plan at the payment provider; null on plans that cost nothing */
  paymentProviderPlanCode: string | null
  /** How many days mails stay in the log */
  retentionDays: number
  /** What the plan includes, in words for people */
  features: string[]
}

export interface PlanLimitExceeded {
  /** 403: a cap of the plan (contacts, domains, API keys, team members) or a feature that it lacks; 402: its monthly volume */
  code: 'plan_limit_exceeded'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface Plans {
  plans: Plan[]
}

export interface RateLimitExceeded {
  /** Request rate exceeded; clears in seconds */
  code: 'rate_limit_exceeded'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface RenderedTemplate {
  /** The subject, filled in */
  subject: string
  /** The HTML, filled in */
  html: string
  /** The text part, filled in; null where it is made from the HTML */
  text: string | null
}

export interface RunState {
  /** The id that the request named */
  id: string
  /** The status of the run, `cancelled` */
  status: string
  /** What was done, in words for people, which may change */
  message: string
}

/** Exactly one of `html` and `template`. Unknown fields are ignored, but those that other mail APIs know and that would change what is sent are a 422. */
export type Send = {
  /** The sender, on a verified domain: `email@domain` or `Name <email@domain>` */
  from: string
  /** The recipients, who see each other. An address that is there twice, also in `cc` or `bcc`, is mailed once; all three fields have at most 50 together */
  to: string | readonly string[]
  cc?: string | readonly string[] | null | undefined
  bcc?: string | readonly string[] | null | undefined
  /** The values of the variables of the template; those that it uses only within `if`, `unless` and `case` may be missing; at most 256 KiB as JSON. Whole numbers beyond ±9007199254740991 (2^53 - 1) are a 422, as JSON readers change their digits: send them as text */
  variables?: object | null | undefined
  /** The text part, made from the HTML if absent. Beside a template it is Liquid too, at most 256 KiB; a template that has a text part wins */
  text?: string | null | undefined
  replyTo?: string | readonly string[] | null | undefined
  /** Header fields of your own, at most 25 with 4 KiB each and 16 KiB together; signed with DKIM. In-Reply-To and References stay as they are, other text that is not ASCII is encoded (RFC 2047). Those that Posthorn or the servers on the way write are a 422: From, To, Cc, Bcc, Reply-To, Subject, Date, Sender, Message-ID, MIME-Version, Content-*, List-Unsubscribe*, List-Id, Return-Path, Received, DKIM-*, ARC-*, Authentication-Results, Resent-*, CFBL-*, X-Posthorn-*. Mail of campaigns and automations has a Feedback-ID, in whose place one of yours stands */
  headers?: Record<string, string> | null | undefined
  /** Tags of your own, to find mails by (`GET /v1/emails?tag=name:value`); also in webhooks. Each name once */
  tags?: readonly TagInput[] | null | undefined
  /** When to send it: ISO 8601, in the future and at most 90 days ahead; UTC if it has no zone */
  scheduledAt?: string | Date | null | undefined
  /** Default: `transactional`. Marketing mail needs a marketing plan, honours unsubscribes and carries the means to unsubscribe (RFC 8058) */
  type?: 'transactional' | 'marketing' | null | undefined
  /** The topic, only for `marketing` mail: unsubscribing is then from this topic only */
  topicId?: string | null | undefined
  /** Files that go with the mail: at most 10 MiB together as they are (not in base64) and 50 of them, unless the operator says otherwise. Large receivers refuse programs and scripts (`.exe`, `.js`, also in archives): Posthorn sends them, the refusal is in `recipients` */
  attachments?: readonly Attachment[] | null | undefined
  /** Data of your own, kept with the email and given back; at most 16 KiB as JSON. Whole numbers beyond ±9007199254740991 (2^53 - 1) are a 422, as JSON readers change their digits: send them as text */
  metadata?: object | null | undefined
} & ({
  /** The HTML, at most 2 MiB */
  html: string
  /** The subject: needed with `html`; with `template` it is Liquid and takes the place of the template's; at most 998 bytes, no control characters */
  subject: string
  template?: null | undefined
} | {
  /** The slug of a saved template */
  template: string
  /** The subject: needed with `html`; with `template` it is Liquid and takes the place of the template's; at most 998 bytes, no control characters */
  subject?: string | null | undefined
  html?: null | undefined
})

export interface SendingPaused {
  /** 403: marketing is paused, transactional mail is unaffected; 503: all sending is paused. An operator has to clear it: do not retry */
  code: 'account_paused'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  reason: 'bounce' | 'complaint' | (string & {})
}

export interface ServiceUnavailable {
  /** Server-side, usually brief; retry after `Retry-After` */
  code: 'service_unavailable'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface Simulation {
  /** The id that the request named */
  automationId: string
  /** The version that was simulated; null when the request gave steps of its own */
  version: number | null
  lines: {
    /** When this happens */
    at: string
    /** The run that the line belongs to, counted from 0 */
    run: number
    /** The key of the step; null where lines were left out */
    step: string | null
    /** The type of the step; null where lines were left out */
    type: string | null
    /** What came of the step, as in the history of a run */
    result: string
    /** What a condition compared, and how it came out */
    why?: Record<string, unknown>
    event?: {
      /** The name of the event that a wait received */
      name: string
      /** When the event came */
      at: string
      /** The payload of the event */
      payload: unknown
    }
    /** The mail of a send step; only for the first 20 of them */
    mail?: {
      /** The slug of the template */
      template: string
      /** The sender */
      from: string
      /** The subject, as it would be sent */
      subject: string
      /** The HTML, as it would be sent */
      html: string
      /** The text part; null: it is made of the HTML */
      text: string | null
    } | {
      /** The slug of the template */
      template: string
      /** The sender */
      from: string
      /** Why the template cannot be filled in */
      fault: string
    }
    /** What would keep the mail from being made as things stand now */
    stoppedBy?: string
  }[]
  runs: {
    /** When the run began */
    startedAt: string
    /** When the run ended; null: it is still under way */
    endedAt: string | null
    /** `running` and `waiting` are under way, the others have ended */
    status: 'running' | 'waiting' | 'completed' | 'exited' | 'failed' | 'cancelled' | (string & {})
    /** Why the run ended; null where there is nothing to say */
    reason: string | null
    /** The key of the step where it is still under way; null when it has ended */
    currentStep: string | null
  }[]
  /** Events that could have started a run, but did not */
  refused: {
    /** When the event came */
    at: string
    /** Why no run began, such as `already_running` */
    reason: string
  }[]
  /** True: there were more than some 5,000 lines, and only these are told */
  cut: boolean
}

export interface Stats {
  /** The first day, UTC */
  from: string
  /** The last day, UTC, included */
  to: string
  /** What the groups are made by, as the request asked */
  groupBy: ('day' | 'domain' | 'provider' | 'tag' | 'broadcast' | 'type' | (string & {}))[]
  /** False for a while after an update, until the log of before is counted */
  upToDate: boolean
  total: StatsFigures
  /** The groups: by day, then the largest first; `other` after them */
  groups: StatsGroup[]
}

export interface StatsFigures {
  /** Accepted mails, on the day of acceptance; null where figures are of a provider */
  mails: number | null
  /** Recipients of accepted mails, on the day of acceptance; null where figures are of a provider, which is known only later */
  accepted: number | null
  /** Recipients who were not mailed because they were on the suppression list, at acceptance or later */
  suppressed: number
  /** Recipients whose server has decided for the first time: delivered, relayed or bounced */
  answered: number
  /** Recipients whose server has taken the mail, or whose mail was reported to have arrived */
  delivered: number
  /** Recipients whose mail a smart host has taken */
  relayed: number
  /** Recipients who were refused for good, at once or by a report after the delivery */
  bouncedHard: number
  /** Recipients who were refused for a reason that may pass */
  bouncedSoft: number
  /** Recipients who were given up: no server has decided in time, or the mail could not be sent */
  failed: number
  /** How often delivery to a recipient was put off */
  deferred: number
  /** Complaints of which it is proved that a feedback loop sent them */
  complained: number
  /** Complaints of which that is not proved */
  complainedUnproved: number
  /** Recipients who left all marketing mail, or a topic, by a mail */
  unsubscribed: number
  /** Opens by people: one for each event `opened`. A mail’s `opensCount` also counts what has no event: the same request twice in a millisecond, and more than 30 of one copy in an hour */
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
    /** `delivered` divided by `answered`, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0 */
    delivery: number | null
    /** `bouncedHard` and `bouncedSoft`, divided by `answered`, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0 */
    bounce: number | null
    /** `complained` divided by `delivered` and `relayed`, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0 */
    complaint: number | null
    /** `unsubscribed` divided by `delivered` and `relayed`, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0 */
    unsubscribe: number | null
    /** `openedUnique` divided by `delivered` and `relayed`, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0 */
    open: number | null
    /** `clickedUnique` divided by `delivered` and `relayed`, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0 */
    click: number | null
  }
}

export interface StatsGroup {
  /** The day, UTC */
  day?: string
  /** The sending domain; null for mail that was deleted before it was counted */
  domain?: string | null
  /** The name of the recipient's mailbox provider, or else the recipient's domain */
  provider?: string | null
  tag?: {
    /** The name of the tag */
    name: string
    /** The value of the tag */
    value: string
  } | null
  /** The campaign; null for mail of no campaign */
  broadcastId?: string | null
  type?: 'transactional' | 'marketing' | null | (string & {})
  /** True: all groups beyond `limit` together; but for the day, what it is grouped by is null */
  other: boolean
  /** Accepted mails, on the day of acceptance; null where figures are of a provider */
  mails: number | null
  /** Recipients of accepted mails, on the day of acceptance; null where figures are of a provider, which is known only later */
  accepted: number | null
  /** Recipients who were not mailed because they were on the suppression list, at acceptance or later */
  suppressed: number
  /** Recipients whose server has decided for the first time: delivered, relayed or bounced */
  answered: number
  /** Recipients whose server has taken the mail, or whose mail was reported to have arrived */
  delivered: number
  /** Recipients whose mail a smart host has taken */
  relayed: number
  /** Recipients who were refused for good, at once or by a report after the delivery */
  bouncedHard: number
  /** Recipients who were refused for a reason that may pass */
  bouncedSoft: number
  /** Recipients who were given up: no server has decided in time, or the mail could not be sent */
  failed: number
  /** How often delivery to a recipient was put off */
  deferred: number
  /** Complaints of which it is proved that a feedback loop sent them */
  complained: number
  /** Complaints of which that is not proved */
  complainedUnproved: number
  /** Recipients who left all marketing mail, or a topic, by a mail */
  unsubscribed: number
  /** Opens by people: one for each event `opened`. A mail’s `opensCount` also counts what has no event: the same request twice in a millisecond, and more than 30 of one copy in an hour */
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
    /** `delivered` divided by `answered`, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0 */
    delivery: number | null
    /** `bouncedHard` and `bouncedSoft`, divided by `answered`, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0 */
    bounce: number | null
    /** `complained` divided by `delivered` and `relayed`, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0 */
    complaint: number | null
    /** `unsubscribed` divided by `delivered` and `relayed`, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0 */
    unsubscribe: number | null
    /** `openedUnique` divided by `delivered` and `relayed`, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0 */
    open: number | null
    /** `clickedUnique` divided by `delivered` and `relayed`, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0 */
    click: number | null
  }
}

export interface SubscriptionExpired {
  /** Subscription ended and grace is over */
  code: 'subscription_expired'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface SubscriptionPastDue {
  /** Renewal failed: sending goes on, but nothing can be added until it is paid */
  code: 'subscription_past_due'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface SuppressedAddress {
  /** The address in lower case */
  email: string
  /** What is not sent to it, all mail or marketing mail; null: everything is sent */
  blocks: 'all' | 'marketing' | null | (string & {})
  suppressions: Suppression[]
  /** How the address came in, what it left, and who took that back; the last 200 */
  history: {
    /** When it happened */
    at: string
    /** What happened */
    kind: string
    /** What else is known: who did it, and which mail it came from */
    detail: Record<string, unknown>
  }[]
}

export interface Suppression {
  /** The address in lower case */
  email: string
  /** Why the address must not be mailed */
  reason: 'unsubscribe' | 'bounce' | 'complaint' | 'manual' | (string & {})
  /** What is blocked: all mail, or marketing mail only */
  scope: 'all' | 'marketing' | (string & {})
  /** The mail that led to it; null: none did */
  emailId: string | null
  /** A note, or what the recipient's server said; null: none */
  detail: string | null
  /** Since when the address is suppressed */
  createdAt: string
  /** When the record ends by itself; null: it does not */
  expiresAt: string | null
}

export interface SuppressionRemoved {
  /** The address in lower case */
  email: string
  /** How many records were removed */
  removed: number
  /** What was done, in words for people, which may change */
  message: string
}

export interface Suppressions {
  suppressions: Suppression[]
  /** Whether there is another page */
  hasMore: boolean
  /** The `cursor` of the next page; null on the last page */
  nextCursor: string | null
}

export interface SuppressionsImported {
  /** How many records are new */
  added: number
  /** How many records were there already */
  known: number
  refused: {
    /** The place of the item in `suppressions`, from 0 */
    index: number
    /** What is wrong with it */
    error: string
  }[]
}

/** A tag: a name and a value. Each name once in a mail */
export interface TagInput {
  /** The name: 1 to 64 of A-Z, a-z, 0-9, `_` and `-` */
  name: string
  /** The value: 1 to 256 of these and `.:@/+=` */
  value: string
}

/** A tag: a name and a value. Each name once in a mail */
export interface Tag {
  /** The name: 1 to 64 of A-Z, a-z, 0-9, `_` and `-` */
  name: string
  /** The value: 1 to 256 of these and `.:@/+=` */
  value: string
}

export interface Template {
  /** The name by which mails ask for the template; case-sensitive */
  slug: string
  /** The number of the version; each save makes the next one */
  version: number
  /** The subject, in Liquid */
  subject: string
  /** The HTML, in Liquid; at most 256 KiB. Marketing mail also has `unsubscribe_url`, `preferences_url` and `unsubscribe_footer` (see campaigns). In an `href` a tag may be percent-encoded */
  html: string
  /** The text part, in Liquid; at most 256 KiB. Without it the text is made from the HTML */
  textBody: string | null
  /** When this version was saved */
  savedAt: string
}

/** At least one field; those that are not given stay as they are. */
export interface TemplateChanges {
  /** The subject, in Liquid */
  subject?: string | null | undefined
  /** The HTML, in Liquid; at most 256 KiB. Marketing mail also has `unsubscribe_url`, `preferences_url` and `unsubscribe_footer` (see campaigns). In an `href` a tag may be percent-encoded */
  html?: string | null | undefined
  /** An empty one takes it away: the text is then made from the HTML */
  textBody?: string | null | undefined
}

export interface TemplateDeleted {
  /** The name by which mails ask for the template; case-sensitive */
  slug: string
  deleted: true
  /** What was done, in words for people, which may change */
  message: string
}

export interface TemplateSaved {
  /** The name by which mails ask for the template; case-sensitive */
  slug: string
  /** The number of the version; each save makes the next one */
  version: number
  /** The subject, in Liquid */
  subject: string
  /** The HTML, in Liquid; at most 256 KiB. Marketing mail also has `unsubscribe_url`, `preferences_url` and `unsubscribe_footer` (see campaigns). In an `href` a tag may be percent-encoded */
  html: string
  /** The text part, in Liquid; at most 256 KiB. Without it the text is made from the HTML */
  textBody: string | null
  /** When this version was saved */
  savedAt: string
  /** Automations that are enabled or have live runs, whose next mails are made of this template */
  automations: {
    /** The id of the automation */
    id: string
    /** The name of the automation */
    name: string
    /** How many live runs have steps that send it */
    liveRuns: number
    /** Variables that the template needs and a send step does not know */
    warnings: {
      /** The key of the step */
      key: string
      /** What is wrong there */
      error: string
    }[]
  }[]
}

export interface TemplateVariables {
  /** The values that it is filled in with; at most 256 KiB as JSON. Whole numbers beyond ±9007199254740991 (2^53 - 1) are a 422, as JSON readers change their digits: send them as text */
  variables?: object | null | undefined
  /** A subject in Liquid, in place of the template's */
  subject?: string | null | undefined
  /** An older version; default: the newest */
  version?: number | null | undefined
}

export interface TemplateVersions {
  versions: {
    /** The number of the version; each save makes the next one */
    version: number
    /** The subject, in Liquid */
    subject: string
    /** When this version was saved */
    savedAt: string
  }[]
  /** Whether there is another page */
  hasMore: boolean
  /** The `cursor` of the next page; null on the last page */
  nextCursor: string | null
}

export interface Templates {
  templates: {
    /** The name by which mails ask for the template; case-sensitive */
    slug: string
    /** The number of the version; each save makes the next one */
    version: number
    /** The subject, in Liquid */
    subject: string
    /** When its first version was saved */
    createdAt: string
    /** When this version was saved */
    savedAt: string
  }[]
  /** Whether there is another page */
  hasMore: boolean
  /** The `cursor` of the next page; null on the last page */
  nextCursor: string | null
}

/** The campaign, and whom to send it to. Unknown fields are ignored, but those that other mail APIs know and that would change what is sent are a 422. */
export interface TestBroadcast {
  /** The contact list that it goes to */
  listId: string
  /** The sender, on a verified domain of the account */
  from: string
  /** The subject, at most 200 characters; merge tags as in the HTML, but those of links. One that is empty for somebody of whom nothing is known is a 422 */
  subject: string
  /** The content in Liquid, at most 2 MiB. Merge tags: `{{firstName}}`, `{{lastName}}`, `{{email}}` and what is in the metadata; an empty one renders as nothing, or as `| default: "there"` says. `{{ unsubscribe_url }}` and `{{ preferences_url }}` are the recipient's own links, `{{ unsubscribe_footer }}` places the footer: without it the footer is at the end, and it is left out where a link of yours leads to `{{ unsubscribe_url }}`. In an `href` a tag may be percent-encoded (`%7B%7B`). The text part is made from it. */
  html: string
  /** The topic: whoever has left it gets nothing, and unsubscribing is from this topic only */
  topicId?: string | null | undefined
  /** A name for yourself, which recipients never see */
  name?: string | null | undefined
  replyTo?: string | readonly string[] | null | undefined
  /** Header fields of your own, at most 25 with 4 KiB each and 16 KiB together; signed with DKIM. In-Reply-To and References stay as they are, other text that is not ASCII is encoded (RFC 2047). Those that Posthorn or the servers on the way write are a 422: From, To, Cc, Bcc, Reply-To, Subject, Date, Sender, Message-ID, MIME-Version, Content-*, List-Unsubscribe*, List-Id, Return-Path, Received, DKIM-*, ARC-*, Authentication-Results, Resent-*, CFBL-*, X-Posthorn-*. Mail of campaigns and automations has a Feedback-ID, in whose place one of yours stands */
  headers?: Record<string, string> | null | undefined
  /** Tags of your own, to find mails by (`GET /v1/emails?tag=name:value`); also in webhooks. Each name once */
  tags?: readonly TagInput[] | null | undefined
  /** Files that go with the mail: at most 10 MiB together as they are (not in base64) and 50 of them, unless the operator says otherwise. Large receivers refuse programs and scripts (`.exe`, `.js`, also in archives): Posthorn sends them, the refusal is in `recipients` */
  attachments?: readonly Attachment[] | null | undefined
  /** When to dispatch it: ISO 8601, in the future, however far ahead; UTC if it has no zone */
  scheduledAt?: string | Date | null | undefined
  /** The mailbox that gets the test: of an active team member, or one on a verified domain of the account */
  to: string
}

export interface TestSent {
  /** The id of the test mail; `GET /v1/emails/:id` tells what became of it */
  id: string
  /** What was done, in words for people, which may change */
  message: string
}

export interface TooLarge {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** How many bytes a body may have */
  max: number
}

export interface TooManyRecipients {
  /** Invalid request; the message names the field */
  code: 'validation_error'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
  /** How many were given */
  count: number
  /** How many may be given */
  max: number
}

export interface Topic {
  /** The id of the topic, which never changes */
  id: string
  /** The name, which recipients see; unique within the account, whatever its case */
  name: string
  /** What the topic is about, which recipients see */
  description: string
  /** The place in the preference centre: lower numbers come first */
  position: number
  /** True: nothing can be sent on it, and the preference centre does not show it */
  archived: boolean
  /** How many recipients have left it */
  optedOut: number
  /** When the topic was made */
  createdAt: string
}

export interface TopicArchived {
  /** What was done, in words for people, which may change */
  message: string
}

/** Fields that are not given stay as they are. */
export interface TopicChanges {
  /** The name, which recipients see; unique within the account, whatever its case */
  name?: string | null | undefined
  /** What the topic is about, which recipients see */
  description?: string | null | undefined
  /** The place in the preference centre: lower numbers come first */
  position?: number | null | undefined
  /** True archives the topic, false restores it */
  archived?: boolean | null | undefined
}

export interface TopicCreated {
  /** The id of the topic, for `topicId` */
  id: string
  /** The name, which recipients see; unique within the account, whatever its case */
  name: string
  /** What was done, in words for people, which may change */
  message: string
}

export interface Topics {
  topics: Topic[]
}

export interface UnsupportedMediaType {
  /** File or body type not accepted by the endpoint */
  code: 'unsupported_media_type'
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

/** At least one of `to` and `phoneNumber`; `to` wins. Unknown fields are ignored, but those that other mail APIs know and that would change what is sent are a 422. */
export type Ussd = {
  /** The sender, on a verified domain: `email@domain` or `Name <email@domain>` */
  from: string
  /** The subject, as the recipient sees it; at most 998 bytes, no control characters */
  subject: string
  /** The HTML, at most 2 MiB */
  html: string
  /** The text part, made from the HTML if absent */
  text?: string | null | undefined
  replyTo?: string | readonly string[] | null | undefined
  /** Data of your own, kept with the email and given back; at most 16 KiB as JSON. Whole numbers beyond ±9007199254740991 (2^53 - 1) are a 422, as JSON readers change their digits: send them as text */
  metadata?: object | null | undefined
} & ({
  /** An address: `email@domain` or `Name <email@domain>` */
  to: string
  phoneNumber?: null | undefined
} | {
  /** The phone number of the recipient in any notation, looked up among all contacts of the account */
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
  /** What is wrong, in words for people. They may change: branch on `code` */
  error: string
}

export interface Webhook {
  /** The id of the endpoint, which never changes */
  id: string
  /** The URL that events are POSTed to */
  url: string
  /** The events that are sent to it */
  events: string[]
  /** False: nothing is sent to it, and what comes is set aside for a replay */
  enabled: boolean
  /** How many events in a row were given up after their last attempt; from 30 on, and after 24 hours of failing, it is disabled */
  failures: number
  /** When the first of them was given up; null: there are none */
  failingSince: string | null
  /** How many events are kept that did not arrive, which a replay sends; 10000 stands for as many and more */
  notArrived: number
  /** How many events came while it was disabled and were not kept, as 64 MiB were set aside for it */
  eventsNotKept: number
  /** When it was disabled; null when it is enabled */
  disabledAt: string | null
  /** Who disabled it, or which failures did; null when it is enabled */
  disabledBecause: string | null
  /** Until when the secret before the last rotation signs too; null: none does */
  oldSecretUntil: string | null
  /** When the endpoint was added */
  createdAt: string
}

/** At least one field; those that are not given stay as they are. */
export interface WebhookChanges {
  /** The URL to POST events to: HTTPS, at a public address unless the operator allows others */
  url?: string | null | undefined
  /** The events that are sent to it */
  events?: readonly ('email.sent' | 'email.delivered' | 'email.bounced' | 'email.complained' | 'email.failed' | 'email.opened' | 'email.clicked')[] | null | undefined
  /** False: nothing is sent to it, and what comes is set aside for a replay */
  enabled?: boolean | null | undefined
}

export interface WebhookCreated {
  /** The id of the endpoint, which never changes */
  id: string
  /** The URL that events are POSTed to */
  url: string
  /** The events that are sent to it */
  events: string[]
  /** False: nothing is sent to it, and what comes is set aside for a replay */
  enabled: boolean
  /** How many events in a row were given up after their last attempt; from 30 on, and after 24 hours of failing, it is disabled */
  failures: number
  /** When the first of them was given up; null: there are none */
  failingSince: string | null
  /** How many events are kept that did not arrive, which a replay sends; 10000 stands for as many and more */
  notArrived: number
  /** How many events came while it was disabled and were not kept, as 64 MiB were set aside for it */
  eventsNotKept: number
  /** When it was disabled; null when it is enabled */
  disabledAt: string | null
  /** Who disabled it, or which failures did; null when it is enabled */
  disabledBecause: string | null
  /** Until when the secret before the last rotation signs too; null: none does */
  oldSecretUntil: string | null
  /** When the endpoint was added */
  createdAt: string
  /** The secret, shown only this once; null in a repeat with the same Idempotency-Key */
  secret: string | null
}

export interface WebhookDeleted {
  /** The id that the request named */
  id: string
  deleted: true
  /** What was done, in words for people, which may change */
  message: string
}

export interface WebhookDeliveries {
  deliveries: {
    /** The number of the delivery */
    id: number
    /** The name of the event */
    event: string
    /** The id of the mail, or of what else the event is about */
    subjectId: string
    /** `failed`: not taken at the last attempt. `dropped`: set aside as the endpoint was disabled */
    state: 'waiting' | 'delivered' | 'failed' | 'dropped' | (string & {})
    /** How many attempts were made so far */
    attempts: number
    /** The HTTP status of the answer to the last attempt; null: there was none */
    status: number | null
    /** The beginning of the body of that answer; null: there was none */
    response: string | null
    /** Why it was not taken; null when it was, or was not tried yet */
    error: string | null
    /** The body that was sent, or is to be sent */
    payload: unknown
    /** When the delivery was queued */
    createdAt: string
    /** When the last attempt was made, or it was set aside; null before */
    lastAttemptAt: string | null
    /** When the next attempt is due; null when it has ended */
    nextAttemptAt: string | null
    /** When it ended; null while it waits */
    endedAt: string | null
  }[]
  /** Whether there is another page */
  hasMore: boolean
  /** The `cursor` of the next page; null on the last page */
  nextCursor: string | null
}

export interface WebhookPayload {
  /** The name of the event */
  event: 'email.sent' | 'email.delivered' | 'email.bounced' | 'email.complained' | 'email.failed' | 'email.opened' | 'email.clicked' | (string & {})
  /** The id of the mail */
  emailId: string
  /** The addresses that the event is about */
  to: string[]
  /** All addresses of `cc`; absent for mails without */
  cc?: string[]
  /** All addresses of `bcc`, which no recipient sees; absent for mails without */
  bcc?: string[]
  /** The tags; absent without any */
  tags?: Tag[]
  /** The subject of the mail */
  subject: string
  /** The name of the event without `email.` */
  status: string
  /** When it happened; the same at every attempt */
  timestamp: string
  /** The Message-ID of the mail; absent on `email.opened` and `email.clicked` */
  messageId?: string
  /** Only on `email.bounced`; `Permanent` suppresses the address */
  bounceReason?: 'Permanent' | 'Transient' | (string & {})
  /** The id of the sending domain; absent when it is deleted */
  domainId?: string
  /** The name of the sending domain; absent when it is deleted */
  domain?: string
}

export interface WebhookReplay {
  /** The number of the first delivery */
  from: number
  /** The number of the last one */
  to: number
  /** True: only deliveries that did not arrive; default: false */
  failedOnly?: boolean | null | undefined
}

export interface WebhookRotation {
  /** How many seconds the secret before it signs too; default: 86,400, a day */
  overlapSeconds?: number | null | undefined
}

export interface WebhookSecret {
  /** The id that the request named */
  id: string
  /** The secret, shown only this once; null in a repeat with the same Idempotency-Key */
  secret: string | null
  /** Until when the secret before the last rotation signs too; null: none does */
  oldSecretUntil: string | null
}

export interface WebhookTrial {
  /** Whether the endpoint answered 2xx */
  taken: boolean
  /** The HTTP status of its answer; null: there was none */
  status: number | null
  /** The beginning of the body of its answer; null: there was none */
  response: string | null
  /** Why it was not taken; null when it was */
  error: string | null
  /** How many milliseconds it took */
  tookMs: number
  payload: WebhookPayload
}

export interface Webhooks {
  webhooks: Webhook[]
}

export interface WebhooksQueued {
  /** How many deliveries are queued again; those that wait for an attempt already are not counted */
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
