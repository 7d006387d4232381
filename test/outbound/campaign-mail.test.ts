import { createHash, randomBytes } from 'node:crypto'
import PostalMime, { decodeWords } from 'postal-mime'
import t, { type Test } from 'tap'
import { setLanguage } from '../../src/accounts/index.js'
import { type BroadcastInput, resumeBroadcast } from '../../src/broadcasts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { removeFromList } from '../../src/contacts/index.js'
import { readEmail } from '../../src/emails/index.js'
import { createTopic, optOut } from '../../src/topics/index.js'
import { openCampaigns } from '../support/campaigns.js'
import { outboundRig } from '../support/outbound.js'

async function open(t: Test) {
  const outbound = await outboundRig(t)
  const { store, accountId } = outbound
  const campaigns = await openCampaigns(t, { store, accountId, clock: systemClock })
  let seen = 0
  return {
    outbound,
    campaigns,
    store,
    accountId,
    /** Sends it, and resolves with what each recipient got. */
    async send(html: string, count: number, more: Partial<BroadcastInput> = {}) {
      const made = await campaigns.create({ html, subject: 'News', ...more })
      await campaigns.expand()
      for (const { lane } of campaigns.rung.splice(0)) outbound.ring(lane, 2)
      await outbound.eventually(async () => (await campaigns.find(made.id)).waiting === 0)
      const mails = outbound.mx.messages.slice(seen)
      seen += mails.length
      t.equal(mails.length, count)
      const parsed = await Promise.all(
        mails.map(async ({ to, raw }) => ({ at: to[0] ?? '', mail: await PostalMime.parse(raw) })),
      )
      return new Map(parsed.map(({ at, mail }) => [at.split('@')[0], mail]))
    },
  }
}

t.test('each recipient gets what is known of them, in HTML and in text', async (t) => {
  const { campaigns, send } = await open(t)
  const metadata = { town: 'Lagos & <co>', size: 'XL' }
  await campaigns.add('ann@d.test', { firstName: 'Ann <b>', metadata })
  await campaigns.add('bob@d.test')
  const simple = `<p>Dear {{ firstName | default: "friend of the house, near or far" }},</p>
    <p>{{ town }}/{{ metadata.town }} {{nothing}}<a href="https://x.test/?m={{ email }}">Go</a></p>
    <p>{{ town }}: <a href="https://x.test/{{ email }}">https://x.test/{{ email }}</a></p>`
  const mails = await send(simple, 2)
  const ann = mails.get('ann')
  t.match(ann?.html, '<p>Dear Ann &lt;b&gt;,</p>')
  t.match(ann?.html, '<p>Lagos &amp; &lt;co&gt;/Lagos &amp; &lt;co&gt; <a')
  t.match(ann?.text, 'Dear Ann <b>,')
  t.match(ann?.text, 'Lagos & <co>/Lagos & <co>')
  t.match(ann?.text, '[https://x.test/?m=ann@d.test]')
  t.match(ann?.text, 'Lagos & <co>: https://x.test/ann@d.test\n')
  t.match(mails.get('bob')?.text, 'Dear friend of the house, near or far,')
  t.match(ann?.html, /Unsubscribe/)
  t.match(ann?.text, /Unsubscribe/)
  t.not(ann?.messageId, mails.get('bob')?.messageId)

  const rich =
    '{% if firstName %}<p>Dear {{ firstName | upcase }}</p>{% else %}<p>Hello</p>{% endif %}'
  const others = await send(rich, 2)
  t.match(others.get('ann')?.html, '<p>Dear ANN &lt;B&gt;</p>')
  t.match(others.get('ann')?.text, /^Dear ANN <B>/)
  t.match(others.get('bob')?.text, /^Hello/)

  // Half a condition is in what the converter drops: the text is made of the merged HTML.
  const odd = '<p {% if firstName %}title="{{ firstName }}">{% else %}>{% endif %}Hello</p>'
  const third = await send(odd, 2)
  t.match(third.get('bob')?.text, /Hello/)
  t.match(third.get('ann')?.html, 'title="Ann &lt;b&gt;"')
})

