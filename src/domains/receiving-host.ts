import { isBelow } from '../dns/index.js'
import { ApiError } from '../errors/index.js'
import { prepared, type Store } from '../store/index.js'
import { checkedName, type Domain, domainById, findDomain } from './domain.js'
import { type RecordSettings, returnPathHost } from './records.js'

/**
 * Sets the host at which a domain receives mail: itself or a name below it; null: none. Mail is taken there once the
 * domain is verified, and where rules name an address of it. Throws a 422 for any other host, and a 409 for one at
 * which another account receives.
 */
export async function setReceivingHost(
  { store, settings }: { store: Store; settings: Pick<RecordSettings, 'heloName'> },
  accountId: string,
  name: string,
  host: string | null,
): Promise<Domain> {
  const { id } = await findDomain(store.read, accountId, name)
  const checked = host === null ? null : checkedName(host)
  await store.write(async (tx) => {
    const domain = await domainById(tx, accountId, id)
    if (checked !== null) {
      refuseElsewhere(domain, checked, settings)
      await makeFree(tx, id, checked)
    }
    const isSame = domain.receivingHost === checked && domain.receivingHostReady
    await tx
      .updateTable('domains')
      .set({
        receiving_host: checked,
        receiving_host_ready: checked !== null && (domain.trusted || isSame) ? 1 : 0,
      })
      .where('id', '=', id)
      .execute()
  })
  return await findDomain(store.read, accountId, name)
}

/** Refuses a host that is not the domain's, and our own hosts, which receive other mail. */
function refuseElsewhere(
  { name }: Domain,
  host: string,
  { heloName }: Pick<RecordSettings, 'heloName'>,
): void {
  const why =
    host !== name && !isBelow(host, name)
      ? `${host} is neither ${name} nor a name below it`
      : host === returnPathHost(name) || host === heloName.toLowerCase()
        ? `Bounces come to ${host}; mail needs a host of its own, such as in.${name}`
        : undefined
  if (why === undefined) return
  throw new ApiError('validation_error', why, { status: 422, fields: { field: 'receivingHost' } })
}

/** An account that has set the host and is not verified has no right to keep others from it. */
async function makeFree(
  tx: Parameters<Parameters<Store['write']>[0]>[0],
  id: string,
  host: string,
) {
  const holder = await tx
    .selectFrom('domains')
    .select(['id', 'status'])
    .where('receiving_host', '=', host)
    .where('id', '<>', id)
    .executeTakeFirst()
  if (holder === undefined) return
  if (holder.status === 'verified') {
    throw new ApiError('conflict', `Mail to ${host} is received by another account already`)
  }
  await tx
    .updateTable('domains')
    .set({ receiving_host: null, receiving_host_ready: 0 })
    .where('id', '=', holder.id)
    .execute()
}

/**
 * To whom mail to that host (A-labels, lower case) belongs: the domain of an account that receives there, once it is
 * verified.
 */
export const receiverAt = prepared<{ host: string }, { id: string; account_id: string }>(
  (db, { host }) =>
    db
      .selectFrom('domains')
      .select(['id', 'account_id'])
      .where('receiving_host', '=', host)
      .where('status', '=', 'verified'),
)
