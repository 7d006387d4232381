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
const maxLines = 10_000
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
  // Subjects and preview texts, by their campaign and what they are made of.
  const lines = new Map<string, string>()
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

  async function line(
    { id, account_id: accountId }: ArchivedCampaign,
    liquid: string,
    make: () => Promise<string>,
  ): Promise<string> {
    const key = `${id} ${liquid}`
    const known = lines.get(key)
    if (known !== undefined) return known
    const made = await inTurn(accountId, make)
    keepNewest(lines, key, made, maxLines)
    return made
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
      return await line(campaign, `subject ${campaign.subject}`, () =>
        makeArchivedSubjects(rendererNow())(campaign),
      )
    },

    /** Empty where there is none. */
    async preview(campaign: ArchivedCampaign): Promise<string> {
      if (!campaign.previewText) return ''
      return await line(
        campaign,
        `preview ${campaign.previewText}`,
        async () => (await makeArchivedPreviews(rendererNow())(campaign)) ?? '',
      )
    },
  }
}

export type Shelf = ReturnType<typeof makeShelf>

const later = () =>
  new ApiError('service_unavailable', 'Too much is asked for at once; try again in a moment', {
    headers: { 'retry-after': '5' },
  })
