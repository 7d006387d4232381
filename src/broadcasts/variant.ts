import { createHash } from 'node:crypto'
import type { Selectable } from 'kysely'
import { shownCount } from '../amounts/index.js'
import { ApiError } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import type { BroadcastVariantRow, Read } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import type { ContentInput } from './content.js'

/** A version of a campaign, as its row has it. */
export type Variant = Selectable<BroadcastVariantRow>

/** A version as a request gives it; what is missing is as in the campaign. */
export interface VariantInput extends ContentInput {
  key?: string | undefined
  subject?: string | undefined
  fromName?: string | undefined
  previewText?: string | undefined
}

/** How the versions of a campaign are tried. */
export interface VariantTest {
  /** Which percentage of the audience gets the test. */
  share: number
  /** Hours after the last mail of the test. */
  decideAfter: number | 'by hand'
  by: 'clicks' | 'opens'
  /** What the rest gets if none is surely better: the first version, or nothing before somebody chooses. */
  ifClose: 'control' | 'wait'
}

export const usualTest: VariantTest = {
  share: 20,
  decideAfter: 4,
  by: 'clicks',
  ifClose: 'control',
}

/** On how many people each version must be tried, at least. */
export const leastOfVariant = 100

/**
 * The cursor of a campaign whose test is made, and whose rest waits for the decision; it sorts after each contact's id.
 */
export const endOfTest = '~~'

/** The test in a campaign's row; undefined: it has no versions. */
export const variantTestOf = ({
  variant_test,
}: Pick<Broadcast, 'variant_test'>): VariantTest | undefined =>
  variant_test === null ? undefined : (JSON.parse(variant_test) as VariantTest)

/** Whether a campaign is now tried on a part of its audience, so that the rest is still to come. */
export function hasRest(broadcast: Pick<Broadcast, 'variant_test' | 'winner'>): boolean {
  const test = variantTestOf(broadcast)
  return test !== undefined && test.share < 100 && broadcast.winner === null
}

/** The versions of a campaign by their keys; the others are compared with the first. */
export const variantsOf = async (read: Read, broadcastId: string): Promise<Variant[]> =>
  await read
    .selectFrom('broadcast_variants')
    .selectAll()
    .where('broadcast_id', '=', broadcastId)
    .orderBy('key')
    .execute()

/** A number from 0 up to 1 for a contact: always the same in one campaign, and another in each campaign. */
const lotOf = (broadcastId: string, contactId: string): number =>
  createHash('sha256').update(`${broadcastId} ${contactId}`).digest().readUInt32BE(0) / 2 ** 32

/** How many of an audience a test goes to. */
export const testSize = (audience: number, { share }: Pick<VariantTest, 'share'>): number =>
  Math.ceil((audience * share) / 100)

/** The part of a campaign with versions to which its mails go now: its test, or the rest. */
export interface Part {
  /**
   * Whether a contact belongs to it; asked once for each, in their order. `tested`: who has got a mail of the test, if
   * that was written down.
   */
  takes(contactId: string, tested: ReadonlySet<string> | undefined): boolean
  /** The version of the nth mail of this turn, from 0 on. */
  versionOf(n: number): Variant | undefined
  /** How many people were looked at for the test, and how many drawn, since the last call. */
  drawn(): { seen: number; drawn: number }
}

type Parted = Pick<Broadcast, 'id' | 'winner' | 'variant_test' | 'audience' | 'recipients'> &
  Pick<Broadcast, 'test_seen' | 'test_drawn'>

/**
 * While a campaign is tried, its test is drawn by lot from its audience in one pass, so that it has exactly `testSize`
 * people (Knuth, TAOCP 2 §3.4.2, algorithm S). Versions take turns, so that each has as many. Once a version is chosen,
 * everybody who was not tested gets it. Where the audience has shrunk since it was counted, the last people are drawn
 * for sure.
 */
export function makePart(broadcast: Parted, variants: readonly Variant[]): Part {
  const { id, winner, audience, recipients } = broadcast
  const test = variantTestOf(broadcast) ?? usualTest
  if (winner !== null) {
    const chosen = variants.find(({ key }) => key === winner)
    return {
      // Older releases have not written it down: there the lot alone decided.
      takes: (contactId, tested) =>
        tested === undefined ? lotOf(id, contactId) >= test.share / 100 : !tested.has(contactId),
      versionOf: () => chosen,
      drawn: () => ({ seen: 0, drawn: 0 }),
    }
  }
  const size = testSize(audience, test)
  const sum = { seen: broadcast.test_seen, drawn: broadcast.test_drawn }
  let told = { ...sum }
  return {
    takes(contactId) {
      const left = audience - sum.seen
      const wanted = size - sum.drawn
      const isDrawn =
        test.share === 100 || (wanted > 0 && lotOf(id, contactId) * Math.max(1, left) < wanted)
      sum.seen++
      if (isDrawn) sum.drawn++
      return isDrawn
    },
    versionOf: (n) => variants[(recipients + n) % variants.length],
    drawn() {
      const since = { seen: sum.seen - told.seen, drawn: sum.drawn - told.drawn }
      told = { ...sum }
      return since
    },
  }
}

/** A campaign with the content of one of its versions. */
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

/** A campaign as its recipients get it: once for each of its versions, or once without a key if it has none. */
export async function asRecipientsGet(
  read: Read,
  broadcast: Broadcast,
): Promise<{ key: string | undefined; seen: Broadcast }[]> {
  const variants = broadcast.variant_test === null ? [] : await variantsOf(read, broadcast.id)
  if (variants.length === 0) return [{ key: undefined, seen: broadcast }]
  return variants.map((one) => ({ key: one.key, seen: asVariant(broadcast, one) }))
}

/** The sender with another name. */
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
  const each = Math.floor(testSize(audience, test) / variants)
  if (each >= leastOfVariant) return
  const needed = Math.ceil((variants * leastOfVariant * 100) / test.share)
  throw new ApiError(
    'validation_error',
    `Each version goes to ${each} people, and needs ${leastOfVariant}: ${test.share} % of ${shownCount(audience)} people in ${variants} versions. Test a larger share, fewer versions, or ${shownCount(needed)} people`,
    { fields: { each, least: leastOfVariant, needed } },
  )
}
