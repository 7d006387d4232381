import type { ColumnType, Generated, Kysely } from 'kysely'

export type Read = Kysely<Tables>

/**
 * The tables' types, in one place. Times are integer milliseconds UTC, booleans 0 or 1,
 * JSON is text that its owner parses, ids are UUIDv7 except `queue.id`, `deliveries.id` and
 * `sandbox_messages.id` (`ids.ts`).
 */
export interface Tables {
  appliance: ApplianceRow
  releases: ReleaseRow
  accounts: AccountRow
  account_logos: AccountLogoRow
  api_keys: ApiKeyRow
  domains: DomainRow
  dkim_keys: DkimKeyRow
  bodies: BodyRow
  contents: ContentRow
  stored_bytes: StoredBytesRow
  content_pieces: ContentPieceRow
  emails: EmailRow
  email_tags: EmailTagRow
  recipient_entries: RecipientEntryRow
  recipient_index: RecipientIndexRow
  raw_messages: RawMessageRow
  submission_sessions: SubmissionSessionRow
  queue: QueueRow
  deliveries: DeliveryRow
  idempotency_keys: IdempotencyKeyRow
  sandbox_messages: SandboxMessageRow
  templates: TemplateRow
  template_versions: TemplateVersionRow
  sandbox_sources: SandboxSourceRow
  subscriptions: SubscriptionRow
  usage: UsageRow
  suppressions: SuppressionRow
  soft_bounces: SoftBounceRow
  contacts: ContactRow
  contact_lists: ContactListRow
  list_members: ListMemberRow
  contact_totals: ContactTotalRow
  contact_imports: ContactImportRow
  consent: ConsentRow
  topics: TopicRow
  topic_opt_outs: TopicOptOutRow
  sources: SourceRow
  site_states: SiteStateRow
  mta_sts: MtaStsRow
  tls_sessions: TlsSessionsRow
  acme_accounts: AcmeAccountRow
  certificates: CertificateRow
  certificate_orders: CertificateOrderRow
  tls_reports: TlsReportRow
  tls_report_posts: TlsReportPostRow
  dmarc_reports: DmarcReportRow
  dmarc_sources: DmarcSourceRow
  dmarc_hosts: DmarcHostRow
  tls_reports_received: ReceivedTlsReportRow
  events: EventRow
  protection: ProtectionRow
  protection_hours: ProtectionHourRow
  protection_providers: ProtectionProviderRow
  protection_addresses: ProtectionAddressRow
  protection_audit: ProtectionAuditRow
  egress: EgressRow
  egress_unreached: EgressUnreachedRow
  inbound_spool: InboundSpoolRow
  delivery_reports: DeliveryReportsRow
  operator_mails: OperatorMailRow
  operator_mail_sources: OperatorMailSourceRow
  webhook_endpoints: WebhookEndpointRow
  webhook_jobs: WebhookJobRow
  webhook_deliveries: WebhookDeliveryRow
  broadcasts: BroadcastRow
  broadcast_tests: BroadcastTestRow
  automations: AutomationRow
  automation_versions: AutomationVersionRow
  automation_steps: AutomationStepRow
  automation_triggers: AutomationTriggerRow
  automation_events: AutomationEventRow
  automation_live: AutomationLiveRow
  automation_runs: AutomationRunRow
  automation_entries: AutomationEntryRow
  automation_listens: AutomationListenRow
  automation_forgotten: AutomationForgottenRow
  automation_kept: AutomationKeptRow
  automation_backfills: AutomationBackfillRow
  automation_hours: AutomationHourRow
  email_merges: EmailMergeRow
  figures: FigureRow
  figure_cursors: FigureCursorsRow
  body_uses: BodyUseRow
  past_deliveries: PastDeliveryRow
  retention_state: RetentionStateRow
  retention_walks: RetentionWalkRow
  retention_waiting: RetentionWaitingRow
  notices: NoticeRow
  notice_mails: NoticeMailRow
  jobs: JobRow
  job_runs: JobRunRow
  doctor_findings: DoctorFindingRow
  record_checks: RecordCheckRow
  users: UserRow
  memberships: MembershipRow
  invitations: InvitationRow
  known_places: KnownPlaceRow
  sessions: SessionRow
  passkeys: PasskeyRow
  recovery_codes: RecoveryCodeRow
  entry_links: EntryLinkRow
  audit_log: AuditLogRow
  domain_looks: DomainLookRow
  deferred_transcripts: DeferredTranscriptRow
}

/** One row, of id 1. */
export interface ApplianceRow {
  id: number
  /** Derived from the appliance key that seals what is sealed here. */
  key_check: string
  /** When it was last seen that the running appliance can write; 0 before the first time. */
  alive_at: Generated<number>
  /** This is the copy of a backup made then, and nothing was started on it yet. */
  backup_made_at: Generated<number | null>
  /** When an appliance was last started on a backup's copy. */
  restored_at: Generated<number | null>
}

/** A release that has written this database, after the one of the row before. */
export interface ReleaseRow {
  id: Generated<number>
  version: string
  /** The name of the last migration that it knew. */
  migration: string
}

export interface AccountRow {
  id: string
  name: string
  created_at: number
  /** Null: as the settings say. */
  track_opens: number | null
  track_clicks: number | null
  /** Of what its recipients read; null: English. */
  language: string | null
}

export interface AccountLogoRow {
  account_id: string
  /** Random, for the address that recipients' browsers fetch it from. */
  public_id: string
  content_type: string
  bytes: Buffer
}

