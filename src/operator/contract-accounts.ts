import {
  accountRefusals,
  answer,
  ceiling,
  deletedFields,
  invalidField,
  manyOf,
  type Named,
  type Operation,
  operation,
  pageFields,
  pageParams,
  pastDue,
  refusal,
  shape,
} from '../contract/index.js'
import {
  count,
  type Field,
  flag,
  line,
  maybe,
  oneOf,
  orNull,
  pathId,
  table,
  text,
  time,
  uuid,
  words,
} from '../fields/index.js'

/** An account that a path names; it may be any account. */
export const anyAccount: Named<{ id: Field<string> }> = {
  params: { id: pathId('The UUID of the account') },
  about: { id: 'The UUID of the account' },
  notFound: 'There is no such account',
  when: 'There is no such account',
}

const reason = oneOf(['bounce', 'complaint'], 'Because of what; it is shown to the account')
const pauseReason = {
  type: 'string',
  enum: ['bounce', 'complaint'],
}
const billingState = oneOf(
  ['active', 'past_due', 'expired'],
  'How its subscription stands: `past_due` sends on and adds nothing, `expired` sends nothing',
)
const name = line(1, 100, 'The name of the account, which no other has')
const why = (about: string) => line(1, 500, about)
const plan = words('Its email plan, by id or name')
const marketingPlan = words('Its marketing plan, by id or name; `none`: it has none')

const known = {
  id: uuid('The id of the account'),
  name: text('Its name'),
  createdAt: time('When it was made'),
  plan: text('The name of its email plan'),
  planId: text('The id of its email plan'),
  marketingPlan: orNull(text('The name of its marketing plan; null: it has none')),
  billingState: billingState.schema,
  suspended: orNull(text('Why an operator has suspended it; null: it is not')),
  paused: orNull({
    ...pauseReason,
    description: 'Because of what all its mail is paused; null: it is not',
  }),
  marketingPaused: orNull({
    ...pauseReason,
    description: 'Because of what its marketing is paused; null: it is not',
  }),
  surgeId: orNull(uuid('The surge of it that waits for a decision; null: none does')),
  mailsToday: count('How many mails it has handed in since midnight UTC'),
  mailsThisMonth: count('How many since the month began, in UTC'),
  dailyLimit: orNull(count('How many its plan allows a day; null: any number')),
  monthlyLimit: orNull(count('How many its plan allows a month; null: any number')),
}

const example = {
  id: '01a1fc92-0000-7000-8000-0a1b2c3d4e5f',
  name: 'City library',
  createdAt: '2026-11-21T10:00:00.000Z',
  plan: 'Free',
  planId: '5c0c3a8e-3f0b-4b55-9d5e-0b1c7a3f1a01',
  marketingPlan: null,
  billingState: 'active',
  suspended: null,
  paused: null,
  marketingPaused: null,
  surgeId: null,
  mailsToday: 12,
  mailsThisMonth: 240,
  dailyLimit: 100,
  monthlyLimit: 3_000,
}

const told = (when: string, changes: object = {}, status = 200) =>
  answer(when, 'OperatorAccount', known, { ...example, ...changes }, status)

const wrongName = () =>
  invalidField(
    'Another account has the name',
    'There is an account named "City library" already',
    'name',
  )
const wrongPlan = () =>
  invalidField('There is no such plan', 'No plan "Gold"; there are "Free", "Growth"', 'plan')

export const listAccounts = operation('GET /v1/operator/accounts', {
  id: 'listAccounts',
  may: 'operator',
  query: { ...pageParams(), q: maybe(words('A part of the name, or the whole id')) },
  says: () => ({
    summary: 'List the accounts, the oldest first',
    answers: [
      answer(
        'A page of accounts',
        'OperatorAccounts',
        { accounts: manyOf('OperatorAccount'), ...pageFields },
        { accounts: [example], hasMore: false, nextCursor: null },
      ),
    ],
  }),
})

