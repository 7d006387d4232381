import { fillForOperator } from '../../dashboard/operator-data.js'
import type { PlacePages } from '../every-page.js'

const plain = [
  '',
  '/accounts',
  '/accounts?q=nobody',
  '/users',
  '/queue',
  '/queue?domain=nothing.test',
  ...['hold', 'retry', 'release', 'fail'].map((name) => `/queue/change/${name}?domain=slow.test`),
  '/held',
  '/sites',
  '/nodes',
  '/sites/show?name=google',
  '/failover',
  '/inbound',
  '/parked',
  '/doctor',
  '/jobs',
  '/jobs/backup',
  '/backups',
  '/settings',
  '/settings?changed=yes',
]

export const place: PlacePages = {
  async fill(world) {
    const one = await world.store.read.selectFrom('users').select('id').executeTakeFirstOrThrow()
    const { accountId, deliveryId, mailId } = await fillForOperator(world)
    Object.assign(world.ids, {
      operated: accountId,
      waiting: `${deliveryId}`,
      letter: `${mailId}`,
      person: one.id,
    })
  },
  pages({ ids, empty }) {
    const account = `/accounts/${ids.operated}`
    const paths = [
      ...plain,
      account,
      `${account}/rates`,
      `${account}/complaints`,
      `${account}/people`,
      `${empty.replace('/a/', '/accounts/')}/rates`,
      `/queue/${ids.waiting}`,
      `/inbound/${ids.letter}`,
      `/users/${ids.person}`,
    ]
    return [
      ...paths.map((path) => ({ path: `/operator${path}`, as: 'operator' as const })),
      ...(['owner', 'outsider'] as const).map((as) => ({
        path: '/operator',
        as,
        status: 404,
        name: `operator-as-${as}`,
      })),
      { path: '/operator/accounts/none', as: 'operator', status: 404, name: 'operator-none' },
    ]
  },
}
