import { findAutomation } from '../../automations/index.js'
import { ApiError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import { openIn } from '../blocks/open-cards.js'
import { linkTo } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'

/*
 * Whoever writes the mails of an automation comes from it to each template, and goes back. The address names the
 * automation only by its id, `?for=…`, so that it can lead only to an automation of the same account.
 */

export interface AutomationOrigin {
  id: string
  label: string
  href: string
}

type Asked = Pick<Visit<unknown>, 'account' | 'base' | 'fields' | 'query'>

/** The automation that an address or a form names; undefined for none, or one of another account. */
export async function originOf(read: Read, visit: Asked): Promise<AutomationOrigin | undefined> {
  const id = namedIn(visit)
  if (id === '') return undefined
  try {
    const { name, status } = await findAutomation(read, visit.account.id, id)
    const page = `${visit.base}/automations/${id}`
    return { id, label: name, href: status === 'archived' ? page : `${page}/edit` }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    return undefined
  }
}

const namedIn = ({ fields, query }: Pick<Asked, 'fields' | 'query'>) =>
  fields.get('for') ?? query.get('for') ?? ''

/** The page of a template, for whoever comes from an automation. */
export const templatePath = (base: string, slug: string, automationId?: string): string =>
  linkTo(`${base}/templates/${slug}`, { for: automationId })

/** The template's page again, after an action there, with those cards open that were. */
export const templateAgain = ({ base, fields, query }: Asked, slug: string): string =>
  linkTo(`${base}/templates/${slug}`, {
    for: namedIn({ fields, query }) || undefined,
    open: openIn(fields),
  })