export const createAccount = operation('POST /v1/operator/accounts', {
  id: 'createAccount',
  may: 'operator',
  audit: 'account.create',
  body: shape(
    'NewAccount',
    table(
      { name, plan: maybe(plan, 'that of `plans.toml`'), marketingPlan: maybe(marketingPlan) },
      { noOthers: true },
    ),
  ),
  says: () => ({
    summary: 'Make an account',
    description: 'It has nobody and no key yet: invite its owner, or make it a key.',
    examples: { 'On the usual plan': { name: 'City library' } },
    answers: [told('It was made', { mailsToday: 0, mailsThisMonth: 0 }, 201)],
    refusals: [wrongName(), wrongPlan()],
  }),
})

export const getAccount = operation('GET /v1/operator/accounts/:id', {
  id: 'getAccount',
  may: 'operator',
  of: anyAccount,
  says: () => ({ summary: 'One account, and how it stands', answers: [told('The account')] }),
})

export const updateAccount = operation('PATCH /v1/operator/accounts/:id', {
  id: 'updateAccount',
  may: 'operator',
  audit: 'account.change',
  of: anyAccount,
  body: shape(
    'AccountChanges',
    table(
      {
        name: maybe(name),
        plan: maybe(plan),
        marketingPlan: maybe(marketingPlan),
        billingState: maybe(billingState),
      },
      { atLeastOne: true, noOthers: true },
    ),
  ),
  says: () => ({
    summary: 'Rename an account, or change its plans or the state of its subscription',
    description: 'It holds from its next request on; all of it is changed, or nothing.',
    examples: {
      'Another plan': { plan: 'Growth' },
      'A renewal failed': { billingState: 'past_due' },
    },
    answers: [told('As it is after the request', { billingState: 'past_due' })],
    refusals: [wrongName(), wrongPlan()],
  }),
})

export const suspendAccount = operation('POST /v1/operator/accounts/:id/suspend', {
  id: 'suspendAccount',
  may: 'operator',
  audit: 'account.suspend',
  of: anyAccount,
  body: shape('Suspension', table({ reason: why('Why, for operators') }, { noOthers: true })),
  says: () => ({
    summary: 'Stop all sending of an account',
    description: 'What is queued waits until it is unsuspended.',
    examples: { Spam: { reason: 'sends spam, ticket 7' } },
    answers: [told('It sends nothing', { suspended: 'sends spam, ticket 7' })],
  }),
})

export const unsuspendAccount = operation('POST /v1/operator/accounts/:id/unsuspend', {
  id: 'unsuspendAccount',
  may: 'operator',
  audit: 'account.unsuspend',
  of: anyAccount,
  says: () => ({
    summary: 'Let a suspended account send again',
    answers: [told('It may send')],
  }),
})

const alreadyPaused = () =>
  refusal('conflict', 'It is paused already', 'It is paused already, because of bounces')

export const pauseAccount = operation('POST /v1/operator/accounts/:id/pause', {
  id: 'pauseAccount',
  may: 'operator',
  audit: 'account.pause',
  of: anyAccount,
  body: shape(
    'Pause',
    table(
      {
        reason,
        note: why('Why, for operators'),
        marketing: maybe(flag('True: its marketing alone'), '`false`'),
      },
      { noOthers: true },
    ),
  ),
  says: () => ({
    summary: 'Pause an account, or its marketing',
    description: 'As account protection does by itself; only an operator ends it.',
    examples: { Bounces: { reason: 'bounce', note: 'a bought list, ticket 9' } },
    answers: [told('It is paused', { paused: 'bounce' })],
    refusals: [alreadyPaused()],
  }),
})

export const unpauseAccount = operation('POST /v1/operator/accounts/:id/unpause', {
  id: 'unpauseAccount',
  may: 'operator',
  audit: 'account.unpause',
  of: anyAccount,
  body: shape(
    'PauseClearing',
    table({ note: why('Why; it stays in the log') }, { noOthers: true }),
  ),
  says: () => ({
    summary: 'End the pauses of an account',
    description: 'Its bounces and complaints are counted anew. What waited leaves within seconds.',
    examples: { 'They cleaned their list': { note: 'list cleaned, ticket 9' } },
    answers: [told('It may send')],
    refusals: [refusal('conflict', 'It is not paused', 'It is not paused')],
  }),
})

