// What is handed in to be imported: files that cannot be read, files that nobody wants any more, pasted addresses.
import t, { type Test } from 'tap'
import { systemClock as clock } from '../../../src/clock/index.js'
import { filesKept } from '../../../src/contacts/import-task/files.js'
import { createList } from '../../../src/contacts/index.js'
import { eventually } from '../../support/eventually.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'

async function open(t: Test) {
  const posthorn = await startPosthorn(t)
  const base = `/a/${posthorn.accountId}/contacts/import`
  const person = await logIn(posthorn, posthorn.accountId, 'member')
  return {
    posthorn,
    base,
    person,
    /** Hands in a file as a browser does. */
    async upload(bytes: string | Uint8Array<ArrayBuffer>) {
      const body = new FormData()
      body.set('file', new Blob([bytes]), 'people.csv')
      const headers = { cookie: person.cookie, 'sec-fetch-site': 'same-origin' }
      const init = { method: 'POST', body, headers, redirect: 'manual' } as const
      const answer = await fetch(`${posthorn.url}${base}`, init)
      const to = answer.headers.get('location') ?? ''
      return { status: answer.status, to, text: await answer.text() }
    },
    paste: (emails: string) => person.post(`${base}/paste`, { emails }),
  }
}

t.test('a file that cannot be read is refused on the form, and does not wait', async (t) => {
  const { posthorn, base, person, upload } = await open(t)
  const wide = `email\n${'\n'.repeat(10)}x@x.test\n`
  const columns = (count: number) => `email${',c'.repeat(count)}\nx@x.test\n`
  for (const [file, says] of [
    [new Uint8Array(Buffer.from(wide, 'utf16le')), 'The file is not CSV text'],
    [columns(250), 'The file has 251 columns, and at most 200 can be taken'],
    [columns(100_000), 'Line 1: it has over 20,000 cells'],
    ['\n\n', 'The file is empty'],
  ] as const) {
    const { status, text } = await upload(file)
    t.equal(status, 422, says)
    t.match(text, /<h1>Import people/, 'the form is there')
    t.match(text, says)
  }
  t.match((await person.get(base)).text, 'None yet')
  t.same(await filesKept(posthorn.dataDir), [], 'no file is left')
})

t.test('a file that nobody wants any more is removed, which makes room', async (t) => {
  const { posthorn, base, person, upload } = await open(t)
  let last = ''
  for (let n = 0; n < 20; n++) last = (await upload('email\nann@x.test\n')).to
  const full = await upload('email\nann@x.test\n')
  t.equal(full.status, 422)
  t.match(full.text, 'import or remove one of them first')
  t.match((await person.get(last)).text, `action="${last}/remove"`)
  t.equal((await person.post(`${last}/remove`)).to, base)
  t.equal((await person.get(last)).status, 404)
  t.equal((await filesKept(posthorn.dataDir)).length, 19)
  const { to } = await upload('email\nann@x.test\n')
  t.match(to, /import\/\d+$/, 'there is room again')
  const how = { known: 'fill', agreed: 'At the till', list: '', newList: 'Readers' }
  await person.post(to, { ...how, header: 'yes', 'use-0': 'email' })
  t.equal((await person.post(`${to}/remove`)).to, to, 'what has begun stays')
  t.not((await person.get(to)).status, 404)

  const { accountId } = await posthorn.addAccount('Other')
  const stranger = await logIn(posthorn, accountId, 'owner')
  const draft = Number(to.split('/').at(-1)) - 3
  const sent = await stranger.post(`/a/${accountId}/contacts/import/${draft}/remove`)
  t.equal((await stranger.get(sent.to)).status, 404)
  t.equal((await person.get(`${base}/${draft}`)).status, 200, 'no file of others goes')
})

t.test('a file of UTF-16 is called so', async (t) => {
  const { person, upload } = await open(t)
  const bytes = Buffer.from('\uFEFFemail;Stadt\nann@x.test;Köln\n', 'utf16le')
  const { text } = await person.get((await upload(new Uint8Array(bytes))).to)
  t.match(text, /<option[^>]* selected>UTF-16</)
  t.match(text, 'Köln')
  t.notMatch(text, 'Windows (Western')
})

