import { answer, type Contract, manyOf, operation } from '../contract/index.js'
import { closed, count, orNull, text, uuid } from '../fields/index.js'

/**
 * Field names and types come from the contract, including `priceNaira`, whatever currency an operator bills in.
 * `unlimited` is there only where it is true, because JSON has no infinity.
 */
const plan = {
  id: uuid('The id of the plan, which stays the same when the plan is renamed'),
  name: text('The name of the plan, as people see it'),
  monthlyLimit: count('How many mails a calendar month (UTC) allows; 0 together with `unlimited`'),
  unlimited: { const: true, description: 'True on plans without any limit, absent on others' },
  perHour: orNull(count('How many mails may be handed in within a clock hour; null: any number')),
  perMinute: orNull(
    count('How many mails may be handed in within a clock minute; null: any number'),
  ),
  receivedPerDay: orNull(count('How many mails may come in within a day (UTC); null: any number')),
  receivedPerHour: orNull(
    count(
      'How many mails may come in within a clock hour, half of them from one network; null: any number',
    ),
  ),
  receivedMib: count('How large a mail that comes in may be, in MiB'),
  priceNaira: {
    type: 'number',
    minimum: 0,
    description: 'The price of a month in Naira; 0 if the plan is free',
  },
  paymentProviderPlanCode: orNull(
    text('The code of the plan at the payment provider; null on plans that cost nothing'),
  ),
  retentionDays: count('How many days mails stay in the log'),
  features: {
    type: 'array',
    items: { type: 'string' },
    description: 'What the plan includes, in words for people',
  },
}

export const listPlans = operation('GET /v1/billing/plans', {
  id: 'listPlans',
  // As interface.md has it: a page with prices is shown before anybody has a key.
  may: 'public',
  says: () => ({
    summary: 'List the email plans',
    description: 'For anybody: no key is asked for and no request counted.',
    answers: [
      answer(
        'The plans',
        'Plans',
        { plans: manyOf('Plan') },
        {
          plans: [
            {
              id: '5c0c3a8e-3f0b-4b55-9d5e-0b1c7a3f1a01',
              name: 'Free',
              monthlyLimit: 3_000,
              perHour: null,
              perMinute: null,
              receivedPerDay: 100,
              receivedPerHour: null,
              receivedMib: 20,
              priceNaira: 0,
              paymentProviderPlanCode: null,
              retentionDays: 7,
              features: ['3,000 emails a month', '100 emails a day', '1 sending domain'],
            },
            {
              id: '5c0c3a8e-3f0b-4b55-9d5e-0b1c7a3f1a05',
              name: 'Unlimited',
              monthlyLimit: 0,
              unlimited: true,
              perHour: null,
              perMinute: null,
              receivedPerDay: null,
              receivedPerHour: null,
              receivedMib: 20,
              priceNaira: 0,
              paymentProviderPlanCode: null,
              retentionDays: 90,
              features: ['Unlimited emails'],
            },
          ],
        },
      ),
    ],
  }),
})

export const billing: Contract = {
  tag: { name: 'Plans', description: 'How much mail an account may send, and what that costs.' },
  operations: [listPlans],
  shapes: () => ({ Plan: closed(plan, ['unlimited']) }),
}
