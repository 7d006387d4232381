// Every route × every role, and every POST × where it comes from: the routes are those that the pages add.
import t from 'tap'
import { actions, may, type Role } from '../../src/people/index.js'
import { type LoggedIn, logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'
import { addedRoutes } from './added-routes.js'

const routes = addedRoutes()
const ofAccounts = routes.filter(({ path }) => path.startsWith('/a/:account'))
const ofOperators = routes.filter(({ path }) => path.startsWith('/operator'))
const ownPages = routes.filter(({ action }) => action === 'own')

const id = '018f0000-0000-7000-8000-000000000000'
const pathOf = (path: string, accountId: string) =>
  path.replace(':account', accountId).replace(/:[a-z]+/gi, id)

// Nobody asks it anything here.
const withProvider = {
  POSTHORN_DASHBOARD_OIDC_ISSUER: 'https://id.test',
  POSTHORN_DASHBOARD_OIDC_CLIENT_ID: 'posthorn',
}
const notYours = 'There is no such page, or it is not yours'
const refused = /Your role in this account is|Operators may only look into an account/
const foreign = 'This form can only be sent from the page it is on'

t.test('every page, to every role', async (t) => {
  const posthorn = await startPosthorn(t, { env: withProvider })
  const { accountId } = posthorn
  const other = await posthorn.addAccount('Others')
  const people: Record<Role, LoggedIn> = {
    owner: await logIn(posthorn, accountId, 'owner'),
    member: await logIn(posthorn, accountId, 'member'),
    viewer: await logIn(posthorn, accountId, 'viewer'),
    operator: await logIn(posthorn, accountId, 'operator'),
  }
  const outsider = await logIn(posthorn, other.accountId, 'owner')
  const send = (method: string, path: string, cookie?: string, more: Record<string, string> = {}) =>
    fetch(posthorn.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(cookie !== undefined && { cookie }),
        // Browsers say where a post comes from; this is none.
        ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...more,
      },
      body: method === 'POST' ? 'x=1' : null,
    })

  t.ok(ofAccounts.length > 30, `${ofAccounts.length} routes of accounts`)
  t.ok(ofOperators.length > 10, `${ofOperators.length} routes of operators`)

  await t.test('of an account', async (t) => {
    for (const { method, path, action } of ofAccounts) {
      const at = pathOf(path, accountId)
      const known = actions.find((one) => one === action)
      if (known === undefined) {
        t.fail(`${path} has the action ${action}, which nobody may`)
        continue
      }
      const nobody = await send(method, at)
      t.equal(nobody.status, 303, `${method} ${path} to nobody`)
      t.match(nobody.headers.get('location'), /^\/login\?next=/)
      const stranger = await send(method, at, outsider.cookie)
      t.equal(stranger.status, 404, `${method} ${path} to another account`)
      t.match(await stranger.text(), notYours)
      for (const [role, { cookie }] of Object.entries(people)) {
        const answer = await send(method, at, cookie)
        const text = await answer.text()
        const name = `${method} ${path} to ${role}`
        if (!may(role as Role, known)) {
          t.equal(answer.status, 403, name)
          t.match(text, refused, name)
        } else if (method === 'POST') {
          // Let in by the role, and refused as a post that carries neither header.
          t.equal(answer.status, 403, name)
          t.match(text, foreign, name)
        } else {
          t.ok(answer.status < 500 && answer.status !== 403, `${name}: ${answer.status}`)
          t.notMatch(text, notYours, name)
        }
      }
    }
  })

  await t.test('of the operator', async (t) => {
    for (const { method, path } of ofOperators) {
      const at = pathOf(path, accountId)
      t.equal((await send(method, at)).status, 303, `${method} ${path} to nobody`)
      for (const role of ['owner', 'member', 'viewer'] as const) {
        const answer = await send(method, at, people[role].cookie)
        t.equal(answer.status, 404, `${method} ${path} to ${role}`)
      }
      const own = await send(method, at, people.operator.cookie)
      const text = await own.text()
      if (method === 'POST') t.match(text, foreign, `${path} to an operator`)
      else
        t.ok(own.status < 500 && !text.includes(notYours), `${path} to an operator: ${own.status}`)
    }
  })

  await t.test('about oneself', async (t) => {
    for (const { method, path } of ownPages) {
      const answer = await send(method, pathOf(path, accountId))
      t.equal(answer.status, 303, `${method} ${path} to nobody`)
    }
  })

  await t.test('no post from elsewhere is taken', async (t) => {
    const { host } = new URL(posthorn.url)
    const posts = routes.filter(({ method }) => method === 'POST')
    t.ok(posts.length > 30, `${posts.length} posts`)
    const elsewhere: Record<string, string>[] = [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'cross-site', origin: posthorn.url },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://${host}.evil.example` },
    ]
    for (const { path } of posts) {
      const isOperators = path.startsWith('/operator')
      const { cookie } = isOperators ? people.operator : people.owner
      for (const headers of elsewhere) {
        const answer = await send('POST', pathOf(path, accountId), cookie, headers)
        t.equal(answer.status, 403, `${path} with ${JSON.stringify(headers)}`)
        await answer.arrayBuffer()
      }
    }
  })
})
