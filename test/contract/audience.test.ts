// interface.md: Contacts, Topics; decisions.md: Contacts, topics, suppression.
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { listMembers } from '../../src/contacts/index.js'
import { suppress } from '../../src/suppression/index.js'
import { optOut } from '../../src/topics/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { RawConnection } from '../support/raw-http.js'

const posthorn = await startPosthorn(t)
const { store, accountId } = posthorn
const call = (one: string, body?: object, key?: string) => {
  const [method = '', path = ''] = one.split(' ')
  return posthorn.call(method, path, { ...(body && { body }), ...(key && { key }) })
}
const makeList = async (name: string): Promise<string> =>
  (await call('POST /v1/contacts/lists', { name })).json.id
const nobody = '01900000-0000-7000-8000-000000000000'

/** A CSV file as browsers send it. */
async function upload(listId: string, text: string, type = 'text/csv') {
  const form = new FormData()
  form.set('file', new Blob([text], { type }), 'contacts.csv')
  const sent = new Response(form)
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
  const body = Buffer.from(await sent.arrayBuffer())
  return posthorn.call('POST', `/v1/contacts/${listId}/import`, { body, headers })
}

const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `r${from + n}@x.test\n`).join('')
const countOf = async (listId: string): Promise<number> => {
  const { json } = await call('GET /v1/contacts/lists')
  return json.lists.find(({ id }: { id: string }) => id === listId)?.contactCount
}

t.test('a list from its making to its end', async (t) => {
  const made = await call('POST /v1/contacts/lists', { name: ' Readers ' })
  t.match(made, { status: 201, json: { id: String, name: 'Readers' } })
  const path = `/v1/contacts/${made.json.id}`
  const ann = { email: 'Ann@x.test', firstName: 'Ann', metadata: { town: 'Lagos' } }
  const added = await call(`POST ${path}`, ann)
  t.match(added, { status: 201, json: { email: 'Ann@x.test' } })
  const again = await call(`POST ${path}`, { email: 'ann@X.test', lastName: 'Obi' })
  t.same([again.status, again.json], [200, added.json])
  await store.write((tx) =>
    suppress(tx, accountId, { email: 'ann@x.test', reason: 'unsubscribe' }, 1_000),
  )
  t.match(await call(`POST ${path}`, { ...ann, metadata: { id: 2 ** 60 } }), {
    status: 422,
    json: { error: /^metadata\.id: numbers beyond/ },
  })
  const details = await call(`GET /v1/contacts/lists/${made.json.id}`)
  t.match(details.json, { id: made.json.id, name: 'Readers', contactCount: 1 })
  t.equal(details.json.days.length, 91)
  // Of today, or of yesterday where midnight has passed meanwhile.
  t.match(details.json.days.slice(-2), [{ day: /^2\d{3}-\d\d-\d\d$/ }, { left: 0 }])
  t.equal(
    details.json.days.reduce((sum: number, { joined }: { joined: number }) => sum + joined, 0),
    1,
  )
  const page = await call(`GET ${path}`)
  t.same(page.json, {
    contacts: [
      {
        ...added.json,
        firstName: 'Ann',
        lastName: 'Obi',
        phone: null,
        metadata: { town: 'Lagos' },
        unsubscribed: true,
        unsubscribedAt: '1970-01-01T00:00:01.000Z',
        suppressed: 'unsubscribe',
        createdAt: page.json.contacts[0].createdAt,
      },
    ],
    hasMore: false,
    nextCursor: null,
  })
  const removed = await call(`DELETE ${path}/${added.json.id}`)
  t.match(removed, { status: 200, json: { id: added.json.id, deleted: true, message: String } })
  t.match(await call(`DELETE ${path}/${added.json.id}`), { status: 404 })
  const back = await call(`POST ${path}`, ann)
  t.match((await call(`GET ${path}`)).json.contacts, [{ id: back.json.id, unsubscribed: true }])
  t.match(await call(`DELETE /v1/contacts/lists/${made.json.id}`), {
    status: 200,
    json: { id: made.json.id, deleted: true, message: String },
  })
  t.match(await call(`GET ${path}`), {
    status: 404,
    json: { error: 'The account has no contact list with this id' },
  })
})