export interface ApiKeyRow {
  id: string
  account_id: string
  name: string
  /** SHA-256 of the whole key. */
  hash: Buffer
  last4: string
  created_at: number
  last_used_at: number | null
  deleted_at: number | null
  scope: 'full' | 'sending' | 'read'
  /** JSON: the sender domains and the networks that it is limited to; null for none. */
  domains: string | null
  networks: string | null
  expires_at: number | null
}

export interface DomainRow {
  id: string
  account_id: string
  /** A-label, lower case. */
  name: string
  status: 'pending' | 'verified'
  /** 1 when verified by the operator's word instead of the DNS. */
  trusted: number
  /** 1 when `bounce.<name>` has the MX and SPF records that make it this domain's return path. */
  return_path: number
  created_at: number
  verified_at: number | null
  checked_at: number | null
  /** Null: as the account has it. */
  track_opens: number | null
  track_clicks: number | null
  /** The host of its tracked links; used once the DNS was seen to lead it here (1). */
  tracking_host: string | null
  tracking_host_ready: number | null
}

export interface DkimKeyRow {
  id: string
  domain_id: string
  selector: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  /** PEM, sealed with the appliance key. */
  private_key: Buffer
  /** The `p=` value of the record. */
  public_key: string
  /** 1 once its record was seen in the DNS (or the domain is trusted): only then it signs. */
  verified: number
  created_at: number
}

/** What is written once and shared by all mails with the same content (a batch, a campaign). */
export interface BodyRow {
  id: Generated<number>
  html: string | null
  /** Null: made from the HTML when the message is composed. */
  text: string | null
  /** JSON, as `emails/` writes it: each of them is a use of its content. Null: none. */
  attachments: ColumnType<string | null, string | null | undefined, never>
}

/** Bytes of an account that its mails carry; their rows are `content_pieces`. */
export interface ContentRow {
  id: number
  account_id: string
  sha256: Buffer
  size_bytes: number
  /** How often rows of other tables name it; 0: it may be deleted. */
  uses: number
}

/** What an account stores for as long as it likes or its mails are kept; no row: nothing yet. */
export interface StoredBytesRow {
  account_id: string
  /** Of all its rows in `contents`. */
  contents: number
  /** Of all versions. */
  templates: number
  /** HTML of campaigns, drafts too. */
  campaigns: number
}

export interface ContentPieceRow {
  content_id: number
  /** From 0 on. */
  number: number
  bytes: Buffer
}

/** A message that a program wrote as a whole: its mail has no row in `bodies`. */
export interface RawMessageRow {
  email_id: string
  header: Buffer
  content_id: number
  body_bytes: number
  body_hash: string
  eight_bit: number
  smtp_utf8: number
  /** JSON, as `emails/` writes it. */
  parts: string | null
}

/** One session of the submission listeners, after its end. */
export interface SubmissionSessionRow {
  id: number
  account_id: string | null
  key_last4: string | null
  user: string | null
  listener: 'starttls' | 'tls' | 'plain'
  remote_address: string
  helo: string
  tls: string | null
  began_at: number
  ended_at: number
  accepted: number
  refused: number
  verdict: string
  email_ids: string
  transcript: string | null
}

export type EmailStatus =
  | 'queued'
  | 'scheduled'
  | 'sending'
  | 'sent'
  | 'delivered'
  | 'bounced'
  | 'failed'
  | 'cancelled'
  | 'suppressed'

/** The log: a row an accepted mail, kept long after the mail has left. */
export interface EmailRow {
  id: string
  account_id: string
  domain_id: string
  body_id: number | null
  /** As given: `a@b` or `Name <a@b>`. */
  from_header: string
  /** JSON array of the recipients as given, duplicates left out. */
  to_list: string
  reply_to: string | null
  subject: string
  type: 'transactional' | 'marketing'
  /** Only of marketing mail. */
  topic_id: string | null
  metadata: string | null
  status: EmailStatus
  message_id: string
  provider: 'primary' | 'failover'
  /** Deliveries by how they stand, so that the mail's status follows without counting rows. */
  waiting: number
  delivered: number
  /** Taken on by a smart host; each may become one of the others by a later report. */
  relayed: ColumnType<number, number | undefined, number>
  bounced: number
  failed: number
  opens: ColumnType<number, number | undefined, number>
  clicks: ColumnType<number, number | undefined, number>
  opened_at: number | null
  clicked_at: number | null
  scheduled_at: number | null
  sent_at: number | null
  created_at: number
  /** The campaign that it is of: then it has one recipient, and its body is that of all. */
  broadcast_id: ColumnType<string | null, string | null | undefined, never>
  /** The step of an automation that it is of: then it has one recipient, and a row in `email_merges`. */
  automation_step_id: ColumnType<number | null, number | null | undefined, never>
  /** The slug of the template that it was made from. */
  template: string | null
  /** JSON of `MailExtras`; null for most mails. Those of a campaign are in `broadcasts`. */
  extras: string | null
}

/** A recipient of a mail, where mails are found by them. */
export interface RecipientEntryRow {
  /** Since 1970, UTC, of the mail's id. */
  day: number
  /** A hash of account and address. */
  key: number
  email_id: string
}

/** One row. */
export interface RecipientIndexRow {
  /** The mail up to which all are entered; empty at first. */
  through: string
}

/** A tag of a mail, where mails are found by it. */
export interface EmailTagRow {
  account_id: string
  name: string
  value: string
  email_id: string
}

/** Transactional before automation before campaign. */
export const queueClass = { transactional: 0, automation: 1, campaign: 2 } as const
export type QueueClass = (typeof queueClass)[keyof typeof queueClass]

/**
 * The hot table: a row a delivery that is still waiting. It moves to `deliveries` when it ends.
 * While a thread holds it, `lease` is that thread's number and `due_at` is when the lease runs out,
 * so that no claim ever walks over rows that are in flight.
 */
