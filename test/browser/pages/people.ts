import { makeResetLink } from '../../../src/people/entry-link.js'
import { newToken } from '../../../src/people/session.js'
import { surgeOf } from '../../support/management.js'
import type { PlacePages } from '../every-page.js'

const longName = 'Wolfeschlegelsteinhausenbergerdorff the Third of That Name'
const email = `${'first.last.'.repeat(5)}x@a-very-long-label-that-nobody-would-choose.example.com`

/** Log-in, links that let people in, one's own pages, teams and what is in the audit log. */
export const place: PlacePages = {
  async fill({ store, people, full, ids, accountId }) {
    await surgeOf({ store, accountId })
    const now = Date.now()
    const users = await store.read.selectFrom('users').select(['id', 'email']).execute()
    const owner = users.find((one) => one.email.startsWith('owner-'))?.id ?? ''
    const setUp = newToken()
    ids.setUp = setUp.token
    await store.write(async (tx) => {
      await tx.updateTable('users').set({ name: longName }).where('id', '=', owner).execute()
      ids.reset = (await makeResetLink(tx, owner, now)).replace('/reset/', '')
      await tx
        .insertInto('entry_links')
        .values({
          hash: setUp.hash,
          kind: 'setup',
          user_id: null,
          created_at: now,
          expires_at: now + 9e6,
        })
        .execute()
      await tx
        .updateTable('sessions')
        .set({ sudo_until: now + 9e6 })
        .execute()
    })
    for (const to of [email, 'ann@example.org']) {
      const { text } = await people.owner.post(`${full}/team/invite`, { email: to, role: 'member' })
      ids.invite = /\/invite\/([\w-]+)/.exec(text)?.[1] ?? ''
    }
  },
  pages: ({ full, empty, ids }) => [
    { path: '/login' },
    { path: '/login?next=/me', name: 'login-next' },
    { path: `/setup/${ids.setUp}`, name: 'setup' },
    { path: '/setup/used', status: 404, name: 'setup-used' },
    { path: `/reset/${ids.reset}`, name: 'reset' },
    { path: `/invite/${ids.invite}`, name: 'invite' },
    { path: `/invite/${ids.invite}`, as: 'outsider', name: 'invite-other' },
    { path: '/me', as: 'owner', name: 'me' },
    { path: '/me', as: 'operator', name: 'me-operator' },
    { path: '/me/totp', as: 'owner', name: 'me-totp' },
    { path: '/me/kept', as: 'owner', name: 'me-kept' },
    { path: '/login/kept', name: 'login-kept' },
    { path: '/sudo?next=/me', as: 'member', name: 'sudo' },
    { path: '/sudo/ask?next=/me', as: 'member', name: 'sudo-ask' },
    { path: `${full}/team`, as: 'owner', name: 'team' },
    { path: '/sudo/proved', as: 'member', name: 'sudo-proved' },
    { path: `${full}/surges`, as: 'owner', name: 'surges' },
    { path: `${full}/received`, as: 'owner', name: 'received' },
    { path: `${full}/receiving`, as: 'owner', name: 'receiving' },
    { path: `${empty}/received`, as: 'empty', name: 'received-empty' },
    { path: `${empty}/receiving`, as: 'empty', name: 'receiving-empty' },
    { path: `${full}/surges`, as: 'member', name: 'surges-member' },
    { path: `${empty}/surges`, as: 'empty', name: 'surges-empty' },
    { path: `${full}/team`, as: 'viewer', status: 403, name: 'team-viewer' },
    { path: `${empty}/team`, as: 'empty', name: 'team-empty' },
    { path: `${full}/audit`, as: 'owner', name: 'audit' },
    { path: `${empty}/audit`, as: 'empty', name: 'audit-empty' },
    { path: '/operator/audit', as: 'operator', name: 'operator-audit' },
  ],
}