t.test('pages follow each other, and can be asked for one address', async (t) => {
  const id = await makeList('Pages')
  await upload(id, `email\n${rows(0, 250)}`)
  const seen = new Set<string>()
  let query = '?limit=100'
  const sizes: number[] = []
  for (let more = true; more; ) {
    const { json } = await call(`GET /v1/contacts/${id}${query}`)
    for (const { email } of json.contacts) seen.add(email)
    sizes.push(json.contacts.length)
    more = json.hasMore
    t.equal(json.nextCursor === null, !more)
    query = `?limit=100&cursor=${json.nextCursor}`
  }
  t.same(sizes, [100, 100, 50])
  t.equal(seen.size, 250)
  t.equal((await call(`GET /v1/contacts/${id}`)).json.contacts.length, 100, 'by default')
  const one = await call(`GET /v1/contacts/${id}?email=R7%40x.test`)
  t.match(one.json, { contacts: [{ email: 'r7@x.test' }], hasMore: false })
  for (const wrong of ['limit=501', 'limit=x', 'cursor=abc']) {
    t.match(await call(`GET /v1/contacts/${id}?${wrong}`), { status: 400 }, wrong)
  }
})

t.test('a contact is found, read, changed and deleted, whatever lists they are on', async (t) => {
  const listId = await makeList('All')
  const topicId = (await call('POST /v1/topics', { name: 'All' })).json.id
  const dan = { email: 'Dan@all.test', firstName: 'Dan', metadata: { town: 'Lagos', old: 1 } }
  const { id } = (await call(`POST /v1/contacts/${listId}`, dan)).json
  const path = `/v1/contacts/all/${id}`
  const found = async (query: string) =>
    (await call(`GET /v1/contacts/all?${query}`)).json.contacts.map(
      (one: { email: string }) => one.email,
    )
  for (const query of ['q=dan', 'email=dan%40ALL.test', `list=${listId}`, 'q=Dan&state=mailable']) {
    t.same(await found(query), ['Dan@all.test'], query)
  }
  t.same(await found(`list=${listId}&state=unsubscribed`), [])
  for (const wrong of ['state=x', 'limit=0', 'cursor=abc']) {
    t.match(await call(`GET /v1/contacts/all?${wrong}`), { status: 400 }, wrong)
  }
  t.match(await call(`GET /v1/contacts/all?list=${nobody}`), { status: 404 })
  const first = (await call(`GET ${path}`)).json
  t.match(first, {
    id,
    metadata: { town: 'Lagos' },
    lists: [{ id: listId, name: 'All', addedAt: String }],
    mail: {
      says: 'Gets your marketing mail',
      marketing: { gets: true, because: [{ kind: 'added', by: 'api', listId }] },
      transactional: { gets: true },
    },
  })
  // How they came is no reason for what only nothing stops.
  t.same(first.mail.transactional.because, [])
  t.same(first.mail.topics[0].because, [])
  await store.write(async (tx) => {
    await optOut(tx, accountId, { topicId, address: dan.email }, 1_000)
    await suppress(tx, accountId, { email: dan.email, reason: 'unsubscribe', detail: 'x' }, 2_000)
  })
  const changes = {
    lastName: 'Eze',
    phone: '08031234567',
    metadata: { n: 1 },
    removeMetadata: ['old'],
  }
  const changed = await call(`PATCH ${path}`, changes)
  t.match(changed, {
    status: 200,
    json: {
      firstName: 'Dan',
      lastName: 'Eze',
      phone: '+2348031234567',
      unsubscribed: true,
      mail: {
        says: 'Gets none: unsubscribed on 1 Jan 1970',
        marketing: { gets: false, because: [{ kind: 'unsubscribed', note: 'x', by: null }] },
        transactional: { gets: true },
      },
    },
  })
  t.same(changed.json.metadata, { town: 'Lagos', n: 1 })
  const topic = changed.json.mail.topics.find((one: { id: string }) => one.id === topicId)
  t.match(topic, {
    gets: false,
    because: [{ kind: 'left_topic', by: 'recipient' }, { kind: 'unsubscribed' }],
  })
  t.match((await call(`PATCH ${path}`, { firstName: '', phone: '' })).json, {
    firstName: null,
    phone: null,
    lastName: 'Eze',
  })
  for (const [status, body] of [
    [400, {}],
    [400, { phone: 'x' }],
    [400, { lastname: 'x' }],
    [422, { metadata: { id: 2 ** 60 } }],
  ] as const) {
    t.equal((await call(`PATCH ${path}`, body)).status, status, JSON.stringify(body))
  }
  const { apiKey } = await posthorn.addAccount('All strangers')
  for (const [one, body] of [
    [`GET ${path}`],
    [`PATCH ${path}`, { firstName: 'X' }],
    [`DELETE ${path}`],
    [`GET /v1/contacts/all?list=${listId}`],
  ] as const) {
    t.match(await call(one, body, apiKey), { status: 404 }, one)
  }
  t.same((await call('GET /v1/contacts/all', undefined, apiKey)).json.contacts, [])
  t.match(await call(`DELETE ${path}`), { status: 200, json: { id, deleted: true } })
  t.equal(await countOf(listId), 0)
  t.equal((await call(`GET ${path}`)).status, 404)
  const back = (await call(`POST /v1/contacts/${listId}`, dan)).json
  t.match((await call(`GET /v1/contacts/all/${back.id}`)).json.mail, { marketing: { gets: false } })
})