export interface QueueRow {
  id: number
  email_id: string
  account_id: string
  recipient: string
  /** The lane: the recipient's domain as A-label, lower case. */
  lane: string
  class: QueueClass
  due_at: number
  lease: number | null
  attempts: number
  /** When it is given up (`failed`). */
  expires_at: number
  last_attempt_at: number | null
  last_reply: string | null
  last_transcript: string | null
  /** JSON of addresses, as `Claimed.putOffBy`. */
  put_off_by: Held<string>
  /** The source address that it was put off from; null: it may leave from any. */
  source: Held<string>
  /** Held back since then; `due_at` is `never` meanwhile, and `held_due_at` what it was. */
  held_at: Held<number>
  held_reason: Held<string>
  held_due_at: Held<number>
}

type Held<T> = ColumnType<T | null, T | null | undefined, T | null>

/** The log: a row a delivery that has ended. */
export interface DeliveryRow {
  id: number
  email_id: string
  recipient: string
  status: 'delivered' | 'relayed' | 'bounced' | 'failed' | 'cancelled' | 'suppressed'
  attempts: number
  reply: string | null
  /** The MX host and address that gave the last answer. */
  remote: string | null
  /** TLS version and cipher of the last attempt. */
  tls: string | null
  transcript: string | null
  ended_at: number
}

/** What was said in an attempt that ended, at that time, in another one to come. */
export interface DeferredTranscriptRow {
  delivery_id: number
  at: number
  transcript: string
}

export interface SandboxMessageRow {
  /** Rises with the time of arrival. */
  id: number
  received_at: number
  /** Empty for the null sender. */
  mail_from: string
  /** JSON array of addresses. */
  rcpt_to: string
  subject: string
  header_from: string
  remote_address: string
  /** What the client called itself. */
  helo: string
  /** 1 when it came over STARTTLS. */
  tls: number
  size_bytes: number
  /** JSON, as `sandbox/verdicts.ts` writes it; null until the checks are done. */
  verdicts: string | null
}

/** Apart from its message, so that a verdict written later does not write the whole mail again. */
export interface SandboxSourceRow {
  id: number
  raw: Buffer
}

/** A request that has succeeded, and what it was answered; kept for 24 hours. */
export interface IdempotencyKeyRow {
  account_id: string
  key: string
  /** SHA-256 of path and body, in base64. */
  fingerprint: string
  /** The status of the answer: 200 or 201. */
  status: number
  /** JSON. */
  response: string
  created_at: number
}

export interface TemplateRow {
  id: string
  account_id: string
  slug: string
  /** The number of the version in use. */
  version: number
  created_at: number
  /** JSON: by a variable's path the text with which the template's page fills it in. */
  samples: string | null
}

export interface TemplateVersionRow {
  id: string
  template_id: string
  version: number
  subject: string
  html: string
  text: string | null
  created_at: number
  /** The body with the version's Liquid that all mails of automations share; set with the first of them. */
  body_id: ColumnType<number | null, number | null | undefined, number>
}

/** An account's plans and all that may stop it; one row an account. */
export interface SubscriptionRow {
  account_id: string
  /** 1 for the account that was made first, which has its own default plan. */
  first_account: number
  /** Null: the default plan. */
  plan_id: string | null
  marketing_plan_id: string | null
  billing_state: 'active' | 'past_due' | 'expired'
  suspended_reason: string | null
  paused: 'bounce' | 'complaint' | null
  marketing_paused: 'bounce' | 'complaint' | null
  /** Counts the changes of what decides whether mails of the account may be made. */
  revision: number
  /** The revision up to which its runs that were blocked have been looked at again. */
  woken_revision: number
}

/** Counters of an account in a UTC month (`2026-11`) or UTC day (`2026-11-21`). */
export interface UsageRow {
  account_id: string
  period: string
  mails: number
  campaign_mails: number
}

export interface SuppressionRow {
  account_id: string
  /** The whole address in lower case. */
  address: string
  reason: 'unsubscribe' | 'bounce' | 'complaint' | 'manual'
  scope: 'all' | 'marketing'
  email_id: string | null
  detail: string | null
  created_at: number
  /** When it ends by itself; null: never. */
  expires_at: number | null
}

/** An address whose last mails failed in a way that may pass. */
export interface SoftBounceRow {
  account_id: string
  /** The whole address in lower case. */
  address: string
  /** Mails in a row. */
  failures: number
  first_at: number
  last_at: number
  /** The delivery that has got through since, unless a report still takes it back. */
  delivered_id: number | null
}

export interface ContactRow {
  id: string
  account_id: string
  /** The whole address in lower case: one contact an account and address. */
  address: string
  /** The address as it was added. */
  email: string
  first_name: string | null
  last_name: string | null
  /** E.164. */
  phone: string | null
  /** JSON. */
  metadata: string | null
  created_at: number
}

export interface ContactListRow {
  id: string
  account_id: string
  name: string
  created_at: number
  contact_count: Generated<number>
  /** Since when the list's contacts are being taken away; nobody sees it any more. */
  deleted_at: number | null
}

/** How many contacts an account holds. */
export interface ContactTotalRow {
  account_id: string
  contacts: number
}

export interface ListMemberRow {
  list_id: string
  contact_id: string
  added_at: number
  /** The import that put the contact there, and the line of its file; null for any other way. */
  import_id: number | null
  line: number | null
}

export interface ContactImportRow {
  id: Generated<number>
  account_id: string
  list_id: string
  /** The file's name, as the client has it. */
  file: string
  started_at: number
}

/** What an address agreed to or took back; rows are only ever added. */
export interface ConsentRow {
  id: Generated<number>
  account_id: string
  /** The whole address in lower case. */
  address: string
  at: number
  kind: string
  /** JSON, as `consent/history.ts` has it. */
  detail: string
}

