// Issue 39 B6: what an account may store.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { deleteUnused, storedBytesOf } from '../../src/contents/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { makeTempDir } from '../support/store.js'

const KiB = 1_024
const dataDir = makeTempDir(t)
const plans = readFileSync(packageFile('config/plans.toml'), 'utf8')
writeFileSync(
  join(dataDir, 'plans.toml'),
  plans.replace('stored_mib = "unlimited"', 'stored_mib = 1'),
)
const posthorn = await startPosthorn(t, { dataDir })
const { accountId, store } = posthorn
const held = () => storedBytesOf(store.read, accountId)
const file = (letter: string, bytes = 600 * KiB) => ({
  filename: 'a.bin',
  content: Buffer.alloc(bytes, letter).toString('base64'),
})
const mail = { from: 'a@sender.test', to: 'delivered@simulator.posthorn.test', subject: 'x' }

t.test('files, templates and drafts together have a ceiling', async (t) => {
  const { marketing } = loadPlans(packageFile('config/plans.toml'))
  await store.write((tx) => setMarketingPlan(tx, accountId, findPlan(marketing, 'Marketing Pro')))
  const send = (letter: string) =>
    posthorn.send({ ...mail, html: '<p>x</p>', attachments: [file(letter)] })
  t.equal((await send('a')).status, 200)
  t.equal((await send('a')).status, 200, 'what is stored already takes no more room')
  t.equal(await held(), 600 * KiB)
  const refused = await send('b')
  t.match(refused, { status: 403, json: { code: 'plan_limit_exceeded', error: /1 MiB/ } })
  t.equal((await posthorn.send({ ...mail, html: '<p>x</p>' })).status, 200, 'mail without files')
  const batch = (...letters: string[]) => {
    const emails = letters.map((letter) => ({
      ...mail,
      html: '<p>x</p>',
      attachments: [file(letter, 300 * KiB)],
    }))
    return posthorn.call('POST', '/v1/emails/batch', { body: { emails } })
  }
  const together = await batch('c', 'd')
  t.match(together, { status: 403, json: { code: 'plan_limit_exceeded' } }, 'each would fit alone')
  t.equal(await held(), 600 * KiB)

  const { json: list } = await posthorn.call('POST', '/v1/contacts/lists', {
    body: { name: 'News' },
  })
  const draft = (more: object) =>
    posthorn.call('POST', '/v1/broadcasts', {
      body: {
        listId: list.id,
        from: mail.from,
        subject: 'x',
        html: '<p>Hi</p>',
        draft: true,
        ...more,
      },
    })
  t.equal((await draft({ attachments: [file('b')] })).status, 403)
  const large = '<p>Hi</p>'.padEnd(300 * KiB, ' ')
  const made = await draft({ html: large })
  t.equal(made.status, 200)
  t.equal(await held(), 900 * KiB)
  t.equal((await draft({ html: large })).status, 403)
  const change = { body: { html: '<p>Hi</p>' } }
  t.equal((await posthorn.call('PATCH', `/v1/broadcasts/${made.json.id}`, change)).status, 200)
  t.equal(await held(), 600 * KiB + '<p>Hi</p>'.length)

  const template = (slug: string) =>
    posthorn.call('POST', '/v1/templates', {
      body: { slug, subject: 'x', html: '<p>Hi</p>'.padEnd(200 * KiB, ' ') },
    })
  t.same([(await template('one')).status, (await template('two')).status], [201, 201])
  t.equal((await template('three')).status, 403)
  const version = await posthorn.call('POST', '/v1/templates/one/versions/1/restore')
  t.equal(version.status, 403, 'each version is stored')
  await posthorn.call('DELETE', '/v1/templates/two')
  t.equal((await template('three')).status, 201, 'in the place of one that was deleted')
})

t.test('what goes with the mails is given back', async (t) => {
  const before = await held()
  await store.write((tx) => tx.updateTable('contents').set({ uses: 0 }).execute())
  t.equal(await deleteUnused({ store }, new AbortController().signal), 1)
  t.equal(await held(), before - 600 * KiB)
})