t.test("another account's list, contact and topic are a 404", async (t) => {
  const id = await makeList('Mine')
  const contact = (await call(`POST /v1/contacts/${id}`, { email: 'mine@x.test' })).json.id
  const topic = (await call('POST /v1/topics', { name: 'Mine' })).json.id
  const { apiKey } = await posthorn.addAccount('Stranger')
  for (const [one, body] of [
    [`GET /v1/contacts/${id}`],
    [`POST /v1/contacts/${id}`, { email: 'new@x.test' }],
    [`DELETE /v1/contacts/${id}/${contact}`],
    [`DELETE /v1/contacts/lists/${id}`],
    [`PATCH /v1/topics/${topic}`, { name: 'Theirs' }],
    [`DELETE /v1/topics/${topic}`],
    [`GET /v1/topics/${topic}/opt-outs`],
  ] as const) {
    t.match(await call(one, body, apiKey), { status: 404, json: { code: 'not_found' } }, one)
  }
  t.same((await call('GET /v1/topics', undefined, apiKey)).json, { topics: [] })
  t.same((await call('GET /v1/contacts/lists', undefined, apiKey)).json, { lists: [] })
  t.equal((await call('POST /v1/topics', { name: 'Mine' }, apiKey)).status, 201, 'names are own')
})

