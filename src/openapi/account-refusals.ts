import { type Refusal, refusal } from './describe.js'

/** Of everything that adds something to an account. */
export const accountRefusals: Refusal[] = [
  refusal(
    'account_suspended',
    'The operator has suspended the account',
    'The account is suspended; contact the operator',
  ),
  refusal(
    'subscription_expired',
    'The subscription has ended',
    'The subscription has ended; renew it to go on',
  ),
]

/** Of what a renewal that failed stops too. */
export const pastDue = refusal(
  'subscription_past_due',
  'The renewal failed',
  'The renewal failed: nothing can be added until it is paid; sending goes on',
)
