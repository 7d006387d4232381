import type { EmailRecord } from '../../emails/index.js'
import type { Read } from '../../store/index.js'
import type { Visit } from '../shell/visit.js'

/** What made a mail, and where its other mails are. */
export interface Origin {
  label: string
  name: string
  href: string
}

/** The campaign, the step of an automation and the template that it was made by. */
export async function originOf(
  read: Read,
  { base, account }: Visit,
  { id, broadcastId, template }: EmailRecord,
): Promise<Origin[]> {
  const others = (query: Record<string, string>) => `${base}/emails?${new URLSearchParams(query)}`
  const origins: Origin[] = []
  if (broadcastId !== null) {
    const name = await campaignName(read, account.id, broadcastId)
    origins.push({ label: 'Campaign', name: name ?? broadcastId, href: others({ broadcastId }) })
  }
  const step = await stepOf(read, id)
  if (step !== undefined) {
    const { automationId, key } = step
    origins.push({
      label: 'Automation',
      name: `${step.name}, step ${key}`,
      href: others({ automationId, step: key }),
    })
  }
  if (template !== null) {
    origins.push({ label: 'Template', name: template, href: `${base}/templates/${template}` })
  }
  return origins
}

/** A campaign's name or, without one, its subject; undefined once it was deleted. */
async function campaignName(read: Read, accountId: string, id: string) {
  const row = await read
    .selectFrom('broadcasts')
    .select(['name', 'subject'])
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row && (row.name || row.subject)
}

/** The step of an automation that made the mail, if one did. */
async function stepOf(read: Read, emailId: string) {
  return await read
    .selectFrom('emails')
    .innerJoin('automation_steps', 'automation_steps.id', 'emails.automation_step_id')
    .innerJoin('automations', 'automations.id', 'automation_steps.automation_id')
    .select(['automations.id as automationId', 'automations.name', 'automation_steps.key'])
    .where('emails.id', '=', emailId)
    .executeTakeFirst()
}
