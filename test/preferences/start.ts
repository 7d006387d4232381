import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { openHttpServer } from '../../src/http/index.js'
import { silentLog } from '../../src/log/index.js'
import { makePreferenceLinks, makeUnsubscribeLinks } from '../../src/preferences/index.js'
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
  preferenceRoutes(server.pages, {
    store,
    clock,
    unsubscribeLinks: makeUnsubscribeLinks(key, ''),
    preferenceLinks: makePreferenceLinks(key, ''),
  })
  await server.listen()
  t.teardown(() => server.close(0))
  const origin = `http://127.0.0.1:${server.port}`
  const links = makeUnsubscribeLinks(key, origin)
  const url = (address: string, topicId?: string) => links.url({ accountId, address, topicId })
  const centreLinks = makePreferenceLinks(key, origin)
  const centre = (address: string, emailId?: string) =>
    centreLinks.url({ accountId, address, emailId })
  /** Well signed, for an account that is not there any more. */
  const gone = { accountId: store.ids.uuid(), address: 'ada@x.test' }
  const goneUrls = [
    links.url(gone),
    links.url({ ...gone, topicId: topic.id }),
    centreLinks.url(gone),
  ]
  return { clock, store, accountId, topic, url, centre, goneUrls, origin }
}