const keyFields = {
  id: uuid('The id of the key'),
  name: text('The name of the key'),
  last4: text('The last four characters of the key, by which people know it'),
  scope: text('What the key may do: `full`, `sending`, `read`, `test`'),
  createdAt: time('When the key was made'),
  lastUsedAt: orNull(time('When it was last used, to the minute; null: never')),
}
const keyExample = {
  id: '01a1fc92-0000-7000-8000-1f2e3d4c5b6a',
  name: 'Web shop',
  last4: 'x7Qa',
  scope: 'full',
  createdAt: '2026-11-21T10:00:00.000Z',
  lastUsedAt: null,
}

export const listAccountKeys = operation('GET /v1/operator/accounts/:id/keys', {
  id: 'listAccountKeys',
  may: 'operator',
  of: anyAccount,
  says: () => ({
    summary: 'The API keys of an account',
    answers: [answer('Keys', 'AccountKeys', { keys: manyOf(keyFields) }, { keys: [keyExample] })],
  }),
})

export const createAccountKey = operation('POST /v1/operator/accounts/:id/keys', {
  id: 'createAccountKey',
  may: 'operator',
  audit: 'key.create',
  of: anyAccount,
  body: shape(
    'NewAccountKey',
    table(
      {
        name: line(1, 100, 'The name of the key'),
        scope: maybe(oneOf(['full', 'sending', 'read', 'test'], 'What the key may do'), '`full`'),
      },
      { noOthers: true },
    ),
  ),
  says: () => ({
    summary: "Make an account's API key",
    description:
      'The key is in this answer and in none after it. With a full one the account makes narrower ones itself.',
    examples: { 'The first one': { name: 'Web shop' } },
    answers: [
      answer(
        'It was made',
        'AccountKeyCreated',
        {
          ...keyFields,
          key: orNull(text('The key itself; null in a repeat with the same Idempotency-Key')),
        },
        { ...keyExample, key: 'ph_dGhpcyBpcyBub3QgYSBrZXkgYnV0IGxvb2tzIGxpa2V' },
        201,
      ),
    ],
    refusals: [...accountRefusals, pastDue, ceiling('200 API keys', 'keys')],
  }),
})

export const deleteAccountKey = operation('DELETE /v1/operator/accounts/:id/keys/:key', {
  id: 'deleteAccountKey',
  may: 'operator',
  audit: 'key.delete',
  of: {
    params: { ...anyAccount.params, key: pathId('The UUID of the key') },
    about: { ...anyAccount.about, key: 'The UUID of the key' },
    notFound: 'The account has no such key',
    when: 'The account has no such key',
  },
  says: () => ({
    summary: "Delete an account's API key",
    description: 'Requests with it fail from the next one on; the last full key too.',
    answers: [
      answer('It was deleted', 'KeyDeleted', deletedFields, {
        id: keyExample.id,
        deleted: true,
        message: 'Key deleted; requests with it fail from now on',
      }),
    ],
  }),
})

const planFields = {
  id: text('The id of the plan'),
  name: text('Its name'),
  monthlyLimit: orNull(count('How many mails a month it allows; null: any number')),
}

export const listAllPlans = operation('GET /v1/operator/plans', {
  id: 'listAllPlans',
  may: 'operator',
  says: () => ({
    summary: 'The plans that accounts can have',
    description: 'As `plans.toml` had them when the appliance started.',
    answers: [
      answer(
        'The plans',
        'AllPlans',
        { plans: manyOf(planFields), marketingPlans: manyOf(planFields) },
        {
          plans: [{ id: example.planId, name: 'Free', monthlyLimit: 3_000 }],
          marketingPlans: [
            { id: '5c0c3a8e-3f0b-4b55-9d5e-0b1c7a3f1b01', name: 'Plus', monthlyLimit: 50_000 },
          ],
        },
      ),
    ],
  }),
})

/** Accounts, their plans, pauses and keys. */
export const accountOperations: readonly Operation[] = [
  listAccounts,
  createAccount,
  getAccount,
  updateAccount,
  suspendAccount,
  unsuspendAccount,
  pauseAccount,
  unpauseAccount,
  listAccountKeys,
  createAccountKey,
  deleteAccountKey,
  listAllPlans,
]
