import { deliveriesOf, findPast, type Past, type ReturnPaths } from '../deliveries/index.js'
import type { Report } from '../reports/index.js'
import type { Tx } from '../store/index.js'

/** The deliveries that a report is about, and whether it shows that it may speak of them. */
export interface Concerned {
  deliveries: Past[]
  proven: boolean
}

/**
 * What only a recipient's servers can know is proof: the signed return path it came to, or one inside
 * it, which each copy of a mail has in its CFBL-Address. The id of our own message is none: whoever
 * else got the mail knows it as well, and an address that a report names anybody can write.
 */
export async function deliveriesReported(
  tx: Tx,
  {
    returnPaths,
    recipients,
    report,
  }: {
    returnPaths: ReturnPaths
    /** Where it was sent to. */
    recipients: readonly string[]
    report: Report
  },
): Promise<Concerned> {
  const signed = (addresses: readonly string[]) =>
    addresses.map(returnPaths.deliveryOf).filter((id): id is number => id !== undefined)
  const addressed = signed(recipients)
  const ids = addressed.length > 0 ? new Set(addressed) : new Set(signed(report.tokens).slice(0, 1))
  const proven = ids.size > 0
  if (!proven) {
    const id = await byMessageId(tx, report)
    if (id !== undefined) ids.add(id)
  }
  const deliveries: Past[] = []
  for (const id of ids) {
    const past = await findPast(tx, id)
    if (past !== undefined) deliveries.push(past)
  }
  return { deliveries, proven }
}

async function byMessageId(tx: Tx, report: Report): Promise<number | undefined> {
  const deliveries = await deliveriesOf(tx, report.original.messageId)
  const [only, ...others] = deliveries
  if (others.length === 0) return only?.id
  const named = addressesIn(report)
  const [one, ...more] = deliveries.filter(({ recipient }) => named.has(recipient.toLowerCase()))
  return more.length === 0 ? one?.id : undefined
}

function addressesIn(report: Report): Set<string> {
  const named =
    report.kind === 'dsn'
      ? report.recipients.flatMap((one) => [one.originalRecipient, one.finalRecipient])
      : report.kind === 'arf'
        ? [report.feedback.originalRecipient]
        : []
  return new Set(named.map((address) => address.toLowerCase()))
}
