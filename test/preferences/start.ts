import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { openHttpServer } from '../../src/http/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeUnsubscribeLinks } from '../../src/preferences/index.js'
import { preferenceRoutes } from '../../src/preferences/routes.js'
import { createTopic } from '../../src/topics/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

/** The public pages over real HTTP, for an account with one topic. */
export async function startPreferences(t: Test, accountName = 'City library') {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const { id: accountId } = await createAccount({ store, clock }, accountName)
  const topic = await createTopic({ store, clock }, accountId, { name: 'New <books> & more' })
  const key = makeApplianceKey(randomBytes(32))
  const server = await openHttpServer<never>({
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    clock,
  })
  // The routes only read tokens, which have no host in them.
  preferenceRoutes(server.pages, { store, clock, links: makeUnsubscribeLinks(key, '') })
  await server.listen()
  t.teardown(() => server.close(0))
  const origin = `http://127.0.0.1:${server.port}`
  const links = makeUnsubscribeLinks(key, origin)
  const url = (address: string, topicId?: string) => links.url({ accountId, address, topicId })
  return { clock, store, accountId, topic, url, origin }
}
