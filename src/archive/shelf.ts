import { keepNewest, makeInTurn } from '../bounded/index.js'
import {
  type ArchivedCampaign,
  archivedCampaign,
  type ForNobody,
  forNobody,
  makeArchivedPreviews,
  makeArchivedSubjects,
} from '../broadcasts/index.js'
import { ApiError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import type { Renderer } from '../templates/index.js'

// How many are kept: the campaigns that were asked for last, most of about 30 KiB, and more subjects.
const maxKept = 64
const maxKeptChars = 8 * 1024 * 1024
const maxSubjects = 5_000
// How many renderings of an account may wait. Strangers cause no more work than one rendering at a time.
const mostWaiting = 20

/** Past campaigns as everybody sees them, each rendered once and kept. */
export function makeShelf({
  read,
  renderer,
}: {
  read: Read
  renderer: () => Renderer | undefined
}) {
  const kept = new Map<string, ForNobody>()
  const subjects = new Map<string, string>()
  const previews = new Map<string, string>()
  const inTurn = makeInTurn(mostWaiting, later)
  const rendererNow = () => {
    const now = renderer()
    if (now === undefined) throw later()
    return now
  }

  function keep(made: ForNobody): void {
    if (made.html.length > maxKeptChars / 4) return
    keepNewest(kept, made.version, made, maxKept)
    let chars = 0
    for (const [version, { html }] of [...kept].reverse()) {
      chars += html.length
      if (chars > maxKeptChars) kept.delete(version)
    }
  }

  return {
    /** Undefined for a campaign that may not be seen, or whose content is deleted. */
    async campaign(accountId: string, id: string): Promise<ForNobody | undefined> {
      const found = await archivedCampaign(read, accountId, id)
      if (found === undefined) return undefined
      const known = kept.get(found.version)
      if (known !== undefined) return known
      return await inTurn(accountId, async () => {
        const meanwhile = kept.get(found.version)
        if (meanwhile !== undefined) return meanwhile
        const made = await forNobody({ read, renderer: rendererNow() }, found)
        if (made !== undefined) keep(made)
        return made
      })
    },

    async subject(campaign: ArchivedCampaign): Promise<string> {
      const key = `${campaign.id} ${campaign.subject}`
      const known = subjects.get(key)
      if (known !== undefined) return known
      const made = await inTurn(campaign.account_id, () =>
        makeArchivedSubjects(rendererNow())(campaign),
      )
      keepNewest(subjects, key, made, maxSubjects)
      return made
    },

    /** Empty where there is none. */
    async preview(campaign: ArchivedCampaign): Promise<string> {
      if (!campaign.previewText) return ''
      const key = `${campaign.id} ${campaign.previewText}`
      const known = previews.get(key)
      if (known !== undefined) return known
      const made = await inTurn(
        campaign.account_id,
        async () => (await makeArchivedPreviews(rendererNow())(campaign)) ?? '',
      )
      keepNewest(previews, key, made, maxSubjects)
      return made
    },
  }
}

export type Shelf = ReturnType<typeof makeShelf>

const later = () =>
  new ApiError('service_unavailable', 'Too much is asked for at once; try again in a moment', {
    headers: { 'retry-after': '5' },
  })