export interface TopicRow {
  id: string
  account_id: string
  name: string
  /** The name as it is compared, whatever its case. */
  name_key: string
  /** May be empty. */
  description: string
  position: number
  archived: number
  created_at: number
}

export interface TopicOptOutRow {
  account_id: string
  /** The whole address in lower case. */
  address: string
  topic_id: string
  opted_out_at: number
}

/** How far a source address has come with its warm-up; days since the epoch, UTC. */
export interface SourceRow {
  address: string
  first_day: number
  /** The last day with mail; `sent` counts that day's. */
  last_day: number
  ramp_day: number
  sent: number
}

/** What a thread has learned about a site, so that a restart does not forget a suspension. */
export interface SiteStateRow {
  site: string
  source: string
  thread: number
  /** JSON. */
  learned: string
  updated_at: number
}

/** What reports have told of a delivery, so that the next one changes only what is new. */
export interface DeliveryReportsRow {
  delivery_id: number
  /** JSON array: a hash of each cause for which it was said to be delayed. */
  delays: string
  /** -1: no report of failure yet; else what the worst one does to the address: 0 nothing … 2 at once. */
  bounce: number
  /** 0: none; 1: without proof; 2: proved. */
  complaint: 0 | 1 | 2
  unsubscribed: 0 | 1
}

/** A mail that came to a return path or the feedback address and is not yet read; then it is gone. */
export interface InboundSpoolRow {
  /** Rises with the time of arrival. */
  id: number
  received_at: number
  remote_address: string
  /** Empty for the null sender. */
  mail_from: string
  /** How the client called itself. */
  helo: string
  /** JSON array of the addresses it was accepted for. */
  recipients: string
  /** When it is to be read. */
  due_at: number
  /** How often it was put off: reading it was broken off, or what it speaks of was not yet written. */
  tries: number
  /** The beginning of the mail, as far as it will be examined. */
  raw: Buffer
  /** Since when it is left to the operator, with why; without a why it is to be read again. */
  parked_at: Held<number>
  fault: Held<string>
}

/** Mail to postmaster@ or abuse@. */
export interface OperatorMailRow {
  /** Rises with the time of arrival. */
  id: number
  received_at: number
  recipient: string
  /** Empty for the null sender. */
  mail_from: string
  header_from: string
  subject: string
  remote_address: string
  size_bytes: number
  /** 1: it waits to be forwarded. */
  to_forward: number
}

export interface OperatorMailSourceRow {
  id: number
  raw: Buffer
}

/** A recipient domain's MTA-STS policy. */
export interface MtaStsRow {
  domain: string
  policy_id: string
  mode: 'enforce' | 'testing' | 'none'
  /** JSON list of patterns. */
  mx: string
  max_age_ms: number
  fetched_at: number
  expires_at: number
}

/**
 * Sessions with the servers of a recipient domain, by how their TLS went, for the reports of RFC 8460.
 * Kept for a few days; `day` leads the key, by which retention deletes.
 */
export interface TlsSessionsRow {
  /** UTC days since 1970, as in the other tables of reports. */
  day: number
  domain: string
  policy_type: 'tlsa' | 'sts' | 'no-policy-found'
  /** JSON: the policy's lines as `text`, its hosts as `mx`. */
  policy: string
  /** A failure of RFC 8460 §4.3; empty: the session was as the policy wants. */
  result: string
  reason: string
  mx_host: string
  /** How the server called itself in its reply to EHLO. */
  mx_name: string
  receiving_address: string
  sending_address: string
  sessions: number
}

/** Our account at a directory of ACME. Its key, sealed, is all that it needs to be known there again. */
export interface AcmeAccountRow {
  directory: string
  key: Buffer
  /** Null: not made there yet. */
  url: string | null
  /** The address that the directory was told last. */
  email: string
  /** How often in a row the directory itself has failed; nothing is asked of it before `next_at`. */
  failures: number
  next_at: number
  error: string | null
}

/** A name that ACME gets a certificate for. Its file says how long the certificate is good. */
export interface CertificateRow {
  name: string
  /** How often in a row it was not got, and since when. */
  failures: number
  failed_since: number | null
  ordered_at: number | null
  /** When something is to be done: an order, a look at one, or the question when to renew. */
  next_at: number
  /** Null: there is no certificate, or it is to be renewed at once. */
  renew_at: number | null
  error: string | null
  fix: string | null
  /** The order under way, and the key that its certificate will be for (sealed): both outlive a kill. */
  order_url: string | null
  order_key: Buffer | null
}

/** An order that a directory was asked for within the last day. */
export interface CertificateOrderRow {
  ordered_at: number
  name: string
  /** Null: of a name of the operator's. */
  account_id: string | null
  /** Whether the name had no certificate. */
  is_first: number
}

/** What came of a domain's report about a day: there is none before the DNS was asked. `day` leads the key. */
export interface TlsReportRow {
  day: number
  domain: string
  /** Empty: the domain asks for none. */
  report_id: string
  decided_at: number
}

/** Where a report goes to; `day` leads the key. */
export interface TlsReportPostRow {
  day: number
  domain: string
  uri: string
  /** The mail of a report that goes by mail, which the queue cares for. */
  email_id: string | null
  state: 'waiting' | 'sent' | 'failed'
  tries: number
  next_at: number
  cause: string
}

/** A report about one of our domains, so that none counts twice. Retention deletes by `day`, which is indexed. */
interface ReceivedReport {
  domain_id: string
  /** Who made it, in its own words. */
  reporter: string
  /** The domain whose DKIM signature it came with; empty: anybody may have written it. */
  proof: string
  report_id: string
  /** The day on which it came, in UTC days since 1970. */
  day: number
  begins_at: number
  ends_at: number
}

