// The link of a confirmation mail that confirms by itself, for people alone.
import t from 'tap'
import { type Clock, systemClock } from '../../src/clock/index.js'
import { findContact } from '../../src/contacts/index.js'
import { eventually } from '../support/eventually.js'
import { fillIn, linkTo, makeForm, stampOf, startWithForms } from '../support/signup-forms.js'

let movedMs = 0
const clock: Clock = { now: () => Date.now() + movedMs, after: systemClock.after }
const posthorn = await startWithForms(t, clock)
const { store, accountId } = posthorn
const form = await makeForm(posthorn, { confirmAtOnce: true })
const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101'
const person = {
  'user-agent': userAgent,
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'accept-language': 'en-GB,en;q=0.5',
}
const known = async (email: string) =>
  (await findContact(store.read, accountId, email)) !== undefined
let network = 0

/** The link of somebody whose mail has arrived a while ago. */
async function linkFor(email: string, page = form.page): Promise<string> {
  const stamp = stampOf(posthorn, page, '', clock.now)
  await fillIn(posthorn, page, email, { from: `192.0.${++network}.1`, stamp })
  const link = await linkTo(posthorn, email)
  await eventually(async () => {
    const rows = await store.read
      .selectFrom('emails')
      .innerJoin('deliveries', 'deliveries.email_id', 'emails.id')
      .select('to_list')
      .execute()
    return rows.some(({ to_list }) => to_list.includes(email))
  }, 10_000)
  return link
}

const other = await makeForm(posthorn)
const links = {
  ada: await linkFor('ada@reader.test'),
  bob: await linkFor('bob@reader.test'),
  cid: await linkFor('cid@reader.test', other.page),
}

t.test('a person who follows it is on the list', async (t) => {
  const soon = await (await fetch(links.ada, { headers: person })).text()
  t.match(soon, '<button>Confirm', 'as soon as it had arrived')
  t.notOk(await known('ada@reader.test'))
  movedMs += 60_000
  t.match(await (await fetch(links.ada, { headers: person })).text(), 'You are signed up')
  t.ok(await known('ada@reader.test'))
})

t.test('machines get the button', async (t) => {
  const link = links.bob
  const asMachine: [string, RequestInit][] = [
    ['HEAD', { method: 'HEAD', headers: person }],
    ['a prefetch', { headers: { ...person, 'sec-purpose': 'prefetch' } }],
    ['a picture', { headers: { ...person, 'sec-fetch-dest': 'image' } }],
    ['a program', { headers: { 'user-agent': 'python-requests/2.32' } }],
    ['curl', { headers: { 'user-agent': 'curl/8.14.1', accept: '*/*' } }],
    ['a program that names a browser', { headers: { 'user-agent': userAgent, accept: '*/*' } }],
    [
      'over TLS a browser says what it does',
      { headers: { ...person, 'x-forwarded-proto': 'https' } },
    ],
    ['a filter', { headers: { 'user-agent': 'Barracuda Sentinel (EE)' } }],
  ]
  for (const [who, asked] of asMachine) {
    t.equal((await fetch(link, asked)).status, 200, who)
    t.notOk(await known('bob@reader.test'), who)
  }
  await fetch(link, { method: 'POST' })
  t.ok(await known('bob@reader.test'), 'the button works')
})

t.test('without the setting a GET confirms nothing', async (t) => {
  t.match(await (await fetch(links.cid, { headers: person })).text(), '<button>Confirm')
  t.notOk(await known('cid@reader.test'))
})
