import type { Action } from '../../people/index.js'
import { maxPictureBytes } from '../../pictures/index.js'
import type { PageAnswer } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { type BlockDeedDeps, storeDeed, withInserted } from './deeds.js'
import { withPictureWords } from './picture-words.js'
import { withPutBack } from './removed-card.js'

interface EditorPage {
  looking: { action: Action; reads: true; maxBodyBytes: number }
  show: (visit: Visit, faults: Faults) => Promise<PageAnswer>
}

/** What buttons of the editor at a path do beside saving: `/preview` shows what is typed, `/blocks` stores a part of it. */
export function blockDeedPages(
  pages: AccountPages,
  deps: BlockDeedDeps,
  at: string,
  { looking, show }: EditorPage,
): void {
  pages.post(`${at}/preview`, { ...looking, again: show }, async (visit) => {
    const told = await withPictureWords(deps, visit.account.id, visit.fields)
    const fields = withPutBack(await withInserted(deps, visit.account.id, told))
    return await show({ ...visit, fields }, noFaults)
  })
  // Pictures and templates are the account's: who may look at an editor may not store them by it.
  const storing = {
    action: 'campaigns.write',
    maxBodyBytes: looking.maxBodyBytes + maxPictureBytes,
    again: show,
  } as const
  pages.post(`${at}/blocks`, storing, async (visit) => {
    const told = await withPictureWords(deps, visit.account.id, visit.fields)
    const { fields, audit } = await storeDeed(deps, visit.account.id, told)
    return { ...(await show({ ...visit, fields }, noFaults)), audit }
  })
}