export interface DmarcReportRow extends ReceivedReport {
  /** The policy that the receiver saw: none, quarantine or reject. */
  policy: string
  messages: number
}

export interface ReceivedTlsReportRow extends ReceivedReport {
  successes: number
  failures: number
  /** JSON: sessions by the type of their failure. */
  failure_types: string
}

/**
 * How much mail in a domain's name came from an address, by what receivers made of it. Retention deletes by
 * `day`, which is indexed.
 */
export interface DmarcSourceRow {
  domain_id: string
  /** The day on which the report's time begins, in UTC days since 1970. */
  day: number
  /** An IP address; empty: those that are too many to be told apart. */
  source: string
  reporter: string
  /** 1: the report came with the DKIM signature of whoever made it. */
  proven: number
  disposition: 'none' | 'quarantine' | 'reject'
  /** 1: passed, for a domain that aligns with the From. */
  dkim: number
  spf: number
  /** 1: the receiver says that it came by a forwarder or a list. */
  forwarded: number
  messages: number
  /** The domains that DKIM and SPF spoke of, of one of them; for people. */
  identifiers: string
}

/** The name of an address by the DNS, empty where it has none. Retention deletes by `day`, which is indexed. */
export interface DmarcHostRow {
  address: string
  name: string
  /** The day of the look-up, in UTC days since 1970. */
  day: number
}

/** What happened to a mail; rows are only ever added. */
export interface EventRow {
  /** Rises in the order in which things happened. */
  id: Generated<number>
  account_id: string
  email_id: string
  delivery_id: number | null
  recipient: string | null
  class: QueueClass
  type:
    | 'sent'
    | 'deferred'
    | 'delivered'
    | 'relayed'
    | 'bounced'
    | 'failed'
    | 'suppressed'
    | 'complained'
    | 'unsubscribed'
    | 'opened'
    | 'clicked'
  at: number
  reply: string | null
  /** JSON, as `events/event.ts` has it. */
  detail: string | null
}

/** What account protection counts. */
interface ProtectionCounts {
  /** Recipients whose server has decided: delivered, relayed or bounced. */
  recipients: number
  /** Permanent ones; an address once in the window. */
  bounces: number
  /** Those that were proved; an address once in the window. */
  complaints: number
}

export interface ProtectionTotals extends ProtectionCounts {
  /** Of these, those of campaigns and automations. */
  marketing_recipients: number
  marketing_bounces: number
  marketing_complaints: number
  /** Complaints without proof: they are shown, no rate has them. */
  unproved: number
}

/** An account's totals over the window that ends with `hour` (hours since 1970). */
export interface ProtectionRow extends ProtectionTotals {
  account_id: string
  hour: number
  bounce_warned_at: number | null
  complaint_warned_at: number | null
}

/** What the totals are made of; those that slide out of the window are deleted. */
export interface ProtectionHourRow extends ProtectionTotals {
  account_id: string
  hour: number
}

export interface ProtectionProviderRow extends ProtectionCounts {
  account_id: string
  /** Days since 1970. */
  day: number
  provider: string
}

/** An address whose bounce or complaint is counted; another of the same kind counts once `hour` has slid out. */
export interface ProtectionAddressRow {
  account_id: string
  kind: 'bounce' | 'complaint' | 'unproved'
  /** A hash of the address: nobody needs to read it here. */
  address: string
  hour: number
}

export interface ProtectionAuditRow {
  /** Rises in the order in which things happened. */
  id: Generated<number>
  account_id: string
  at: number
  action: 'warned' | 'marketing_paused' | 'paused' | 'cleared'
  reason: 'bounce' | 'complaint'
  /** `protection`, or the operator who gave the command. */
  who: string
  note: string | null
  /** JSON, as they were then. */
  totals: string
  /** 1 once the operator was told. */
  announced: number
}

/** Which way mail goes, of a site or (`*`) of all, where that is or was not as usual. */
export interface EgressRow {
  scope: string
  /** The operator's word; `auto`: what follows decides. */
  orders: 'auto' | 'force' | 'forbid'
  way: 'primary' | 'failover'
  /** What was wrong, as `outbound/egress/breaker.ts` has it. */
  why: string
  cause: 'unreached' | 'refused'
  since: number
  until: number
  at: ColumnType<number, number | undefined, number>
  passed: number
  relapses: number
  /** Whose mail was refused; null where nobody's was, or that is not known. */
  account_id: ColumnType<string | null, string | null | undefined, string | null>
}

/** Sites that gave no connection since any site last did. */
export interface EgressUnreachedRow {
  site: string
  /** Whose mail it was for. */
  account_id: string
  at: number
}

/** Where an account wants to hear of its events. */
export interface WebhookEndpointRow {
  id: string
  account_id: string
  url: string
  /** JSON array of the events, such as `email.delivered`. */
  events: string
  /** Sealed with the appliance key, as is the one before it, which signs too until then. */
  secret: Buffer
  old_secret: Buffer | null
  old_secret_until: number | null
  enabled: number
  /** Events in a row that were dropped after their last attempt. */
  failures: number
  /** When the first of them was; null where there are none. */
  failing_since: Generated<number | null>
  /** The bodies of what is set aside (`dropped`), in bytes, and how many events found no room there. */
  aside_bytes: Generated<number>
  events_not_kept: Generated<number>
  disabled_at: number | null
  disabled_because: string | null
  /** 0 while the operator is still to be told that it was disabled. */
  announced: number
  created_at: number
  /** What went to it is being taken away; nobody sees it any more. */
  deleted_at: number | null
}