t.test('links and footer are merge tags, and an author’s own link takes its place', async (t) => {
  const { campaigns, send, store, accountId } = await open(t)
  await campaigns.add('ann@d.test', { firstName: 'Ann', metadata: { unsubscribe_url: 'old' } })
  const footer = /You receive this email from Test\./
  const own = await send(
    '<p>{{ firstName }}: <a href="%7B%7B%20unsubscribe_url%20%7D%7D">leave</a>, <a href="{{ preferences_url }}">choose</a></p>',
    1,
  )
  const ann = own.get('ann')
  const url = ann?.headers.find(({ key }) => key === 'list-unsubscribe')?.value.slice(1, -1) ?? ''
  t.match(url, /\/unsubscribe\/[\w-]{60,}$/)
  t.ok(ann?.html?.includes(`<p>Ann: <a href="${url}">leave</a>, <a href="http`), `${ann?.html}`)
  t.match(ann?.html, /\/preferences\/[\w-]{60,}">choose/)
  t.notMatch(ann?.html, footer)
  t.ok(
    ann?.text?.replace(/\s+/g, ' ').includes(`Ann: leave [${url}], choose [http`),
    `${ann?.text}`,
  )
  t.notMatch(ann?.text, footer)
  // By the engine, in an account that writes French.
  await setLanguage({ store }, accountId, 'fr')
  const placed = await send(
    '{% if firstName %}<p>Hi</p>{{ unsubscribe_footer }}{% endif %}<p>{{ firstName | upcase }}</p>',
    1,
  )
  const french = placed.get('ann')
  t.match(
    french?.html,
    /^<p>Hi<\/p>\s*<div .*Vous recevez cet e-mail de Test\..*<\/div>\s*<p>ANN<\/p>\s*$/s,
  )
  t.match(french?.text, /^Hi\s+---\s+Vous recevez [\s\S]*Se désabonner: http\S+\s+ANN\s*$/)
  const page = await send('<p>Hi</p><!-- unfinished', 1)
  t.match(page.get('ann')?.html, /Hi<\/p>\s*<div [\s\S]*<\/div>\s*<!-- unfinished/)
})

t.test(
  'a campaign is told from others by its Feedback-ID, unless it has one of its own',
  async (t) => {
    const { campaigns, send, accountId, outbound } = await open(t)
    await campaigns.addMany(1)
    const idsOf = (mails: Awaited<ReturnType<typeof send>>) =>
      [...mails.values()].flatMap(({ headers }) =>
        headers.filter(({ key }) => key === 'feedback-id').map(({ value }) => value),
      )
    const [usual] = idsOf(await send('<p>Hello</p>', 1))
    const { id } = await campaigns.store.read
      .selectFrom('broadcasts')
      .select('id')
      .executeTakeFirstOrThrow()
    t.equal(usual, `${id}:${accountId}:campaign:posthorn`)
    const signed = /DKIM-Signature:.*?h=([^;]+);/s.exec(
      outbound.mx.messages[0]?.raw.toString() ?? '',
    )
    t.equal(signed?.[1]?.split(/[:\s]+/).filter((name) => name === 'feedback-id').length, 2)
    const own = { headers: { 'feedback-id': 'news:shop:weekly:citymail' } }
    t.same(idsOf(await send('<p>Hello</p>', 1, own)), ['news:shop:weekly:citymail'])
  },
)

t.test('headers, tags and several answer addresses are of every mail of a campaign', async (t) => {
  const { campaigns, send, store, accountId } = await open(t)
  await campaigns.addMany(3)
  const mails = await send('<p>Hello</p>', 3, {
    replyTo: ['a@sender.test', 'Bö <b@sender.test>'],
    headers: { 'X-Issue': 'Número 7' },
    tags: [
      { name: 'issue', value: '7' },
      { name: 'kind', value: 'news' },
    ],
  })
  for (const mail of mails.values()) {
    t.match(mail.replyTo, [{ address: 'a@sender.test' }, { name: 'Bö' }])
    t.equal(decodeWords(mail.headers.find(({ key }) => key === 'x-issue')?.value ?? ''), 'Número 7')
    t.ok(mail.headers.some(({ key }) => key === 'list-unsubscribe'))
  }
  const rows = await store.read.selectFrom('email_tags').selectAll().execute()
  t.equal(rows.length, 6)
  const [row] = rows
  t.match(await readEmail(store.read, accountId, row?.email_id ?? ''), {
    replyTo: ['a@sender.test', 'Bö <b@sender.test>'],
    tags: [{ name: 'issue' }, { name: 'kind' }],
  })
  const refused = (headers: Record<string, string>) => campaigns.create({ headers })
  await t.rejects(refused({ 'List-Unsubscribe': '<https://x.test>' }), {
    message: /The header "List-Unsubscribe" cannot be set/,
  })
})

t.test('who left, or is no contact any more, gets nothing at the last moment', async (t) => {
  const { campaigns, outbound, store, accountId } = await open(t)
  const gone = await campaigns.add('gone@d.test')
  await campaigns.add('left@d.test')
  await campaigns.add('here@d.test')
  const topic = await createTopic(campaigns, accountId, { name: 'Offers' })
  const made = await campaigns.create({ topicId: topic.id })
  await campaigns.expand()
  await removeFromList(campaigns, accountId, campaigns.listId, gone.id)
  const address = 'left@d.test'
  await store.write((tx) => optOut(tx, accountId, { topicId: topic.id, address }, 1))
  outbound.ring('d.test', 2)
  await outbound.eventually(async () => (await campaigns.find(made.id)).waiting === 0)
  t.same(
    outbound.mx.messages.map(({ to }) => to[0]),
    ['here@d.test'],
  )
  t.match(await campaigns.find(made.id), { status: 'sent', delivered: 1, suppressed: 2 })
  const replies = await store.read
    .selectFrom('deliveries')
    .select(['recipient', 'reply'])
    .where('status', '=', 'suppressed')
    .orderBy('recipient')
    .execute()
  t.match(replies, [{ reply: /the contact was deleted/ }, { reply: /has left the topic/ }])
})

t.test('what does not render for one recipient fails for that one', async (t) => {
  const { campaigns, outbound, store } = await open(t)
  await campaigns.add('fine@d.test')
  await campaigns.add('many@d.test', { metadata: { n: 30_000_000 } })
  const html = '<p>{% for i in (1..n) %}{{ i }}{% endfor %}x</p>'
  const made = await campaigns.create({ html })
  await campaigns.expand()
  outbound.ring('d.test', 2)
  await outbound.eventually(async () => (await campaigns.find(made.id)).waiting === 0)
  t.match(await campaigns.find(made.id), { delivered: 1, failed: 1 })
  const failed = await store.read
    .selectFrom('deliveries')
    .select('reply')
    .where('status', '=', 'failed')
    .executeTakeFirst()
  t.match(failed?.reply, /^The campaign does not render: /)
})

t.test('what was put off before a pause or a cancel does not leave after it', async (t) => {
  let answer = '451 4.3.0 later'
  const outbound = await outboundRig(t, { script: { rcpt: () => answer } })
  const { store, accountId } = outbound
  const campaigns = await openCampaigns(t, { store, accountId, clock: systemClock })
  await campaigns.add('one@d.test')
  const made = await campaigns.create()
  await campaigns.expand()
  const retryNow = async () => {
    await store.write((tx) => tx.updateTable('queue').set({ due_at: 0 }).execute())
    outbound.ring('d.test', 2)
  }
  const waiting = () => store.read.selectFrom('queue').selectAll().executeTakeFirst()
  outbound.ring('d.test', 2)
  await outbound.eventually(async () => (await waiting())?.attempts === 1)
  answer = '250 ok'
  const set = (status: 'paused' | 'cancelled') =>
    store.write((tx) => tx.updateTable('broadcasts').set({ status }).execute())
  await set('paused')
  await retryNow()
  await outbound.eventually(async () => ((await waiting())?.held_at ?? null) !== null)
  t.match(await waiting(), {
    attempts: 1,
    last_reply: '451 4.3.0 later',
    held_reason: `campaign ${made.id} is paused`,
    held_due_at: 0,
    lease: null,
  })
  // As those are that were in flight when the others were cancelled.
  await set('cancelled')
  await store.write((tx) =>
    tx.updateTable('queue').set({ held_at: null, held_reason: null, held_due_at: null }).execute(),
  )
  await retryNow()
  await outbound.eventually(async () => (await waiting()) === undefined)
  t.match(await campaigns.find(made.id), { status: 'cancelled', waiting: 0, suppressed: 1 })
  t.same(outbound.mx.messages, [])
})

t.test(
  'what was never tried does not leave while its campaign is paused, and is not tried',
  async (t) => {
    const outbound = await outboundRig(t)
    const { store, accountId } = outbound
    const campaigns = await openCampaigns(t, { store, accountId, clock: systemClock })
    await campaigns.add('one@d.test')
    const made = await campaigns.create()
    await campaigns.expand()
    // As the status stands before the first of its mail is held.
    await store.write((tx) => tx.updateTable('broadcasts').set({ status: 'paused' }).execute())
    outbound.ring('d.test', 2)
    const waiting = () => store.read.selectFrom('queue').selectAll().executeTakeFirst()
    await outbound.eventually(async () => ((await waiting())?.held_at ?? null) !== null)
    t.match(await waiting(), { attempts: 0, last_reply: null, last_attempt_at: null })
    t.same(outbound.mx.messages, [])
    t.same(await store.read.selectFrom('events').selectAll().execute(), [])
    const { released } = await resumeBroadcast(campaigns, made)
    t.equal(released, 1)
    outbound.ring('d.test', 2)
    await outbound.mx.waitForMessages(1)
  },
)

t.test('a campaign with a file merges, counts and is left as one without', async (t) => {
  const { campaigns, send, store, outbound } = await open(t)
  for (const name of ['ann', 'bob', 'cyd'])
    await campaigns.add(`${name}@d.test`, { firstName: name })
  const bytes = randomBytes(150_000)
  const attachments = [{ filename: 'issue.pdf', content: bytes.toString('base64') }]
  const html = '<p>Dear {{ firstName }}</p><a href="https://x.test/">Go</a>'
  const mails = await send(html, 3, { attachments })
  for (const [name, { html, text, headers, attachments: parts }] of mails) {
    t.match(html, `Dear ${name}`)
    t.match(html, /Unsubscribe/)
    t.match(text, /Unsubscribe/)
    t.ok(headers.some(({ key }) => key === 'list-unsubscribe-post'))
    t.same(
      parts.map(({ filename, content }) => [filename, digestOf(content as ArrayBuffer)]),
      [['issue.pdf', digestOf(bytes)]],
    )
  }
  t.match(await store.read.selectFrom('contents').selectAll().execute(), [{ uses: 1 }])
  t.equal((await store.read.selectFrom('bodies').selectAll().execute()).length, 1)
  const raws = outbound.mx.messages.map(({ raw }) => raw.toString('latin1'))
  const hashes = raws.map((raw) => raw.match(/bh=([\w+/=\s]+);/)?.[1])
  t.equal(new Set(hashes).size, 3, 'each has words of its own')
  await send('<p>Hello</p>', 3, { attachments })
  t.equal((await store.read.selectFrom('contents').selectAll().execute()).length, 1, 'one copy')
})

const digestOf = (bytes: ArrayBuffer | Buffer) =>
  createHash('sha256').update(new Uint8Array(bytes)).digest('hex')

t.test('a preview text is Liquid of its own, and swallows nothing of the mail', async (t) => {
  const { campaigns, send } = await open(t)
  await campaigns.add('ann@d.test', { firstName: 'Ann' })
  const conditional = '{% if firstName %}For {{ firstName }}{% else %}For you{% endif %}'
  const mails = await send('<p>{{ firstName | upcase }}</p>', 1, { previewText: conditional })
  t.match(mails.get('ann')?.html, /display:none[^>]*>For Ann&#847;.*<p>ANN<\/p>/s)
  t.match(mails.get('ann')?.text, /^ANN/)
  const endless = { previewText: 'New {% comment %}' }
  const refused = { message: /previewText/ }
  await t.rejects(campaigns.create({ html: '<p>Hi</p>', ...endless }), refused)
})
