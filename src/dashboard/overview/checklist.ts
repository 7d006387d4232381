import type { AccountBilling } from '../../billing/index.js'
import type { Domain } from '../../domains/index.js'
import type { Visit } from '../shell/visit.js'

/** A step of the first day. `href` is undefined when it is done, or not for this person to do. */
export interface ChecklistStep {
  done: boolean
  label: string
  why: string
  href: string | undefined
}

/** How far an account with a marketing plan is on its way to a first campaign. */
export interface MarketingBegun {
  lists: boolean
  people: boolean
  campaigns: boolean
  tested: boolean
  sent: boolean
}

type MakeStep = (
  done: boolean,
  label: string,
  why: string,
  path: string,
  allowed: boolean,
) => ChecklistStep

/** What a new account does first; none once its mail has left. */
export function firstSteps(
  { base, may }: Visit,
  known: {
    billing: Pick<AccountBilling, 'plan'>
    domains: readonly Domain[]
    keys: number
    hasMail: boolean
    webhooks: number
    marketing: MarketingBegun | undefined
  },
): ChecklistStep[] {
  const { domains, keys, hasMail, webhooks, billing, marketing } = known
  const isVerified = domains.some(({ status }) => status === 'verified')
  // The optional webhook does not keep the list there for ever.
  const isSending = isVerified && hasMail && (keys > 0 || marketing?.sent === true)
  // Who sends by API alone is not asked for campaigns for ever.
  const wantsCampaigns = marketing?.sent === false && (!isSending || marketing.lists)
  if (isSending && !wantsCampaigns) return []
  const step: MakeStep = (done, label, why, path, allowed) => ({
    done,
    label,
    why,
    href: allowed && !done ? `${base}${path}` : undefined,
  })
  return [
    step(
      isVerified,
      'Verify a domain',
      'Its DNS records show receivers that the mail is yours.',
      '/domains',
      may('domains.read'),
    ),
    step(
      keys > 0,
      'Make an API key',
      'Your application sends with it.',
      '/keys',
      may('keys.write'),
    ),
    step(
      hasMail,
      'Send a first mail',
      'From here to yourself, or by the API.',
      '/emails/new',
      may('emails.send') && isVerified,
    ),
    ...(billing.plan.webhooks
      ? [
          step(
            webhooks > 0,
            'Add a webhook (optional)',
            'It tells your application what becomes of each mail.',
            '/webhooks',
            may('webhooks.write'),
          ),
        ]
      : []),
    ...(wantsCampaigns ? campaignSteps(marketing, { step, may }) : []),
  ]
}

function campaignSteps(
  { lists, people, campaigns, tested }: MarketingBegun,
  { step, may }: { step: MakeStep; may: Visit['may'] },
): ChecklistStep[] {
  const writes = may('campaigns.write')
  const holds = may('contacts.write')
  return [
    step(lists, 'Make a list', 'The people of a campaign are on it.', '/lists', holds),
    step(people, 'Import people', 'From a CSV file, or pasted.', '/contacts/import', holds),
    step(
      campaigns,
      'Write a campaign',
      'One mail to everybody on your lists.',
      '/campaigns/new',
      writes,
    ),
    step(
      tested,
      'Send yourself a test',
      'From the page of the campaign: it comes as your readers get it.',
      '/campaigns',
      writes && campaigns,
    ),
  ]
}