t.test('a topic is made, changed, archived and restored; opt-outs stay', async (t) => {
  const { json } = await call('POST /v1/topics', { name: 'Offers', description: 'Weekly' })
  t.match(json, { name: 'Offers', message: String })
  const listed = async (query = '') =>
    (await call(`GET /v1/topics${query}`)).json.topics.find(
      (one: { id: string }) => one.id === json.id,
    )
  t.match(await call('POST /v1/topics', { name: 'oFFERS' }), { status: 409 })
  const id = await makeList('Offers')
  await call(`POST /v1/contacts/${id}`, { email: 'Bob@x.test', firstName: 'Bob', lastName: 'Eze' })
  for (const [n, address] of ['gone@x.test', 'bob@x.test'].entries()) {
    await store.write((tx) => optOut(tx, accountId, { topicId: json.id, address }, n * 1_000))
  }
  const whole = {
    id: json.id,
    name: 'Offers',
    description: 'Weekly',
    position: 0,
    archived: false,
    optedOut: 2,
    createdAt: (await listed()).createdAt,
  }
  t.same(await listed(), whole)
  const changed = await call(`PATCH /v1/topics/${json.id}`, { position: -3 })
  t.same([changed.status, changed.json], [200, { ...whole, position: -3 }])
  t.match(await call(`DELETE /v1/topics/${json.id}`), { status: 200, json: { message: String } })
  t.equal(await listed(), undefined)
  t.match(await listed('?includeArchived=true'), { archived: true, optedOut: 2 })
  t.match(await call('POST /v1/topics', { name: 'Offers' }), { status: 409 }, 'still taken')
  t.match(await call(`PATCH /v1/topics/${json.id}`, { archived: false }), {
    json: { archived: false, optedOut: 2 },
  })
  t.same((await call(`GET /v1/topics/${json.id}/opt-outs`)).json, {
    topic: { id: json.id, name: 'Offers' },
    optOuts: [
      { email: 'Bob@x.test', name: 'Bob Eze', optedOutAt: '1970-01-01T00:00:01.000Z' },
      { email: 'gone@x.test', name: null, optedOutAt: '1970-01-01T00:00:00.000Z' },
    ],
  })
  for (const body of [
    { name: '' },
    { name: 'x'.repeat(61) },
    { archived: 'yes' },
    { position: 0.5 },
  ]) {
    t.match(await call(`PATCH /v1/topics/${json.id}`, body), { status: 400 }, JSON.stringify(body))
  }
})

t.test('imports at once share the thread, and a mail is accepted meanwhile', async (t) => {
  const [a, b] = [await makeList('A'), await makeList('B')]
  const file = `email,firstName\n${rows(0, 4_000)}`
  const all = Promise.all([upload(a, file), upload(b, file), upload(a, file)])
  const mail = { from: 'a@sender.test', to: 'ann@example.com', subject: 'x', html: '<p>x</p>' }
  t.equal((await posthorn.send(mail)).status, 200)
  const [first, second, third] = (await all).map(({ json }) => json)
  t.equal(first.imported + third.imported, 4_000)
  t.equal(first.skipped + third.skipped, 4_000)
  t.match(second, { imported: 4_000, skipped: 0, invalid: 0 })
  t.same([await countOf(a), await countOf(b)], [4_000, 4_000])
})

t.test('a client that leaves in the middle leaves whole batches', async (t) => {
  const id = await makeList('Cut')
  const connection = await RawConnection.open(Number(new URL(posthorn.url).port))
  const head = `POST /v1/contacts/${id}/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${posthorn.apiKey}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 9000000\r\n\r\n`
  const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
  connection.write(`${head}${part}email\n${rows(0, 3_210)}`)
  // With a rest, as a client that asks on and on goes before the import. How large a batch is depends on how long the
  // last one took: what is less than one waits for the rest of the upload.
  let there = 0
  for (let before = -1; there < 100 || there !== before; await pause(500)) {
    before = there
    there = await countOf(id)
  }
  await connection.destroy()
  // The batch after these may be on its way to the disk; how large it is depends on how long the last one took.
  const { json } = await upload(id, `email\n${rows(0, 3_300)}`)
  t.ok(json.skipped >= there && json.skipped <= 3_210, `${json.skipped} were there`)
  t.match(json, { imported: 3_300 - json.skipped, skipped: json.skipped, invalid: 0 })
  const { members } = await listMembers(store.read, accountId, id, { limit: 1, email: 'r0@x.test' })
  t.equal(members.length, 1)
})

t.test('an import into no list, or of no CSV, reads nothing', async (t) => {
  t.match(await upload(nobody, 'email\na@x.test\n'), { status: 404 })
  const id = await makeList('Types')
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
  t.match(await upload(id, 'email\na@x.test\n', type), { status: 415 })
  t.match(await upload(id, 'email\n\n"a@x.test'), {
    status: 400,
    json: { line: 3, imported: 0, skipped: 0, invalid: 0 },
  })
  t.equal(await countOf(id), 0)
})