t.test('addresses are pasted as mail programs show them', async (t) => {
  const { person, paste } = await open(t)
  const cells = async (text: string) => {
    const page = (await person.get((await paste(text)).to)).text
    const body = page.slice(page.indexOf('<tbody>'), page.indexOf('</tbody>'))
    return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
      [...row.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell]) => cell),
    )
  }
  t.same(
    await cells(
      '"Lee, Bob" <bob@x.test>, Ann Ek <ann@x.test>; cleo@x.test\n' +
        "Ek, Dan <dan@x.test>\n'Eve' <eve@x.test>\nfay@x.test gus@x.test\nnobody\n\"open <ida@x.test>",
    ),
    [
      ['bob@x.test', 'Lee, Bob'],
      ['ann@x.test', 'Ann Ek'],
      ['cleo@x.test', ''],
      ['dan@x.test', 'Ek, Dan'],
      ['eve@x.test', 'Eve'],
      ['fay@x.test', ''],
      ['gus@x.test', ''],
      ['nobody', ''],
      ['ida@x.test', '&quot;open'],
    ],
  )
  t.same(await cells('ann@x.test\nbob@x.test,cleo@x.test'), [
    ['ann@x.test'],
    ['bob@x.test'],
    ['cleo@x.test'],
  ])
  t.same(await cells('E-Mail,Vorname\nann@x.test,Ann'), [['ann@x.test', 'Ann']])
  t.same(await cells('Ann\tann@x.test\nBob\tbob@x.test'), [
    ['Ann', 'ann@x.test'],
    ['Bob', 'bob@x.test'],
  ])
  const begun = performance.now()
  await cells(`${'"\\'.repeat(100_000)}\n${'<'.repeat(100_000)}`)
  t.ok(performance.now() - begun < 5_000, 'long nonsense is read at once')
})

t.test('what an account with very many lists is not offered is said', async (t) => {
  const { posthorn, base, person, upload } = await open(t)
  const { store, accountId } = posthorn
  const make = (name: string) => createList({ store, clock }, accountId, name)
  const { id: oldest } = await make('The oldest')
  const adding = base.replace('import', 'new')
  t.notMatch((await person.get(adding)).text, 'are offered')
  t.notMatch((await person.get(adding)).text, /How they agreed <span[^>]*>\(optional/)
  for (let n = 0; n < 500; n += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, k) => make(`List ${n + k}`)))
  }
  t.match((await person.get(adding)).text, 'The newest 100 are offered. For an older one press')
  const { to } = await upload('email\nann@x.test\n')
  const { text } = await person.get(to)
  t.match(text, 'The newest 500 are offered. For an older one press')
  t.notMatch(text, 'The oldest')
  const chosen = `<option value="${oldest}" selected>The oldest (0)</option>`
  t.match((await person.get(`${to}?list=${oldest}`)).text, chosen)
  const wrong = await person.post(to, { list: oldest, known: 'fill', agreed: '', newList: '' })
  t.match(wrong, { status: 422, text: chosen }, 'and stays chosen')
  const gone = { list: accountId, known: 'fill', agreed: 'At the till', 'use-0': 'email' }
  const late = await person.post(to, gone)
  t.match(late, { status: 422, text: /The account has no contact list with this id/ })
})

t.test(
  'phone numbers without a country code are of the country that somebody chooses',
  async (t) => {
    const { posthorn, person, upload } = await open(t)
    const { to } = await upload(
      'email,Telefon\nann@x.test,0151 23456789\nbob@x.test,+33612345678\n',
    )
    t.match((await person.get(to)).text, '<option value="NG" selected>Nigeria</option>')
    const form = { header: 'yes', 'use-0': 'email', 'use-1': 'phone', list: '', newList: 'Readers' }
    const how = { ...form, known: 'fill', agreed: 'At the till', country: 'DE' }
    const again = await person.post(to, { ...how, agreed: '' })
    t.match(again, { status: 422, text: '<option value="DE" selected>Germany</option>' })
    t.equal((await person.post(to, how)).to, to)
    await eventually(async () => /chip good">done/.test((await person.get(to)).text), 10_000)
    const { contacts } = (await posthorn.call('GET', '/v1/contacts/all')).json
    t.match(contacts, [{ phone: '+4915123456789' }, { phone: '+33612345678' }])
  },
)
