import type { Broadcast } from '../../broadcasts/index.js'
import { type PageAnswer, redirect } from '../shell/answer.js'
import type { Visit } from '../shell/visit.js'

/** Leads who asks for a page of drafts alone to the campaign that it has become, and says so there. */
export const ledToCampaign = (
  { base }: Pick<Visit, 'base'>,
  { id }: Pick<Broadcast, 'id'>,
): PageAnswer =>
  redirect(`${base}/campaigns/${id}`, {
    flash:
      'It is no draft any more, so it is neither changed nor sent again: this is how it stands',
  })
