import {
  answer,
  deletedFields,
  invalidField,
  manyOf,
  type Named,
  type Operation,
  operation,
  pageFields,
  pageParams,
  refusal,
  shape,
} from '../contract/index.js'
import {
  count,
  type Field,
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
import { anyAccount } from './contract-accounts.js'

const person: Named<{ id: Field<string> }> = {
  params: { id: pathId('The UUID of the person') },
  about: { id: 'The UUID of the person' },
  notFound: 'There is no such person',
  when: 'There is no such person',
}

const known = {
  id: uuid('The id of the person'),
  email: text('Their mail address, by which they log in'),
  name: text('Their name'),
  isOperator: { type: 'boolean', description: 'Whether they are an operator' },
  isDisabled: { type: 'boolean', description: 'Whether they cannot log in' },
  hasSecondFactor: { type: 'boolean', description: 'Whether they have codes or a passkey' },
  accounts: count('In how many accounts they are'),
  createdAt: time('Since when they are known'),
  lastLoginAt: orNull(time('When they last logged in; null: never')),
}
const example = {
  id: '01a1fc92-0000-7000-8000-2a1b2c3d4e5f',
  email: 'ada@example.com',
  name: 'Ada',
  isOperator: false,
  isDisabled: false,
  hasSecondFactor: true,
  accounts: 1,
  createdAt: '2026-11-21T10:00:00.000Z',
  lastLoginAt: null,
}

const role = oneOf(['owner', 'member', 'viewer'], 'What they may do in the account')
const member = {
  personId: uuid('The id of the person'),
  name: text('Their name'),
  email: text('Their mail address'),
  role: role.schema,
  isDisabled: known.isDisabled,
  hasSecondFactor: known.hasSecondFactor,
  lastLoginAt: known.lastLoginAt,
}
const invited = {
  id: uuid('The id of the invitation'),
  email: text('Who is invited'),
  role: role.schema,
  expiresAt: time('Until when it can be accepted'),
}
const invitation = {
  id: '01a1fc92-0000-7000-8000-3a1b2c3d4e5f',
  email: 'grace@example.com',
  role: 'owner',
  expiresAt: '2026-11-28T10:00:00.000Z',
}

// Otherwise a stolen key could shut out the people who can delete it.
const notOperators = () =>
  refusal(
    'forbidden',
    'They are an operator',
    'Ada is an operator: only the pages and posthorn user change that',
  )

export const listPeople = operation('GET /v1/operator/people', {
  id: 'listPeople',
  may: 'operator',
  query: { ...pageParams(), q: maybe(words('How the mail address begins')) },
  says: () => ({
    summary: 'List who logs in, by mail address',
    answers: [
      answer(
        'A page of people',
        'People',
        { people: manyOf('OperatorPerson'), ...pageFields },
        { people: [example], hasMore: false, nextCursor: null },
      ),
    ],
  }),
})

const told = (when: string, changes: object = {}) =>
  answer(when, 'OperatorPerson', known, { ...example, ...changes })

export const getPerson = operation('GET /v1/operator/people/:id', {
  id: 'getPerson',
  may: 'operator',
  of: person,
  says: () => ({ summary: 'One person', answers: [told('The person')] }),
})

export const disablePerson = operation('POST /v1/operator/people/:id/disable', {
  id: 'disablePerson',
  may: 'operator',
  audit: 'user.disable',
  of: person,
  says: () => ({
    summary: 'Let somebody log in no more',
    description: 'Their sessions end at once.',
    answers: [told('They cannot log in', { isDisabled: true })],
    refusals: [notOperators()],
  }),
})

export const enablePerson = operation('POST /v1/operator/people/:id/enable', {
  id: 'enablePerson',
  may: 'operator',
  audit: 'user.enable',
  of: person,
  says: () => ({
    summary: 'Let somebody log in again',
    answers: [told('They can log in')],
    refusals: [notOperators()],
  }),
})

export const listAccountPeople = operation('GET /v1/operator/accounts/:id/people', {
  id: 'listAccountPeople',
  may: 'operator',
  of: anyAccount,
  says: () => ({
    summary: 'Who is in an account, and who is invited',
    answers: [
      answer(
        'Its people',
        'AccountPeople',
        { people: manyOf(member), invitations: manyOf(invited) },
        {
          people: [
            {
              personId: example.id,
              name: 'Ada',
              email: 'ada@example.com',
              role: 'owner',
              isDisabled: false,
              hasSecondFactor: true,
              lastLoginAt: null,
            },
          ],
          invitations: [invitation],
        },
      ),
    ],
  }),
})

export const inviteToAccount = operation('POST /v1/operator/accounts/:id/invitations', {
  id: 'inviteToAccount',
  may: 'operator',
  audit: 'team.invite',
  of: anyAccount,
  body: shape(
    'AccountInvitation',
    table({ email: words('Whom to invite'), role }, { noOthers: true }),
  ),
  says: () => ({
    summary: 'Invite somebody into an account',
    description: 'No mail is sent: hand them the link. One to the same address takes its place.',
    examples: { 'Its owner': { email: 'grace@example.com', role: 'owner' } },
    answers: [
      answer(
        'They are invited',
        'AccountInvited',
        {
          ...invited,
          path: orNull(
            text(
              'The path of the page that they accept at, on this listener; null in a repeat with the same Idempotency-Key',
            ),
          ),
        },
        { ...invitation, path: '/invite/dGhpcyBpcyBub3QgYSB0b2tlbg' },
        201,
      ),
    ],
    refusals: [
      invalidField(
        'It is no mail address',
        'Enter a mail address such as ada@example.com',
        'email',
      ),
      refusal('conflict', 'They are a member', 'ada@example.com is a member already', {
        shape: 'AlreadyMember',
        fields: { field: text('The name of the field that is wrong') },
        optional: ['field'],
        example: { field: 'email' },
      }),
    ],
  }),
})

export const withdrawInvitation = operation(
  'DELETE /v1/operator/accounts/:id/invitations/:invitation',
  {
    id: 'withdrawInvitation',
    may: 'operator',
    audit: 'team.revoke-invitation',
    of: {
      params: { ...anyAccount.params, invitation: pathId('The UUID of the invitation') },
      about: { ...anyAccount.about, invitation: 'The UUID of the invitation' },
      notFound: 'There is no such open invitation',
      when: 'The account has no such open invitation',
    },
    says: () => ({
      summary: 'Take an invitation back',
      answers: [
        answer('It is taken back', 'InvitationWithdrawn', deletedFields, {
          id: invitation.id,
          deleted: true,
          message: 'The invitation of grace@example.com is withdrawn',
        }),
      ],
    }),
  },
)

export const removeFromAccount = operation('DELETE /v1/operator/accounts/:id/people/:person', {
  id: 'removeFromAccount',
  may: 'operator',
  audit: 'team.remove',
  of: {
    params: { ...anyAccount.params, person: pathId('The UUID of the person') },
    about: { ...anyAccount.about, person: 'The UUID of the person' },
    notFound: 'There is no such member',
    when: 'The account has no such member',
  },
  says: () => ({
    summary: 'Take somebody out of an account',
    answers: [
      answer('They are out', 'MemberRemoved', deletedFields, {
        id: example.id,
        deleted: true,
        message: 'They are in the account no more',
      }),
    ],
    refusals: [
      refusal(
        'conflict',
        'They are its last owner',
        'The account has no other owner: make somebody else an owner first',
        {
          shape: 'LastOwner',
          fields: { field: text('The name of the field that is wrong') },
          example: { field: 'role' },
        },
      ),
    ],
  }),
})

/** People who log in, and their accounts. Operations that give the operator's rights are not among these. */
export const peopleOperations: readonly Operation[] = [
  listPeople,
  getPerson,
  disablePerson,
  enablePerson,
  listAccountPeople,
  inviteToAccount,
  withdrawInvitation,
  removeFromAccount,
]
