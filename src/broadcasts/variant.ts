import { createHash } from 'node:crypto'
import type { Selectable } from 'kysely'
import { ApiError } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import type { BroadcastVariantRow, Read } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import type { ContentInput } from './content.js'

/** A version of a campaign as a row has it. */
export type Variant = Selectable<BroadcastVariantRow>

/** A version as a request gives it: what is not given is as the campaign has it. */
export interface VariantInput extends ContentInput {
  key?: string | undefined
  subject?: string | undefined
  fromName?: string | undefined
  previewText?: string | undefined
}

/** How the versions of a campaign are tried. */
export interface VariantTest {
  /** Percent of the audience that the test goes to. */
  share: number
  /** Hours after the last mail of the test. */
  decideAfter: number | 'by hand'
  by: 'clicks' | 'opens'
  /** What the rest gets where none is better for sure: the first version, or nothing before somebody chooses. */
  ifClose: 'control' | 'wait'
}

export const usualTest: VariantTest = {
  share: 20,
  decideAfter: 4,
  by: 'clicks',
  ifClose: 'control',
}

/** So many people each version is tried on, at least. */
export const leastOfVariant = 100

/** The cursor of a campaign whose test is made, and whose rest waits for the decision; behind each contact's id. */
export const endOfTest = '~~'

/** Of a campaign's row; undefined: it has no versions. */
export const variantTestOf = ({
  variant_test,
}: Pick<Broadcast, 'variant_test'>): VariantTest | undefined =>
  variant_test === null ? undefined : (JSON.parse(variant_test) as VariantTest)

/** The versions of a campaign by their keys; the first is the one that the others are compared with. */
export const variantsOf = async (read: Read, broadcastId: string): Promise<Variant[]> =>
  await read
    .selectFrom('broadcast_variants')
    .selectAll()
    .where('broadcast_id', '=', broadcastId)
    .orderBy('key')
    .execute()

/** Which part of a campaign a contact is in: always the same, and of each campaign another. */
function placeOf(broadcastId: string, contactId: string) {
  const hash = createHash('sha256').update(`${broadcastId} ${contactId}`).digest()
  return { share: hash.readUInt32BE(0) / 2 ** 32, version: hash.readUInt32BE(4) }
}

/**
 * Which version each contact gets now, of a campaign that has some: while it is tried, those of the test one of them; once
 * one is chosen, all that were not `tested` that; where nobody has written down who was, those whose place is not in the test.
 * Undefined is one who is not of this part.
 */
export function makePart(
  { id, winner, variant_test }: Pick<Broadcast, 'id' | 'winner' | 'variant_test'>,
  variants: readonly Variant[],
): (contactId: string, tested?: ReadonlySet<string>) => Variant | undefined {
  const test = variantTestOf({ variant_test }) ?? usualTest
  const chosen = variants.find(({ key }) => key === winner)
  return (contactId, tested) => {
    const { share, version } = placeOf(id, contactId)
    const isTest = share < test.share / 100
    if (winner !== null) {
      const hasGot = isTest && (tested === undefined || tested.has(contactId))
      return hasGot ? undefined : chosen
    }
    return isTest ? variants[version % variants.length] : undefined
  }
}

/** A campaign as one of its versions has it. */
export function asVariant(broadcast: Broadcast, variant: Variant | undefined): Broadcast {
  if (variant === undefined) return broadcast
  const { subject, from_name, preview_text, body_id, blocks } = variant
  return Object.assign({}, broadcast, {
    subject: subject ?? broadcast.subject,
    from_header: withName(broadcast.from_header, from_name),
    preview_text: preview_text ?? broadcast.preview_text,
    body_id: body_id ?? broadcast.body_id,
    blocks: body_id === null ? broadcast.blocks : blocks,
  })
}

/** A campaign as its recipients get it: once for each of its versions, or once without a key where it has none. */
export async function asRecipientsGet(
  read: Read,
  broadcast: Broadcast,
): Promise<{ key: string | undefined; seen: Broadcast }[]> {
  const variants = broadcast.variant_test === null ? [] : await variantsOf(read, broadcast.id)
  if (variants.length === 0) return [{ key: undefined, seen: broadcast }]
  return variants.map((one) => ({ key: one.key, seen: asVariant(broadcast, one) }))
}

/** The sender by another name. */
export function withName(header: string, name: string | null): string {
  const mailbox = name === null ? undefined : parseMailbox(header)
  if (mailbox === undefined || name === null) return header
  return `"${name.replaceAll(/["\\]/g, '\\$&')}" <${mailbox.address}>`
}

/** A 400 where the test has fewer people than each version needs. */
export function refuseSmallTest(
  test: VariantTest | undefined,
  variants: number,
  audience: number,
): void {
  if (test === undefined) return
  const each = Math.floor((audience * test.share) / 100 / variants)
  if (each >= leastOfVariant) return
  const needed = Math.ceil((variants * leastOfVariant * 100) / test.share)
  throw new ApiError(
    'validation_error',
    `Each version goes to about ${each} people, and needs ${leastOfVariant}: ${test.share} % of ${audience} people in ${variants} versions. Test a larger share, fewer versions, or ${needed} people`,
    { fields: { each, least: leastOfVariant, needed } },
  )
}