/** The hot table: a row an endpoint and event that is still to arrive. */
export interface WebhookJobRow {
  /** Rises in the order in which things happened, and is never given twice. */
  id: Generated<number>
  endpoint_id: string
  account_id: string
  email_id: string
  event: string
  /** The bytes that are sent, the same at every attempt. */
  body: string
  attempts: number
  due_at: number
  created_at: number
  /** The HTTP status of the last attempt; null before it. */
  status: number | null
  response: string | null
  error: string | null
  tried_at: number | null
}

/** The log: a row an endpoint and event, under the number of its job. */
export interface WebhookDeliveryRow {
  id: number
  endpoint_id: string
  account_id: string
  email_id: string
  event: string
  body: string
  /** `dropped`: the endpoint was disabled before it got there. */
  outcome: 'delivered' | 'failed' | 'dropped'
  attempts: number
  /** The HTTP status of the last answer; `response` is the beginning of its body. */
  status: number | null
  response: string | null
  error: string | null
  created_at: number
  ended_at: number
}

/** A campaign, with counters of what became of its mails. */
export interface BroadcastRow {
  id: string
  account_id: string
  list_id: string
  topic_id: string | null
  /** Never shown to recipients. */
  name: string | null
  domain_id: string
  /** As given: `a@b` or `Name <a@b>`. */
  from_header: string
  reply_to: string | null
  /** Liquid, as is the HTML of its body. */
  subject: string
  body_id: number
  status: 'draft' | 'scheduled' | 'sending' | 'paused' | 'sent' | 'cancelled' | 'failed'
  /** Why it is paused or has failed. */
  reason: string | null
  /** Set while it is paused by its account, which may resume it; null: any other pause is the operator's. */
  paused_by: 'account' | null
  scheduled_at: number | null
  created_at: number
  /** When its dispatch began. */
  sent_at: number | null
  ended_at: number | null
  /** When a draft was changed, if it was. */
  changed_at: Generated<number | null>
  /** How many were reachable when it was made, then when it was dispatched. */
  audience: number
  /** The last contact of the list that was looked at. */
  cursor: string
  /** 1 once all of the list was looked at. */
  expanded: number
  /** When it last was. */
  expanded_at: number | null
  /** How many mails the campaign has; each is counted in one of the next seven. */
  recipients: number
  waiting: number
  delivered: number
  relayed: number
  bounced: number
  failed: number
  suppressed: number
  cancelled: number
  /** Those of `bounced` that a server or smart host had taken before. */
  bounced_late: Generated<number>
  /** Mails that were, once or more often, by a person as far as that can be told. */
  opened: number
  clicked: number
  /** JSON of `MailExtras`, for all its mails. */
  extras: string | null
  /** Goes up with each pause, resume and cancel. */
  course: Generated<number>
  /** When its waiting mail was last made to follow its status; null once all of it does. */
  course_at: number | null
}

/** Test sends of the last hour. */
export interface BroadcastTestRow {
  id: number
  account_id: string
  sent_at: number
}

/** An automation, with counters that change in the transaction of what they count. */
export interface AutomationRow {
  id: string
  account_id: string
  name: string
  status: 'disabled' | 'enabled' | 'archived'
  /** The version of the definition that is shown and edited; `automation_triggers` has the one that starts runs. */
  version: number
  /** The automation's runs, by how they stand. */
  running: number
  waiting: number
  completed: number
  exited: number
  failed: number
  cancelled: number
  /** Contacts who have ever entered it. */
  enrolled: number
  created_at: number
  updated_at: number
  /** The operator's or the account's pause: its runs are held meanwhile. */
  paused_at: number | null
  /** How its held runs are released since it was resumed; null once all are. */
  releasing: 'shift' | 'now' | 'skip' | null
  /** When some last were. */
  releasing_at: number | null
}

/** Mails that an automation with `settings.maxPerHour` has made in a minute (since 1970), and when the last. */
export interface AutomationHourRow {
  automation_id: string
  minute: number
  mails: number
  last_at: number
}

export interface AutomationVersionRow {
  automation_id: string
  version: number
  /** JSON, as `automations/definition.ts` has it. */
  definition: string
  /** From then on it never changes, and its steps have rows of their own. */
  frozen_at: number | null
}

/** A step of a frozen version, with counters. */
export interface AutomationStepRow extends AutomationStepCounts {
  id: number
  automation_id: string
  version: number
  key: string
  type: string
}

/** What has happened at a step, and what became of the mails that it sent. */
export interface AutomationStepCounts {
  entered: number
  done: number
  skipped: number
  failed: number
  met: number
  not_met: number
  received: number
  timed_out: number
  mails: number
  delivered: number
  bounced: number
  opened: number
  clicked: number
  unsubscribed: number
}

/** Which enabled automations an event starts, in which version. */
export interface AutomationTriggerRow {
  account_id: string
  event: string
  automation_id: string
  version: number
}

/** An event that is only kept because a live run of its contact may still ask for it. */
export interface AutomationKeptRow {
  event_id: number
}

/** What was heard of a contact; rows are only ever added at the end. */
export interface AutomationEventRow {
  /** Rises in the order in which events were committed. */
  id: Generated<number>
  account_id: string
  contact_id: string
  name: string
  /** JSON. */
  payload: string | null
  at: number
  /** When it happened, where the client says so. */
  occurred_at: number | null
  /** How many automations' mails in a row have led to it; 0 for a client's own. */
  depth: number
}

/**
 * The hot table: a row a run that has not ended. It moves to `automation_runs` when it ends. Every row
 * has a time to be looked at (`due_at`), and `held_due_at` what that was while it is held.
 */
