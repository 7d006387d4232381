import { prepared, type Read, type Store } from '../store/index.js'

/** Whether opens and clicks of mail are tracked. */
export interface Switches {
  opens: boolean
  clicks: boolean
}

/** The switches of an account or a domain; null: the level above decides. */
export interface OwnSwitches {
  opens: boolean | null
  clicks: boolean | null
}

/** The tracking of a domain's mail: by its own switches, else its account's, else the settings'. */
export interface DomainTracking extends Switches {
  /** Opens of transactional mail: where the domain or its account says so. */
  opensOfTransactional: boolean
  /** The domain's own host for links, once the DNS points it here. */
  host: string | null
}

/**
 * What is tracked in a domain's mail: its own switch counts, else its account's, else the appliance's, whose switch
 * for opens is only for marketing mail.
 */
export async function trackingOf(
  read: Read,
  domainId: string,
  settings: Switches,
): Promise<DomainTracking | undefined> {
  const [row] = await switchesOf(read, { domainId })
  if (row === undefined) return undefined
  const ownOpens = flag(row.domainOpens) ?? flag(row.accountOpens)
  return {
    opens: ownOpens ?? settings.opens,
    opensOfTransactional: ownOpens ?? false,
    clicks: flag(row.domainClicks) ?? flag(row.accountClicks) ?? settings.clicks,
    host: row.ready === 1 ? row.host : null,
  }
}

/** An account's own switches; null where the appliance's count. */
export async function accountSwitches(read: Read, accountId: string): Promise<OwnSwitches> {
  const row = await read
    .selectFrom('accounts')
    .select(['track_opens', 'track_clicks'])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  return { opens: flag(row.track_opens), clicks: flag(row.track_clicks) }
}

/**
 * A domain's own switches; null where its account's count, also for a domain that is gone. It must be cheap, because
 * a list of domains asks for each.
 */
export async function domainSwitches(read: Read, domainId: string): Promise<OwnSwitches> {
  const own = await ownSwitchesOf(read, domainId)
  return own?.domain ?? { opens: null, clicks: null }
}

/** A domain's own switches, and those of its account; undefined for a domain that is gone. */
export async function ownSwitchesOf(
  read: Read,
  domainId: string,
): Promise<{ domain: OwnSwitches; account: OwnSwitches } | undefined> {
  const [row] = await switchesOf(read, { domainId })
  if (row === undefined) return undefined
  return {
    domain: { opens: flag(row.domainOpens), clicks: flag(row.domainClicks) },
    account: { opens: flag(row.accountOpens), clicks: flag(row.accountClicks) },
  }
}

/** Sets what is given and leaves the rest. */
export async function setSwitches(
  { store }: { store: Store },
  of: { accountId: string } | { domainId: string },
  { opens, clicks }: Partial<OwnSwitches>,
): Promise<void> {
  const columns = {
    ...(opens === undefined ? {} : { track_opens: column(opens) }),
    ...(clicks === undefined ? {} : { track_clicks: column(clicks) }),
  }
  if (Object.keys(columns).length === 0) return
  await store.write((tx) =>
    'accountId' in of
      ? tx.updateTable('accounts').set(columns).where('id', '=', of.accountId).execute()
      : tx.updateTable('domains').set(columns).where('id', '=', of.domainId).execute(),
  )
}

const flag = (column: number | null) => (column === null ? null : column === 1)
const column = (flag: boolean | null) => (flag === null ? null : Number(flag))

interface SwitchRow {
  domainOpens: number | null
  domainClicks: number | null
  accountOpens: number | null
  accountClicks: number | null
  host: string | null
  ready: number | null
}

const switchesOf = prepared<{ domainId: string }, SwitchRow>((db, { domainId }) =>
  db
    .selectFrom('domains')
    .innerJoin('accounts', 'accounts.id', 'domains.account_id')
    .select(['domains.track_opens as domainOpens', 'domains.track_clicks as domainClicks'])
    .select(['accounts.track_opens as accountOpens', 'accounts.track_clicks as accountClicks'])
    .select(['tracking_host as host', 'tracking_host_ready as ready'])
    .where('domains.id', '=', domainId),
)
