import { closed, count, type Description, orNull, shaped, text, uuid } from './describe.js'

/**
 * Field names and their types are the contract's, `priceNaira` too, whatever currency an operator
 * bills in. `unlimited` is there only where it is true, because JSON has no infinity.
 */
const plan = {
  id: uuid('Stays the same when the plan is renamed'),
  name: text('Shown to people'),
  monthlyLimit: count('Mails a calendar month, UTC; 0 together with `unlimited`'),
  unlimited: { const: true, description: 'Only on plans without any cap' },
  priceNaira: { type: 'number', minimum: 0, description: 'A month, in Naira; 0 if it is free' },
  paymentProviderPlanCode: orNull(text('Null on plans that cost nothing')),
  retentionDays: count('How long mails stay in the log'),
  features: { type: 'array', items: { type: 'string' }, description: 'For people' },
}

export const billing: Description = {
  tag: { name: 'Plans', description: 'What an account may send.' },
  schemas: {
    Plan: closed(plan, ['unlimited']),
    Plans: closed({ plans: { type: 'array', items: shaped('Plan') } }),
  },
  operations: {
    'GET /v1/billing/plans': {
      id: 'listPlans',
      summary: 'List the email plans',
      // Public, as interface.md has it: a page with prices is shown before anybody has a key.
      description: 'For anybody: no key is asked for and no request counted.',
      answers: [
        {
          status: 200,
          when: 'The plans',
          shape: 'Plans',
          value: {
            plans: [
              {
                id: '5c0c3a8e-3f0b-4b55-9d5e-0b1c7a3f1a01',
                name: 'Free',
                monthlyLimit: 3_000,
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
                priceNaira: 0,
                paymentProviderPlanCode: null,
                retentionDays: 90,
                features: ['Unlimited emails'],
              },
            ],
          },
        },
      ],
      refusals: [],
    },
  },
}