export interface AutomationLiveRow {
  id: string
  account_id: string
  automation_id: string
  version: number
  contact_id: string
  /** Where it stands: a row of `automation_steps`. */
  step_id: number
  /** Rises with every change, so that a plan is only written over what it was made from. */
  seq: number
  status: 'running' | 'waiting'
  due_at: number
  /** The event for which it is parked. */
  wait_event: string | null
  /** The event that has ended that wait. */
  woken_by: number | null
  trigger_event: number
  /** When it came to a delay or wait in which it still is. */
  entered_at: number | null
  /** JSON: by name the last event that a wait has taken. */
  heard: string | null
  /** JSON: the event that each wait has received, by the step's key, the latest last. */
  waits: string | null
  /** Why a step that is due does not run. */
  blocked: string | null
  /** Faults in a row. */
  attempts: number
  /** Steps that were run and mails that were sent, against endless loops. */
  steps: number
  mails: number
  /** 1: it goes on when its contact unsubscribes. */
  outlives: 0 | 1
  /** JSON, as `automations/live.ts` has it. */
  history: string
  started_at: number
  updated_at: number
  held_at: Held<number>
  held_reason: Held<string>
  held_due_at: Held<number>
}

/** The log: a row a run that has ended. */
export interface AutomationRunRow {
  id: string
  account_id: string
  automation_id: string
  version: number
  /** Null once the contact was deleted. */
  contact_id: string | null
  step_id: number
  status: 'completed' | 'exited' | 'failed' | 'cancelled'
  reason: string | null
  history: string
  started_at: number
  ended_at: number
}

/** That a contact has entered an automation, and how often. */
export interface AutomationEntryRow {
  contact_id: string
  automation_id: string
  runs: number
  last_started_at: number
  /** Starts less than an hour before the last (JSON array of times); null for none. */
  starts: string | null
}

/** Events that a live run hears wherever it stands: of its exit rules and its goal. */
export interface AutomationListenRow {
  contact_id: string
  event: string
  run_id: string
}

/** An operator's start of an automation for the contacts of a list, so many an hour. */
export interface AutomationBackfillRow {
  automation_id: string
  account_id: string
  list_id: string
  per_hour: number
  /** The contact up to whom the list was gone through. */
  cursor: string
  seen: number
  started: number
  /** When the next contacts are looked at. */
  next_at: number
  created_at: number
  /** When the end of the list was reached. */
  ended_at: number | null
}

/** A contact who is deleted, some of whose events are still to go. */
export interface AutomationForgottenRow {
  contact_id: string
}

/** What is merged into a mail when it leaves; gone when its delivery has ended. */
export interface EmailMergeRow {
  email_id: string
  /** JSON. */
  variables: string
}

/** What `stats` counts, as `stats/README.md` defines it. */
export interface FigureCounts {
  mails: number
  accepted: number
  suppressed: number
  answered: number
  delivered: number
  relayed: number
  bounced_hard: number
  bounced_soft: number
  failed: number
  deferred: number
  complained: number
  complained_unproved: number
  unsubscribed: number
  opened: number
  opened_unique: number
  opened_machine: number
  clicked: number
  clicked_unique: number
  clicked_machine: number
}

/** An account's day, once by campaign, once by mailbox provider and once a tag. */
export interface FigureRow extends FigureCounts {
  account_id: string
  breakdown: 'broadcast' | 'provider' | 'tag'
  /** Days since 1970, UTC. */
  day: number
  /** The sending domain; empty where the mail was gone already, `*` of the many beyond the bound. */
  domain: string
  type: EmailRow['type']
  /** The campaign's id (empty: none), the provider, or `name:value`; `*` of the many beyond the bound. */
  key: string
}

/** How far the logs are counted in `figures`; one row, of id 1. */
export interface FigureCursorsRow {
  id: number
  event_id: number
  consent_id: number
  /** The number (`ids.ts`) and the id of the last mail that is counted. */
  mail_number: number
  mail_id: string
  /** Events up to this one do not say whether they were the first of their kind. */
  untold_until: number
}

/** What the operator is told of: a row from when it is raised until long after it is settled. */
export interface NoticeRow {
  id: Generated<number>
  kind: string
  key: string
  severity: 'burning' | 'daily'
  /** How far it has come, where that matters; it is told anew when this changes. */
  stage: string
  /** The first line says all; the others are details. */
  text: string
  fix: string
  /** `settled`: its cause is gone, which has not been told yet. `past`: nothing is left to tell. */
  state: 'open' | 'settled' | 'past'
  count: number
  first_at: number
  last_at: number
  /** When it came to its stage and severity. */
  staged_at: number
  settled_at: number | null
  /** 1: to be told at once. */
  urgent: number
  /** When one of this kind and key was last told at once. */
  urgent_at: number | null
  /** 1: not in any daily mail yet. */
  fresh: number
  told_at: number | null
  silenced_until: number | null
}

/** A mail to the operator. */
export interface NoticeMailRow {
  id: Generated<number>
  at: number
  /** `report`: the weekly one is asked for, and the next daily mail has it. `test`: by `posthorn notice test`. */
  kind: 'daily' | 'burning' | 'report' | 'test'
  /** The operator's day, `2026-11-21`. */
  day: string
  subject: string
  /** The mail's id in the queue, if it went there. */
  email_id: string | null
  state: 'waiting' | 'sent' | 'failed'
  /** The way it took: `queue`, a relay, the command, `log`. */
  path: string
  result: string
  text: string
  html: string
}

/** A record of a verified domain that was not there at the last looks. */
export interface RecordCheckRow {
  domain_id: string
  purpose: string
  /** How many looks in a row have failed; one that the DNS did not answer does not count. */
  failures: number
  since: number
}

