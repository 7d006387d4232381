// Thorough: a whole appliance that is killed while it imports.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { thoroughly } from '../support/thorough.js'

// 50 of them: POSTHORN_TEST_KILLS=50 node dist/test/journeys/import-kill.test.js
const kills = Number(process.env.POSTHORN_TEST_KILLS ?? thoroughly(1, 2))
const rows = 6_000 * (kills + 2)
// A batch has 25 rows, or 50, 100 or 200 where the machine is fast enough.
const perBatch = 25

t.test(`kill -9 at ${kills} moments of an import leaves whole batches, in order`, async (t) => {
  const dataDir = makeTempDir(t)
  const { apiKey } = initSandbox(dataDir)
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    '[outbound]\nroute = "direct"\nthreads = 1\n[http.rate_limit]\nrequests = 0\n' +
      '[http.private]\nport = 0\n[http.public]\nport = 0\nhost = "127.0.0.1"\n',
  )
  const headers = { authorization: `Bearer ${apiKey}` }
  const file = Array.from({ length: rows }, (_, n) => `r${n}@x.test,R${n}\n`)
  const csv = new Blob([`email,firstName\n${file.join('')}`], { type: 'text/csv' })
  const upload = async (url: string, listId: string) => {
    const body = new FormData()
    body.set('file', csv, 'contacts.csv')
    const response = await fetch(`${url}/v1/contacts/${listId}/import`, {
      method: 'POST',
      headers,
      body,
    })
    return response.json()
  }
  const listOn = async (url: string) => {
    const response = await fetch(`${url}/v1/contacts/lists`, { headers })
    const { lists } = (await response.json()) as { lists: { id: string; contactCount: number }[] }
    return lists[0] ?? { id: '', contactCount: 0 }
  }
  let held = 0
  for (let round = 0; round < kills; round++) {
    const posthorn = await serve(t, dataDir, {})
    if (round === 0) {
      await fetch(`${posthorn.url}/v1/contacts/lists`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{"name":"Readers"}',
      })
    }
    const { id } = await listOn(posthorn.url)
    const cutOff = t.rejects(upload(posthorn.url, id), 'nobody answers')
    const enough = held + Math.random() * 5_000
    while ((await listOn(posthorn.url)).contactCount <= enough);
    await posthorn.kill('SIGKILL')
    await cutOff
    const before = held
    held = await check()
    t.ok(held > before && held < rows, `${held} of ${rows} are in`)
  }
  const posthorn = await serve(t, dataDir, {})
  const { id } = await listOn(posthorn.url)
  t.match(await upload(posthorn.url, id), { imported: rows - held, skipped: held, invalid: 0 })
  t.equal((await listOn(posthorn.url)).contactCount, rows)
  t.equal(await posthorn.kill('SIGTERM'), 0)
  t.equal(await check(), rows)

  /** What is in: the first rows of the file, each once, and nothing by halves. */
  async function check(): Promise<number> {
    const { read, close } = await openTestStore(t, { dataDir })
    const members = await read
      .selectFrom('list_members')
      .innerJoin('contacts', 'contacts.id', 'list_members.contact_id')
      .select(['address', 'line'])
      .orderBy('line')
      .execute()
    const contacts = await read.selectFrom('contacts').select('id').execute()
    const total = await read.selectFrom('contact_totals').select('contacts').executeTakeFirst()
    const list = await read.selectFrom('contact_lists').selectAll().executeTakeFirst()
    await close()
    const count = members.length
    t.same([contacts.length, total?.contacts, list?.contact_count], [count, count, count])
    t.equal(count % perBatch, 0)
    t.ok(members.every(({ address, line }, n) => address === `r${n}@x.test` && line === n + 2))
    return count
  }
})
