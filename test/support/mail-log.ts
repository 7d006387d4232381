import type { Test } from 'tap'
import { findPlan, loadPlans, setPlan } from '../../src/billing/index.js'
import { followBroadcasts } from '../../src/broadcasts/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import { makeContent } from '../../src/contents/index.js'
import { claim, type Settlement, settle } from '../../src/deliveries/index.js'
import { insertEmails, type PreparedEmail } from '../../src/emails/index.js'
import { makeLandEvents } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { parseMailbox } from '../../src/mime/index.js'
import { makeProtection } from '../../src/protection/index.js'
import { countNextBodies, type RetentionRunDeps, runRetention } from '../../src/retention/index.js'
import { rollUp } from '../../src/stats/index.js'
import type { Store } from '../../src/store/index.js'
import { suppressFailing } from '../../src/suppression/index.js'
import { openCampaigns } from './campaigns.js'
import { FakeClock } from './clock.js'
import { openTestStore } from './store.js'
import { rsaPair } from './template.js'

const plans = loadPlans(packageFile('config/plans.toml'))
const { outbound, protection, retention: ages } = loadConfig({ env: {} })

export const day = 86_400_000

export interface Written {
  to?: readonly string[]
  html?: string
  text?: string | null
  tags?: { name: string; value: string }[]
  files?: Buffer[]
  scheduledAt?: number
}

/** An account on the plan `plan`, its mails accepted and delivered as the appliance's threads do, and retention. */
export async function openMailLog(
  t: Test,
  options: { plan?: string; dataDir?: string; store?: Store; clock?: FakeClock } = {},
) {
  const clock = options.clock ?? new FakeClock()
  const { dataDir } = options
  const store =
    options.store ??
    (await openTestStore(t, { clock, ...(dataDir === undefined ? {} : { dataDir }) }))
  const campaigns = await openCampaigns(t, { clock, ...(await accountIn(store, clock)), store })
  const { accountId } = campaigns
  const usePlan = (name: string, id = accountId) =>
    store.write((tx) => setPlan(tx, id, findPlan(plans.email, name)))
  await usePlan(options.plan ?? 'Growth')
  const domain = await store.read.selectFrom('domains').select('id').executeTakeFirstOrThrow()
  const land = makeLandEvents([suppressFailing, makeProtection(protection), followBroadcasts])
  const retention: RetentionRunDeps = {
    store,
    clock,
    log: silentLog,
    plans,
    ages,
    dataDir: dataDir ?? '/',
    readDisk: async () => ({ totalBytes: 1_000_000_000, freeBytes: 900_000_000 }),
  }

  /** The mails of one request: all in one write, equal bodies once. */
  const accept = (written: readonly Written[], account = accountId) => {
    const mails = written.map((one) => prepared(one, account))
    return store
      .write((tx) => insertEmails({ store, retry: outbound.retry }, tx, [mails]))
      .then(() => mails.map(({ row }) => row.id))
  }
  const prepared = (one: Written, account: string): PreparedEmail => {
    const { to = ['a@one.test'], html = '<p>x</p>', text = null, tags = [], scheduledAt } = one
    const id = store.ids.uuid()
    const now = clock.now()
    const recipients = to.flatMap((address) => parseMailbox(address) ?? [])
    const files = (one.files ?? []).map((bytes, n) => ({
      filename: `${n}.bin`,
      contentType: 'application/octet-stream',
      disposition: 'attachment' as const,
      content: makeContent([bytes]),
    }))
    return {
      row: {
        id,
        account_id: account,
        domain_id: domain.id,
        from_header: 'a@sender.test',
        to_list: JSON.stringify(to),
        reply_to: null,
        subject: 's',
        type: 'transactional',
        topic_id: null,
        metadata: null,
        status: scheduledAt ? 'scheduled' : 'queued',
        message_id: `<${id}@sender.test>`,
        provider: 'primary',
        waiting: recipients.length,
        delivered: 0,
        bounced: 0,
        failed: 0,
        opened_at: null,
        clicked_at: null,
        scheduled_at: scheduledAt ?? null,
        sent_at: null,
        created_at: now,
        template: null,
        extras: tags.length > 0 ? JSON.stringify({ tags }) : null,
      },
      html,
      text,
      tags,
      attachments: files,
      recipients,
      suppressed: [],
      dueAt: scheduledAt ?? now,
    }
  }
  /** Claims what is due and settles it as `kindOf` says. */
  const deliver = async (kindOf: (recipient: string) => Settlement['kind'] = () => 'delivered') => {
    const streams = await store.read
      .selectFrom('queue')
      .select(['lane', 'class', 'account_id as accountId'])
      .distinct()
      .execute()
    const now = clock.now()
    const wants = streams.map((stream) => ({ ...stream, limit: 10_000 }))
    const claims = await store.write((tx) => claim(tx, wants, { now, node: 1, lease: 3 }))
    const settlements = claims
      .flatMap(({ taken }) => taken)
      .map(
        (claimed) =>
          ({
            ...claimed,
            kind: kindOf(claimed.recipient),
            startedAt: now,
            attempts: 1,
            reply: '250 ok',
            remote: 'mx.one.test',
            tls: null,
            transcript: 'C: QUIT',
            dueAt: now + 60_000,
          }) as Settlement,
      )
    await store.write((tx) => settle(tx, settlements, { lease: 3, now, land }))
    return settlements
  }
  return {
    store,
    clock,
    accountId,
    campaigns,
    land,
    retention,
    accept,
    deliver,
    usePlan,
    plans,
    rollUp: async () => {
      while (await rollUp(store)) {}
    },
    countBodies: async () => {
      while ((await countNextBodies(retention)).more) {}
    },
    /** Runs retention like the job, with the figures up to date. */
    async run(more: Partial<RetentionRunDeps> = {}, signal = new AbortController().signal) {
      while (await rollUp(store)) {}
      return await runRetention({ ...retention, ...more }, signal)
    },
    mails: async () =>
      (await store.read.selectFrom('emails').select('id').orderBy('id').execute()).map(
        ({ id }) => id,
      ),
    rows: async (
      table:
        | 'bodies'
        | 'deferred_transcripts'
        | 'deliveries'
        | 'contents'
        | 'content_pieces'
        | 'email_tags'
        | 'recipient_entries'
        | 'past_deliveries'
        | 'body_uses'
        | 'received'
        | 'received_headers'
        | 'received_texts'
        | 'retention_waiting',
    ) =>
      Number(
        (
          await store.read
            .selectFrom(table)
            .select(({ fn }) => fn.countAll<number>().as('rows'))
            .executeTakeFirstOrThrow()
        ).rows,
      ),
  }
}

export type MailLog = Awaited<ReturnType<typeof openMailLog>>

/** The account of a store that is opened again; none for a new one. */
async function accountIn(store: Store, clock: FakeClock) {
  const { createAccount } = await import('../../src/accounts/index.js')
  const { addDomain } = await import('../../src/domains/index.js')
  const { makeApplianceKey } = await import('../../src/config/index.js')
  const known = await store.read
    .selectFrom('accounts')
    .select('id')
    .where('name', '=', 'City')
    .executeTakeFirst()
  if (known !== undefined) return { accountId: known.id }
  const { id } = await createAccount({ store, clock }, 'City')
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  await addDomain({ store, clock, key }, id, 'sender.test', {
    trust: true,
    rsaPair: await rsaPair(),
  })
  return { accountId: id }
}