/** What the last look at a domain's records found. */
export interface DomainLookRow {
  domain_id: string
  at: number
  /** JSON: one object a record. */
  records: string
}

/** A job of the calendar that is not off. */
export interface JobRow {
  name: string
  /** The job's cron expression and zone: when they change, nothing of before is due. */
  schedule: string
  /** Due times up to this one are dealt with. */
  handled_until: number
}

/** A finding of the doctor's last examination. */
export interface DoctorFindingRow {
  id: Generated<number>
  at: number
  check: string
  subject: string
  state: 'ok' | 'warn' | 'fail' | 'unchecked'
  found: string
  fix: string
}

/** The last runs of each job of the calendar. */
export interface JobRunRow {
  id: Generated<number>
  name: string
  /** Null: started by hand. */
  due_at: number | null
  began_at: number
  /** Null while it is under way, and for one that ended with the process. */
  ended_at: number | null
  result: 'running' | 'done' | 'not set up' | 'failed' | 'timed out' | 'cut off'
  /** One sentence. */
  summary: string | null
  /** JSON: an array of sentences. */
  problems: string
  /** JSON: numbers by name. */
  figures: string
  error: string | null
}

/** How many mails have a body; every mail up to the one in `retention_state` is counted. */
export interface BodyUseRow {
  body_id: number
  uses: number
  /**
   * A hash of account and contents, by which equal bodies find each other; null for those of campaigns and templates.
   */
  hash: string | null
}

/** What a late report has to know of a delivery whose mail is deleted. */
export interface PastDeliveryRow {
  id: number
  account_id: string
  email_id: string
  recipient: string
  class: QueueClass
  status: DeliveryRow['status']
  /** From then on no report is expected any more. */
  forget_at: number
}

/** How far retention has come; one row, of id 1. */
export interface RetentionStateRow {
  id: number
  /** The number (`ids.ts`) and the id of the last mail whose body is counted. */
  mail_number: number
  mail_id: string
  /** The mail up to which the bodies are deleted, but for those in `retention_waiting`. */
  bodies_through: string
  transcripts_through: string
  /** The newest mail whose body went before its time, for room on the disk; empty: none did. */
  early_through: string
  /** The time of the last run; 0: there was none. */
  ran_at: number
}

/** How far a log was walked over for those accounts that keep its rows for so long. */
export interface RetentionWalkRow {
  log: string
  keep_ms: number
  /** JSON array of their ids. */
  accounts: string
  /** The last row that was looked at. */
  cursor: number
}

/** A mail that was not yet through when its body or its transcripts were to go. */
export interface RetentionWaitingRow {
  what: 'bodies' | 'transcripts'
  email_id: string
}

/** Who logs in at the dashboard. */
export interface UserRow {
  id: string
  email: string
  /** The address in lower case, by which they are found. */
  address: string
  name: string
  /** scrypt with its parameters; null: only a passkey or a link leads in. */
  password: string | null
  /** Sealed; null: no codes are asked for. */
  totp_secret: Buffer | null
  /** The last step whose code was taken: no code is good twice. */
  totp_step: number
  operator: 0 | 1
  disabled_at: number | null
  created_at: number
  last_login_at: number | null
  /** Since when it is sure that the address is theirs. Null: they came by a link that an owner was shown. */
  proved_at: number | null
}

export interface MembershipRow {
  user_id: string
  account_id: string
  role: 'owner' | 'member' | 'viewer'
  created_at: number
}

export interface InvitationRow {
  id: string
  /** Null: as an operator. */
  account_id: string | null
  email: string
  address: string
  role: 'owner' | 'member' | 'viewer' | 'operator'
  token_hash: Buffer
  /** SHA-256 of the link that proves the address: only the mail has it, or an operator hands it over. */
  proof_hash: Buffer | null
  /** Who it is, in words. */
  invited_by: string
  /** Null: whoever uses the command line. */
  inviter_id: string | null
  created_at: number
  expires_at: number
  accepted_at: number | null
}

/** Where somebody logged in of late. */
export interface KnownPlaceRow {
  user_id: string
  address_key: string
  seen_at: number
}

export interface SessionRow {
  /** SHA-256 of what the cookie has. */
  hash: Buffer
  /** The id by which pages name it. */
  id: string
  user_id: string
  /** `code`: the password was right, and a code of the second factor is still to come. */
  state: 'open' | 'code'
  created_at: number
  seen_at: number
  expires_at: number
  sudo_until: number
  address_key: string
  agent: string
}

export interface PasskeyRow {
  /** The id that the browser knows it by, in base64url. */
  credential_id: string
  id: string
  user_id: string
  /** COSE. */
  public_key: Buffer
  counter: number
  /** JSON: an array of texts. */
  transports: string
  name: string
  backed_up: 0 | 1
  created_at: number
  used_at: number | null
}

export interface RecoveryCodeRow {
  user_id: string
  /** SHA-256: of 80 random bits, which nobody guesses. */
  hash: Buffer
  used_at: number | null
}

/** A link that is good once; it is deleted when it is used. */
export interface EntryLinkRow {
  hash: Buffer
  /** `setup`: makes the first operator. `reset`: chooses a new password. */
  kind: 'setup' | 'reset'
  user_id: string | null
  created_at: number
  expires_at: number
}

export interface AuditLogRow {
  id: Generated<number>
  at: number
  account_id: string | null
  user_id: string | null
  actor: 'user' | 'cli' | 'api' | 'system'
  /** Who that was then: an address, a user of the system, the name of a key. */
  name: string
  /** `keys.create`, `posthorn key create`, `POST /v1/keys`. */
  action: string
  target: string | null
  /** A JSON object. */
  detail: string
  address_key: string | null
}
