import { type AccountBilling, checkSending } from '../../billing/index.js'
import { findSenderDomain } from '../../domains/index.js'
import { ApiError, messageOf } from '../../errors/index.js'
import { parseMailbox } from '../../mime/index.js'
import type { Read } from '../../store/index.js'
import { findTemplate } from '../../templates/index.js'
import { findTopic } from '../../topics/index.js'
import { listEndpoints } from '../../webhooks/index.js'
import { joinedFaults } from './begins-with.js'
import { checkAudience } from './check-audience.js'
import type { AutomationDefinition, SendConfig } from './definition.js'
import { coded, type StepFault, type StepFaultCode } from './fault.js'
import { formFaults } from './forms.js'

/** What `lackingIn` finds. Throws the 402 of marketing mail without a plan. */
export async function checkEnabling(
  read: Read,
  billing: AccountBilling,
  definition: AutomationDefinition,
): Promise<StepFault[]> {
  const faults = await lackingIn(read, billing, definition)
  const marketing = definition.steps.flatMap(({ key, type, config }) =>
    type === 'send_email' && config.type !== 'transactional' ? [key] : [],
  )
  if (marketing.length > 0 && faults.length === 0) checkPlan(billing, marketing)
  return faults
}

/**
 * What a definition names and the account does not have: a template, a verified sender, a topic, a list, a segment, a
 * form, a webhook endpoint. The definition may be a draft: `validate` tells what it does not say yet.
 */
export async function lackingIn(
  read: Read,
  billing: AccountBilling,
  definition: AutomationDefinition,
): Promise<StepFault[]> {
  const faults = [
    ...(await checkAudience(read, billing.accountId, definition)),
    ...(await formFaults(read, billing.accountId, definition)),
    ...(await joinedFaults(read, billing.accountId, definition)),
  ]
  for (const { key, type, config } of definition.steps) {
    if (type === 'webhook' && config.endpointId !== '') {
      const endpoints = await listEndpoints(read, billing.accountId)
      const isThere = endpoints.some(({ id }) => id === config.endpointId.toLowerCase())
      if (!isThere) {
        const error = 'endpointId: the account has no such webhook endpoint'
        faults.push(coded(key, 'noEndpoint', error))
      } else if (!billing.plan.webhooks) {
        const error = `The plan ${billing.plan.name} has no webhooks; ask the operator for a plan that has them`
        faults.push({ key, error })
      }
    }
    if (type === 'send_email') {
      faults.push(...(await sendFaults(read, billing.accountId, { key, config })))
    }
  }
  return faults
}

/**
 * Only a missing plan stops the enabling. A pause or a suspension ends by itself or by an operator, and runs wait for
 * that.
 */
function checkPlan(billing: AccountBilling, marketing: readonly string[]): void {
  try {
    // The checks of a send, but as if nothing were paused.
    checkSending({ ...billing, paused: null, marketingPaused: null }, 'marketing')
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'marketing_subscription_required')
      throw error
    const { code, fields } = error
    const steps = marketing.slice(0, maxNamed).map((key) => `"${key}"`)
    const more = marketing.length > maxNamed ? ` and ${marketing.length - maxNamed} more` : ''
    const message =
      `Marketing mail needs a marketing plan; steps that send it: ${steps.join(', ')}${more}. ` +
      'Ask the operator for a marketing plan, then enable the automation'
    throw new ApiError(code, message, { fields })
  }
}

// Steps that the message names; the others are a number.
const maxNamed = 5

/**
 * interface.md: 422 if a send step names a missing template or a from domain that is not verified.
 * Each is looked for by the function that sends would use, so that they cannot disagree.
 */
async function sendFaults(
  read: Read,
  accountId: string,
  { key, config }: { key: string; config: SendConfig },
): Promise<StepFault[]> {
  const { template, templateVersion, from, topicId } = config
  const faults: StepFault[] = []
  const missing = (code: StepFaultCode, name: string) => (error: unknown) => {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    faults.push(coded(key, code, messageOf(error), name))
  }
  if (template !== '')
    await findTemplate(read, accountId, template, templateVersion).catch(
      missing('noTemplate', template),
    )
  const mailbox = parseMailbox(from)
  const domain = mailbox && (await findSenderDomain(read, accountId, mailbox.domain))
  if (mailbox === undefined) {
    const says = 'expected "email@domain" or "Name <email@domain>"'
    faults.push({ key, error: `from: ${says}`, is: { place: ['from'], says } })
  } else if (domain?.status !== 'verified') {
    const error = `The sending domain ${mailbox.domain} is not verified for this account`
    faults.push(coded(key, 'unverified', error, mailbox.domain))
  }
  if (topicId !== undefined) {
    await findTopic(read, accountId, topicId.toLowerCase()).catch(missing('noTopic', topicId))
  }
  return faults
}
