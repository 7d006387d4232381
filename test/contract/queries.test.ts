// Issue 'what operators and developers ask' 5, and decisions.md, 'unknown fields': a filter that is misspelt lists nothing.
import t from 'tap'
import { createOperatorKey } from '../../src/accounts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { contracts, operatorContracts } from '../../src/openapi/contract.js'
import { startPosthorn } from '../support/posthorn.js'

const env = { POSTHORN_HTTP_PRIVATE_OPERATOR_API: 'true' }
const posthorn = await startPosthorn(t, { env })
const { store, apiKey } = posthorn
const ours = { name: 'Desk', networks: null, expiresAt: null }
const { key: operatorKey } = await createOperatorKey({ store, clock: systemClock }, ours)

const all = [contracts, operatorContracts].flatMap((some) =>
  some.flat().flatMap(({ operations }) => operations),
)
const anyId = '01a1fc92-0000-7000-8000-0a1b2c3d4e5f'
const ask = async ({ route, may }: (typeof all)[number], query: string) => {
  const [method = '', path = ''] = route.split(' ')
  const key = may === 'operator' ? operatorKey : apiKey
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} }
  const at = (last: string) => {
    const named = path.replace(/:\w+$|:\w+(?=\/\w+$)/, last).replace(/:\w+/g, anyId)
    return posthorn.call(method, `${named}?${query}`, { key, ...body })
  }
  // Some are named by numbers, keys of versions or addresses.
  for (const last of ['1', 'a', 'a@example.org']) {
    const answer = await at(last)
    if (answer.status !== 404) return answer
  }
  return await at(anyId)
}

t.test('what is not of the contract refuses a parameter that it does not know', async (t) => {
  const refusing = all.filter((one) => one.describe().refusesOthers)
  t.ok(refusing.length > 100)
  for (const one of refusing) {
    const { status, json } = await ask(one, 'statsu=sent&address=a@example.org')
    const issues: { path: string[] }[] = json.error?.issues ?? []
    const issue = issues.find(({ path }) => path[0] === 'statsu')
    t.match(
      { status, issue },
      { status: 400, issue: { code: 'unrecognized_key', path: ['statsu'] } },
      one.route,
    )
  }
})

t.test('the contract passes over it, as newer clients work against older servers', async (t) => {
  const promised = all.filter(
    (one) => !one.describe().refusesOthers && one.route.startsWith('GET '),
  )
  t.ok(promised.length > 10)
  for (const one of promised) t.not((await ask(one, 'statsu=sent')).status, 400, one.route)
})

t.test('it says which was meant, or which there are', async (t) => {
  const said = async (path: string) =>
    (await posthorn.call('GET', path)).json.error.issues.map(
      ({ message }: { message: string }) => message,
    )
  t.match(await said('/v1/emails?statsu=sent'), [
    /no parameter of this name, is status meant\? Known: limit, cursor, status/,
  ])
  t.match(await said('/v1/suppressions?limit=0&x=1'), [
    /Expected a whole number/,
    /no parameter of this name\. Known: reason, limit, cursor$/,
  ])
  t.match(await said('/v1/keys?scope=full'), ['This request has no parameters'])
})
