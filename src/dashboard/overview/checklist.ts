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

/** What a new account does first; none once its mail has left. */
export function firstSteps(
  { base, may }: Visit,
  known: {
    billing: Pick<AccountBilling, 'plan'>
    domains: readonly Domain[]
    keys: number
    hasMail: boolean
    webhooks: number
  },
): ChecklistStep[] {
  const { domains, keys, hasMail, webhooks, billing } = known
  const isVerified = domains.some(({ status }) => status === 'verified')
  // The optional webhook does not keep the list there for ever.
  if (isVerified && hasMail && keys > 0) return []
  const step = (done: boolean, label: string, why: string, path: string, allowed: boolean) => ({
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
  ]
}
