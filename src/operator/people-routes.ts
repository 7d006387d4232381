import type { OperatorPrincipal } from '../accounts/index.js'
import { isoTime } from '../clock/index.js'
import { serve, usualPage } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { type Api, type NotedChange, type Remember, reply } from '../http/index.js'
import {
  disableWithin,
  enableWithin,
  findListedPerson,
  type Invitation,
  inviteWithin,
  type ListedPerson,
  listInvitations,
  listPeople,
  listTeam,
  removeMember,
  revokeInvitation,
} from '../people/index.js'
import { pageOf, type Tx, textCursorOf, textInCursor } from '../store/index.js'
import { accountOf } from './account-routes.js'
import * as operations from './contract-people.js'
import type { OperatorApiDeps } from './deps.js'

/** People who log in, as `posthorn user` does it. A key may neither make an operator nor shut one out. */
export function peopleRoutes(api: Api<OperatorPrincipal>, deps: OperatorApiDeps): void {
  const { store, clock } = deps
  const { read } = store

  serve(api, operations.listPeople, async ({ query: { limit = usualPage, cursor, q = '' } }) => {
    const scope = `operator/people ${q}`
    const after = cursor === undefined ? '' : textInCursor(cursor, scope)
    const found = await listPeople(read, { startsWith: q, after, limit: limit + 1 })
    const { page, ...rest } = pageOf(found, limit, ({ email }) =>
      textCursorOf(email.toLowerCase(), scope),
    )
    return { people: page.map(shownPerson), ...rest }
  })

  serve(api, operations.getPerson, async ({ params }) =>
    shownPerson(await findListedPerson(read, params.id)),
  )

  const change = async (
    { id, remember, note }: { id: string; remember: Remember; note: (said: NotedChange) => void },
    work: (tx: Tx) => Promise<void>,
  ) =>
    await store.write(async (tx) => {
      const person = await findListedPerson(tx, id)
      if (person.isOperator) throw isOperator(person)
      note({ target: person.email, detail: { person: id } })
      await work(tx)
      const shown = shownPerson(await findListedPerson(tx, id))
      await remember(tx, shown)
      return shown
    })
  serve(
    api,
    operations.disablePerson,
    async ({ params: { id }, remember, note }) =>
      await change({ id, remember, note }, (tx) => disableWithin(tx, id, clock.now())),
  )
  serve(
    api,
    operations.enablePerson,
    async ({ params: { id }, remember, note }) =>
      await change({ id, remember, note }, (tx) => enableWithin(tx, id)),
  )
  teamRoutes(api, deps)
}

/** Who is in an account. */
function teamRoutes(api: Api<OperatorPrincipal>, { store, clock }: OperatorApiDeps): void {
  const { read } = store

  serve(api, operations.listAccountPeople, async ({ params: { id } }) => {
    await accountOf(read, id)
    const team = await listTeam(read, id)
    const invitations = await listInvitations(read, id, clock.now())
    return {
      people: team.map(({ personId, name, email, role, isDisabled, ...one }) => ({
        personId,
        name,
        email,
        role,
        isDisabled,
        hasSecondFactor: one.hasSecondFactor,
        lastLoginAt: isoTime(one.lastLoginAt),
      })),
      invitations: invitations.map(shownInvitation),
    }
  })

  serve(
    api,
    operations.inviteToAccount,
    async ({ account, params: { id }, body, remember, note }) => {
      const { name } = account
      // As with a command: whoever has the operator's key hands the link over.
      const inviter = { id: null, name: `the operator's key ${name}`, isOperator: true }
      const made = await store.write(async (tx) => {
        await accountOf(tx, id)
        const given = { accountId: id, email: body.email, role: body.role, inviter }
        const invited = await inviteWithin({ ids: store.ids, now: clock.now() }, tx, given)
        const [shown] = (await listInvitations(tx, id, clock.now()))
          .filter((one) => one.id === invited.id)
          .map(shownInvitation)
        if (shown === undefined) throw new Error('An invitation was made and is not there')
        // The link is not stored: a repeated request gets the invitation without it.
        await remember(tx, { ...shown, path: null }, 201)
        return { ...shown, path: invited.path }
      })
      note({ target: made.email, detail: { role: made.role, invitation: made.id } })
      return reply(201, made)
    },
  )

  serve(api, operations.withdrawInvitation, async ({ params: { id, invitation }, note }) => {
    const { email } = await revokeInvitation({ store }, id, invitation)
    note({ target: email, detail: { invitation } })
    return { id: invitation, deleted: true, message: `The invitation of ${email} is withdrawn` }
  })

  serve(api, operations.removeFromAccount, async ({ params: { id, person }, note }) => {
    const { email } = await store.write(async (tx) => {
      await removeMember(tx, id, person)
      return await findListedPerson(tx, person)
    })
    note({ target: email, detail: { person } })
    return { id: person, deleted: true, message: 'They are in the account no more' }
  })
}

const isOperator = ({ name }: ListedPerson) =>
  new ApiError(
    'forbidden',
    `${name} is an operator: only the operator's pages and 'posthorn user' change that`,
  )

const shownPerson = (one: ListedPerson) => ({
  id: one.id,
  email: one.email,
  name: one.name,
  isOperator: one.isOperator,
  isDisabled: one.isDisabled,
  hasSecondFactor: one.hasTotp || one.passkeys > 0,
  accounts: one.accounts,
  createdAt: isoTime(one.createdAt),
  lastLoginAt: isoTime(one.lastLoginAt),
})

const shownInvitation = ({ id, email, role, expiresAt }: Invitation) => ({
  id,
  email,
  role,
  expiresAt: isoTime(expiresAt),
})
