import type { BlockDocument } from '../blocks/index.js'
import { isoTime } from '../clock/index.js'
import { type Read, storedJson } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import { chancesOf, shareOf } from './decide.js'
import { usualTest, type Variant, variantsOf, variantTestOf } from './variant.js'

/** The shown versions, read for a campaign; one without versions costs nothing. */
export const campaignVersions = async (read: Read, broadcast: Broadcast) =>
  shownVariants(
    broadcast,
    broadcast.variant_test === null ? [] : await variantsOf(read, broadcast.id),
  )

/** The versions of a campaign as clients see them, and what is known about their test. */
export function shownVariants(broadcast: Broadcast, variants: readonly Variant[]) {
  const test = variantTestOf(broadcast)
  const { by } = test ?? usualTest
  const chances = chancesOf(variants, by)
  return {
    variants: variants.map((variant) => ({
      key: variant.key,
      subject: variant.subject,
      fromName: variant.from_name,
      previewText: variant.preview_text,
      blocks: (storedJson(variant.blocks) as BlockDocument | undefined) ?? null,
      ownContent: variant.body_id !== null,
      recipients: variant.recipients,
      delivered: variant.delivered + variant.relayed,
      bounced: variant.bounced,
      opened: variant.opened,
      clicked: variant.clicked,
      test: {
        recipients: variant.recipients - variant.rest_mails,
        delivered: variant.delivered + variant.relayed - variant.rest_arrived,
        opened: variant.opened - variant.rest_opened,
        clicked: variant.clicked - variant.rest_clicked,
        compared: shareOf(variant, by),
      },
      rest:
        variant.rest_after === null
          ? null
          : {
              recipients: variant.rest_mails,
              delivered: variant.rest_arrived,
              opened: variant.rest_opened,
              clicked: variant.rest_clicked,
            },
      chance: Math.round((chances.get(variant.key) ?? 0) * 1_000) / 1_000,
    })),
    variantTest: test
      ? {
          ...test,
          decideAt: isoTime(broadcast.decide_at),
          chosen: broadcast.winner,
          chosenBy: broadcast.decided_by,
          chosenAt: isoTime(broadcast.decided_at),
        }
      : null,
  }
}
