import { readFileSync } from 'node:fs'
import PostalMime from 'postal-mime'
import t from 'tap'
import { neverCutChars } from '../../src/mime/index.js'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const mail = { from: 'a@sender.test', to: 'b@one.test', subject: 'Hi' }

/** What came of mails, in the order in which they were sent, and their ids. */
async function arrived(ids: string[]) {
  for (const id of ids) await posthorn.until(id, ({ status }) => status === 'delivered')
  const rows = await posthorn.store.read
    .selectFrom('sandbox_messages')
    .innerJoin('sandbox_sources', 'sandbox_sources.id', 'sandbox_messages.id')
    .select('raw')
    .execute()
  const mails = await Promise.all(rows.map(({ raw }) => PostalMime.parse(raw)))
  return ids.map((id) => mails.find(({ messageId }) => messageId?.includes(id)))
}

t.test('mail that comes with HTML alone arrives with what that says', async (t) => {
  const html = readFileSync('test/fixtures/html-text/data-receipt.html', 'utf8')
  const { status, json } = await posthorn.call('POST', '/v1/emails/batch', {
    body: {
      emails: [
        { ...mail, html },
        { ...mail, html, to: 'c@one.test' },
        { ...mail, html, text: 'My own' },
      ],
    },
  })
  t.equal(status, 200)
  const [one, two, own] = await arrived(json.ids)
  const expected = readFileSync('test/fixtures/html-text/data-receipt.txt', 'utf8')
  t.equal(one?.text?.trimEnd(), expected.trimEnd())
  t.equal(two?.text, one?.text)
  t.equal(own?.text?.trimEnd(), 'My own')
  t.match(one?.html, '/c/', 'its links are tracked')
  t.notMatch(one?.html, '/o/', 'opens of transactional mail are not, unless somebody says so')
  t.same((await posthorn.email(json.ids[0])).warnings, [])
})

t.test('a text part that is cut is told of', async (t) => {
  const html = '<p>some words</p>'.repeat(neverCutChars / 10)
  const sent = await posthorn.send({ ...mail, html })
  t.equal(sent.status, 200)
  const [cut] = await arrived([sent.json.id])
  t.match(cut?.text, /… the rest is in the HTML part\s*$/)
  const { warnings } = await posthorn.email(sent.json.id)
  t.match(warnings, [/^The HTML is too long to be made into a text part as a whole/])
  const own = await posthorn.send({ ...mail, html, text: 'My own' })
  t.same((await posthorn.email(own.json.id)).warnings, [])
  const styled = `<style>${'p { color: red }\n'.repeat(neverCutChars / 10)}</style><p>Short</p>`
  const short = await posthorn.send({ ...mail, html: styled })
  t.same(
    (await posthorn.email(short.json.id)).warnings,
    [],
    'what is long, but has few words, is whole',
  )
})
