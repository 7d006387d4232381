import {
  accountRefusals,
  answer,
  byId,
  ceiling,
  deletedFields,
  invalidField,
  manyOf,
  operation,
  pastDue,
  shape,
} from '../contract/index.js'
import {
  count,
  flag,
  maybe,
  oneOf,
  orNull,
  shaped,
  table,
  text,
  time,
  uuid,
  whole,
  words,
} from '../fields/index.js'
import { receivingActions } from './rule.js'

const rule = byId('rule', 'receiving rule')

export const pattern = words(
  'For which addresses: one address, or one whose local part ends in `*`, which stands for whatever follows. The host is one at which a domain of the account receives',
  { examples: ['support@in.example.com', 'support+*@in.example.com', '*@in.example.com'] },
)
export const action = oneOf(
  receivingActions,
  '`webhook`: the event `email.received`; `forward`: it is sent on to `forwardTo`; `store`: neither. It is stored in any case',
)
export const forwardTo = words('The address that it is sent on to; only for `forward`', {
  examples: ['team@example.org'],
})
const enabled = flag('False: the rule is passed over')
export const place = whole('Its place, counted from 1: the first rule that fits decides', {
  least: 1,
  most: 10_000,
})

export const knownRule = {
  id: uuid('The id of the rule, which never changes'),
  place: count('Its place, counted from 1: the first rule that fits decides'),
  domainId: uuid('The id of the domain at whose host it receives'),
  pattern: text('For which addresses', { examples: ['support+*@in.example.com'] }),
  action,
  forwardTo: orNull(text('The address that it is sent on to; null for any other action')),
  enabled,
  note: orNull(
    text(
      'What keeps it from doing so, such as a rule before it that takes its mail; null: nothing',
    ),
  ),
  createdAt: time('When the rule was added'),
}
export const exampleRule = {
  id: '01a1fc92-0000-7000-8000-3d4e5f607182',
  place: 1,
  domainId: '01a1fc92-0000-7000-8000-1b2c3d4e5f60',
  pattern: 'support+*@in.example.com',
  action: 'webhook',
  forwardTo: null,
  enabled: true,
  note: null,
  createdAt: '2026-11-21T10:00:00.000Z',
}
const badRule = () =>
  invalidField(
    'The pattern is none, the account does not receive there, or mail cannot be sent on to that address',
    'The account does not receive at in.example.com: set the receiving host of its domain first',
    'pattern',
  )

export const listReceivingRules = operation('GET /v1/receiving/rules', {
  id: 'listReceivingRules',
  may: 'read',
  says: () => ({
    summary: 'List the rules for mail that comes in, in their order',
    answers: [
      answer(
        'Rules',
        'ReceivingRules',
        { rules: manyOf('ReceivingRule') },
        { rules: [exampleRule] },
      ),
    ],
  }),
})

export const addReceivingRule = operation('POST /v1/receiving/rules', {
  id: 'addReceivingRule',
  may: 'full',
  audit: 'receiving.add',
  body: shape(
    'NewReceivingRule',
    table({
      pattern,
      action,
      forwardTo: maybe(forwardTo),
      enabled: maybe(enabled, '`true`'),
      place: maybe(place, 'before the first rule that would take all of its mail, or the last one'),
    }),
  ),
  says: () => ({
    summary: 'Add a rule for mail that comes in',
    description:
      'Mail is taken only for addresses that a rule is about; for any other the sending server hears at once that there is no such mailbox.',
    examples: {
      'Answers to support': { pattern: 'support+*@in.example.com', action: 'webhook' },
      'All other mail': {
        pattern: '*@in.example.com',
        action: 'forward',
        forwardTo: 'team@example.org',
      },
    },
    answers: [answer('It was added', 'ReceivingRule', knownRule, exampleRule, 201)],
    refusals: [
      badRule(),
      ...accountRefusals,
      pastDue,
      ceiling('200 rules for mail that comes in', 'receiving_rules'),
    ],
  }),
})

export const getReceivingRule = operation('GET /v1/receiving/rules/:id', {
  id: 'getReceivingRule',
  may: 'read',
  of: rule,
  says: () => ({
    summary: 'One rule for mail that comes in',
    answers: [answer('The rule', 'ReceivingRule', knownRule, exampleRule)],
  }),
})

export const updateReceivingRule = operation('PATCH /v1/receiving/rules/:id', {
  id: 'updateReceivingRule',
  may: 'full',
  audit: 'receiving.change',
  of: rule,
  body: shape(
    'ReceivingRuleChanges',
    table(
      {
        pattern: maybe(pattern),
        action: maybe(action),
        forwardTo: maybe(forwardTo),
        enabled: maybe(enabled),
        place: maybe(place),
      },
      {
        atLeastOne: true,
        about: 'At least one field; those that are not given stay as they are.',
      },
    ),
  ),
  says: () => ({
    summary: 'Change a rule, or move it',
    description: 'It holds within a second, for mail that comes from then on.',
    examples: { 'To the top': { place: 1 }, Off: { enabled: false } },
    answers: [
      answer(
        'As it is after the request',
        'ChangedReceivingRule',
        {
          ...knownRule,
          moved: manyOf({
            id: uuid('Another rule, which this one has moved'),
            pattern: text('For which addresses it is'),
            place: count('Its place now'),
            was: count('Its place before'),
          }),
        },
        {
          ...exampleRule,
          moved: [
            {
              id: '01a1fc92-0000-7000-8000-3d4e5f607183',
              pattern: '*@in.example.com',
              place: 2,
              was: 1,
            },
          ],
        },
      ),
    ],
    refusals: [badRule()],
  }),
})

export const deleteReceivingRule = operation('DELETE /v1/receiving/rules/:id', {
  id: 'deleteReceivingRule',
  may: 'full',
  audit: 'receiving.delete',
  of: rule,
  says: () => ({
    summary: 'Delete a rule',
    description: 'What came in by it stays.',
    answers: [
      answer('It was deleted', 'ReceivingRuleDeleted', deletedFields, {
        id: exampleRule.id,
        deleted: true,
        message: 'Rule deleted; what came in by it stays',
      }),
    ],
  }),
})

export const whereWouldMailGo = operation('GET /v1/receiving/where', {
  id: 'whereWouldMailGo',
  may: 'read',
  query: { address: words('The address that mail would be sent to') },
  says: () => ({
    summary: 'Where mail to an address would go',
    description: 'What a server that brings a mail would hear at this moment; nothing is sent.',
    answers: [
      answer(
        'Where it would go',
        'WhereMailGoes',
        {
          address: text('The address in lower case'),
          taken: { type: 'boolean', description: 'Whether mail to it is taken at all' },
          rule: orNull(shaped('ReceivingRule')),
          why: text('The same in words, which may change'),
        },
        {
          address: 'support+7@in.example.com',
          taken: true,
          rule: exampleRule,
          why: 'It is told to webhooks, by rule 1 (support+*@in.example.com)',
        },
      ),
    ],
    refusals: [invalidField('It is no address', '"here" is no address', 'address')],
  }),
})
