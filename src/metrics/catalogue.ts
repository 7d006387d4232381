/**
 * Every metric that Posthorn's own code writes, so that names, units and labels are decided once.
 * Prometheus's conventions: base units, `_total` for what only rises, labels with few values.
 */
export interface Definition {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[]
  /** Bounds a gauge: only this many of the largest series are shown singly; the rest are summed up as `other`. */
  readonly most?: number
}

const classLabel = ['class'] as const
// Bounds of all histograms of time: a commit on an SSD takes about a millisecond, a slow disk or a
// busy turn tenths of a second, and above ten seconds something is broken anyway.
const seconds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
] as const

/**
 * `help` is what Prometheus shows. A label's values are a fixed set, or bounded by `most`: each new
 * value is a series that Prometheus keeps as long as its data.
 */
export const catalogue = {
  posthorn_queue_deliveries: {
    type: 'gauge',
    help: 'Deliveries that wait, held and scheduled ones too, as counted some seconds ago',
    labels: classLabel,
  },
  posthorn_queue_oldest_seconds: {
    type: 'gauge',
    help: 'How long ago the oldest waiting delivery was accepted; 0 when none waits',
    labels: classLabel,
  },
  posthorn_attempts_total: {
    type: 'counter',
    help: 'Delivery attempts by what they came to',
    labels: ['outcome'],
  },
  posthorn_queue_due_seconds: {
    type: 'gauge',
    help: 'For how long mail has been due that is not under way, the longest of the class; 0 when none is',
    labels: classLabel,
  },
  posthorn_https_refused_total: {
    type: 'counter',
    help: 'Connections to the HTTPS listeners that did not get as far as to a request, by why',
    labels: ['listener', 'cause'],
  },
  posthorn_accepted_total: {
    type: 'counter',
    help: 'Deliveries that were accepted into the queue, one a recipient',
    labels: [],
  },
  posthorn_provider_attempts_total: {
    type: 'counter',
    help: 'Delivery attempts by large mailbox provider, all others together, and what they came to',
    labels: ['provider', 'outcome'],
  },
  posthorn_deferrals_total: {
    type: 'counter',
    help: 'Attempts after which mail waits for another one, by what the answer means (config/bounce-rules.toml)',
    labels: ['reason'],
  },
  posthorn_refusals_total: {
    type: 'counter',
    help: 'Refusals by what they mean (config/bounce-rules.toml): blocked, sender-authentication, …',
    labels: ['means'],
  },
  posthorn_received_total: {
    type: 'counter',
    help: 'Mails that came in for accounts and were read, by what their rule does, or unreadable',
    labels: ['outcome'],
  },
  posthorn_reports_total: {
    type: 'counter',
    help: 'Bounces, complaints and other reports that came back, by what followed from them',
    labels: ['outcome'],
  },
  posthorn_inbound_refusals_total: {
    type: 'counter',
    help: 'What the listener for reports refused: connections, recipients, mails, by the codes of its reply',
    labels: ['reply'],
  },
  posthorn_submission_refusals_total: {
    type: 'counter',
    help: 'What the submission listeners refused: connections, log-ins, senders, mails, by the codes of the reply',
    labels: ['reply'],
  },
  posthorn_submission_mails_total: {
    type: 'counter',
    help: 'Mails that programs handed in by SMTP and that were accepted',
    labels: [],
  },
  posthorn_submission_failed_logins_total: {
    type: 'counter',
    help: 'Log-ins to the submission listeners that failed',
    labels: [],
  },
  posthorn_connections: {
    type: 'gauge',
    help: 'SMTP connections to a site until closed, idle ones too: the 50 largest and all others',
    labels: ['site'],
    most: 50,
  },
  posthorn_throttled_total: {
    type: 'counter',
    help: 'How often due mail had to wait at a gate: rate, connections, suspension, warm-up',
    labels: ['gate'],
  },
  posthorn_failover: {
    type: 'gauge',
    help: 'How many sites, and (0 or 1) whether everything, goes by the smart hosts',
    labels: ['scope'],
  },
  posthorn_accounts_paused: {
    type: 'gauge',
    help: 'Accounts that protection or an operator has paused: all of their mail, or only marketing',
    labels: ['mail'],
  },
  posthorn_highest_bounce_ratio: {
    type: 'gauge',
    help: 'The highest bounce rate of any account, as account protection counts it; 1 is all',
    labels: [],
  },
  posthorn_highest_complaint_ratio: {
    type: 'gauge',
    help: 'The highest complaint rate of any account',
    labels: [],
  },
  posthorn_protection_threshold_ratio: {
    type: 'gauge',
    help: 'At which rate account protection warns or pauses (settings [protection])',
    labels: ['rate', 'action'],
  },
  posthorn_notices: {
    type: 'gauge',
    help: "What the operator is told of and is not settled, by kind: 'posthorn status' names each with its fix",
    labels: ['kind', 'severity'],
  },
  posthorn_disk_free_bytes: {
    type: 'gauge',
    help: 'Room on the disk of the data directory',
    labels: [],
  },
  posthorn_disk_size_bytes: {
    type: 'gauge',
    help: 'Size of the disk of the data directory',
    labels: [],
  },
  posthorn_database_bytes: {
    type: 'gauge',
    help: 'Size of the database, without its write-ahead log (posthorn_wal_bytes)',
    labels: [],
  },
  posthorn_certificate_end_timestamp_seconds: {
    type: 'gauge',
    help: "When the certificate of an SMTP listener ends: inbound's or submission's files",
    labels: ['listener'],
  },
  posthorn_acme_certificates: {
    type: 'gauge',
    help: 'Names that ACME gets certificates for: good, failing (there is one, and it is not renewed), missing (there is none yet)',
    labels: ['state'],
  },
  posthorn_acme_certificate_end_timestamp_seconds: {
    type: 'gauge',
    help: 'When the first of the certificates ends that ACME has brought',
    labels: [],
  },
  posthorn_webhook_endpoints: {
    type: 'gauge',
    help: 'Webhook endpoints that work, whose last events were dropped (failing), and that are disabled',
    labels: ['state'],
  },
  posthorn_automation_live: {
    type: 'gauge',
    help: 'Runs of automations that have not ended, as counted some seconds ago',
    labels: ['status'],
  },
  posthorn_automation_blocked: {
    type: 'gauge',
    help: 'Runs whose next mail cannot be made now, by what is missing; held: an operator has to release them',
    labels: ['reason'],
  },
  posthorn_automation_oldest_due_seconds: {
    type: 'gauge',
    help: 'How long ago the longest due run should have gone on; 0 when none is due',
    labels: [],
  },
  posthorn_automation_events_total: {
    type: 'counter',
    help: 'Events taken in, by what they came to: started runs, resumed some, or kept',
    labels: ['result'],
  },
  posthorn_automation_steps_total: {
    type: 'counter',
    help: 'Steps of automations that runs took, by type and what they came to',
    labels: ['type', 'result'],
  },
  posthorn_job_runs_total: {
    type: 'counter',
    help: 'Runs of jobs of the calendar, by result: done, not set up, failed, timed out, cut off',
    labels: ['name', 'result'],
  },
  posthorn_job_last_ok: {
    type: 'gauge',
    help: "1 when the job's last run was done, 0 when it failed, took too long or was cut off",
    labels: ['name'],
  },
  posthorn_job_last_end_timestamp_seconds: {
    type: 'gauge',
    help: "When the job's last run ended",
    labels: ['name'],
  },
  posthorn_job_last_duration_seconds: {
    type: 'gauge',
    help: "How long the job's last run took",
    labels: ['name'],
  },
  posthorn_job_next_due_timestamp_seconds: {
    type: 'gauge',
    help: 'When the job is due next; in the past while it waits for its turn. None of a job that is off',
    labels: ['name'],
  },
  posthorn_commit_seconds: {
    type: 'histogram',
    help: 'How long a transaction took from its begin until it was on disk',
    labels: [],
    buckets: seconds,
  },
  posthorn_commits_total: {
    type: 'counter',
    help: 'Transactions committed',
    labels: [],
  },
  posthorn_commit_works_total: {
    type: 'counter',
    help: 'Writes committed; by posthorn_commits_total, how many share one commit',
    labels: [],
  },
  posthorn_turn_wait_seconds: {
    type: 'histogram',
    help: 'How long a transaction waited for its turn among the threads that write',
    labels: [],
    buckets: seconds,
  },
  posthorn_store_transaction_seconds: {
    type: 'histogram',
    help: 'Over PostgreSQL: what transactions took from their begin to the answer, tries that lost included; write, by_row or gather',
    labels: ['kind'],
    buckets: seconds,
  },
  posthorn_store_retries_total: {
    type: 'counter',
    help: 'Over PostgreSQL: transactions that ran again, by why: serialization, deadlock, taken (a key), aborted (its COMMIT had no answer)',
    labels: ['cause'],
  },
  posthorn_store_connection_wait_seconds: {
    type: 'histogram',
    help: 'Over PostgreSQL: how long what is read or written waited for a connection',
    labels: [],
    buckets: seconds,
  },
  posthorn_store_round_trips_total: {
    type: 'counter',
    help: 'Over PostgreSQL: statements sent to the server',
    labels: [],
  },
  posthorn_store_connected: {
    type: 'gauge',
    help: 'Over PostgreSQL: 1 while the last sign of life was acknowledged, 0 while the server is away',
    labels: [],
  },
  posthorn_store_beat: {
    type: 'gauge',
    help: 'Over PostgreSQL: the number of the last sign of life that was acknowledged; it rises by one each two seconds',
    labels: [],
  },
  posthorn_thread_lag_seconds: {
    type: 'gauge',
    help: "The longest that a thread's event loop came late to what was due, of the last minute",
    labels: ['thread'],
  },
  posthorn_thread_cpu_seconds_total: {
    type: 'counter',
    help: "CPU time of a thread's JavaScript",
    labels: ['thread'],
  },
  posthorn_thread_restarts_total: {
    type: 'counter',
    help: 'How often a thread died and was started again',
    labels: ['thread'],
  },
  posthorn_healthy: {
    type: 'gauge',
    help: 'What /healthz says: 1 when all threads answer and the database takes writes',
    labels: [],
  },
  posthorn_ready: {
    type: 'gauge',
    help: 'What /readyz says: 1 when mail may be handed in',
    labels: [],
  },
  posthorn_webhook_attempts_total: {
    type: 'counter',
    help: 'Attempts to send a webhook, by what they came to',
    labels: ['outcome'],
  },
  posthorn_http_requests_total: {
    type: 'counter',
    help: 'HTTP requests answered, by the pattern of their path',
    labels: ['listener', 'method', 'route', 'status'],
  },
  posthorn_http_request_seconds: {
    type: 'histogram',
    help: 'From the head of a request to its answer',
    labels: ['listener', 'method', 'route'],
    buckets: seconds,
  },
} as const satisfies Record<string, Definition>

/** The names that a `Meter` takes: others do not compile. */
export type MetricName = keyof typeof catalogue
/** In the order in which `/metrics` shows them. */
export const metricNames = Object.keys(catalogue) as MetricName[]
/** The names of one type, so that a counter cannot be set and a gauge cannot be counted up. */
export type NameOf<T extends Definition['type']> = {
  [N in MetricName]: (typeof catalogue)[N]['type'] extends T ? N : never
}[MetricName]
/** All labels of a metric, so that the compiler finds a missing one. */
export type LabelsOf<N extends MetricName> = Readonly<
  Record<(typeof catalogue)[N]['labels'][number], string>
>
