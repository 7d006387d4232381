import PostalMime from 'postal-mime'
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { setSwitches } from '../../src/tracking/index.js'
import { type Posthorn, startPosthorn } from '../support/posthorn.js'
import { collectStatements } from '../support/statements.js'

const html =
  '<!doctype html>\n<HTML><body class=x>\n<img src="https://shop.test/logo.png" alt="Shop"><p>Hi <a title="é" HREF="https://shop.test/a?b=1&amp;c=2">there</a> ' +
  '<a href="mailto:a@x.test">us</a> <a href="#top">up</a> <a data-posthorn-notrack href="https://x.test/secret">quiet</a>\n' +
  "<a href='https://shop.test/b'>b</a> <a href='https://shop.test/b'>b again</a></p></body></HTML>\n"
const phone = {
  'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Mobile/15E148',
}

interface Received {
  html: string
  text: string
  /** In the order in which they stand there. */
  clicks: string[]
  pixel: string
}

/** The copies of a mail that the sandbox inbox has, by recipient. */
async function received(posthorn: Posthorn, id: string): Promise<Map<string, Received>> {
  await posthorn.until(id, ({ status }) => status === 'delivered')
  const rows = await posthorn.store.read
    .selectFrom('sandbox_messages')
    .innerJoin('sandbox_sources', 'sandbox_sources.id', 'sandbox_messages.id')
    .select(['rcpt_to', 'raw'])
    .execute()
  const copies = new Map<string, Received>()
  for (const { rcpt_to, raw } of rows) {
    const mail = await PostalMime.parse(raw)
    if (!mail.messageId?.includes(id)) continue
    const body = mail.html ?? ''
    copies.set(JSON.parse(rcpt_to)[0], {
      html: body,
      text: mail.text ?? '',
      clicks: [...body.matchAll(/(["'])(http:\/\/[^"']+\/c\/[^"']+)\1/g)].map(
        ([, , url = '']) => url,
      ),
      pixel: /<img src="([^"]+\/o\/[^"]+\.gif)"/.exec(body)?.[1] ?? '',
    })
  }
  return copies
}

async function eventually<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (let waited = 0; waited < 15_000; waited += 20) {
    const found = await find()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('It does not come')
}

const get = (url: string, options: RequestInit = {}) =>
  fetch(url, { redirect: 'manual', headers: phone, ...options })

t.test('from a mail to its counts', async (t) => {
  // Of this thread, which answers.
  const statements = collectStatements(t)
  const posthorn = await startPosthorn(t, { env: { POSTHORN_TRACKING_MACHINE_WITHIN: '0s' } })
  const { store, publicUrl } = posthorn
  const send = async (more: object = {}): Promise<string> => {
    const mail = { from: 'a@sender.test', to: ['b@one.test', 'c@two.test'], subject: 'Hi', html }
    const { status, json, text } = await posthorn.send({ ...mail, ...more })
    t.equal(status, 200, text)
    return json.id
  }
  await setSwitches({ store }, { accountId: posthorn.accountId }, { opens: true })
  const id = await send()
  const copies = await received(posthorn, id)
  const [b, c] = [copies.get('b@one.test'), copies.get('c@two.test')]
  if (b === undefined || c === undefined) throw new Error('Both have a copy')

  await t.test(
    'each recipient has links and a pixel of their own, all else is as it was',
    async (t) => {
      t.equal(b.clicks.length, 3)
      t.equal(b.clicks[1], b.clicks[2], 'a target is signed once')
      t.equal(new Set([...b.clicks, ...c.clicks, b.pixel, c.pixel]).size, 6)
      for (const { html: body, clicks, pixel, text } of [b, c]) {
        const [first = '', second = ''] = clicks
        const image = `<img src="${pixel}" width="1" height="1" alt="" style="border:0">`
        const back = body
          .replace(first, 'https://shop.test/a?b=1&amp;c=2')
          .replaceAll(second, 'https://shop.test/b')
        t.equal(
          back.replace(`${image}</body>`, '</body>').replaceAll('\r\n', '\n').trimEnd(),
          html.trimEnd(),
        )
        t.match(text, 'https://shop.test/a?b=1&c=2', 'nobody follows whom the text leads')
        t.notMatch(text, '/c/')
      }
    },
  )

  await t.test('the pixel is a picture, the link leads where the mail pointed', async (t) => {
    for (const method of ['GET', 'HEAD']) {
      const pixel = await get(b.pixel, { method })
      t.equal(pixel.status, 200)
      t.equal(pixel.headers.get('content-type'), 'image/gif')
      t.equal(pixel.headers.get('cache-control'), 'no-store')
      const bytes = Buffer.from(await pixel.arrayBuffer())
      if (method === 'GET') t.equal(bytes.toString('latin1', 0, 6), 'GIF89a')
      const click = await get(b.clicks[0] ?? '', { method })
      t.equal(click.status, 302)
      t.equal(click.headers.get('location'), 'https://shop.test/a?b=1&c=2')
      t.equal(click.headers.get('cache-control'), 'no-store')
      t.equal(await click.text(), '')
    }
    const events = await eventually(async () => {
      const rows = await store.read
        .selectFrom('events')
        .select(['type', 'recipient', 'detail'])
        .where('email_id', '=', id)
        .where('type', 'in', ['opened', 'clicked'])
        .orderBy('type', 'desc')
        .orderBy('id')
        .execute()
      return rows.length < 4 ? undefined : rows
    })
    const written = [...statements].filter((text) => /^update "emails".*opens \+/s.test(text))
    t.same(written, [], 'they are recorded where nobody waits for an answer')
    const email = await posthorn.email(id)
    t.match(email, { opensCount: 1, clicksCount: 1, openedAt: /Z$/, clickedAt: /Z$/ })
    t.equal(email.status, 'delivered')
    t.same(
      events.map(({ type, recipient, detail }) => [type, recipient, JSON.parse(detail ?? '').sign]),
      [
        ['opened', 'b@one.test', undefined],
        ['opened', 'b@one.test', 'HEAD'],
        ['clicked', 'b@one.test', undefined],
        ['clicked', 'b@one.test', 'HEAD'],
      ],
    )
  })

  await t.test('an altered link leads nowhere', async (t) => {
    const url = new URL(b.clicks[0] ?? '')
    const token = url.pathname.slice('/c/'.length)
    const pixelToken = new URL(b.pixel).pathname.slice('/o/'.length)
    const wrong = Array.from({ length: 30 }, (_, n) => {
      const at = Math.floor((n * token.length) / 30)
      return `/c/${token.slice(0, at)}${token[at] === 'x' ? 'y' : 'x'}${token.slice(at + 1)}`
    })
    for (const path of [
      ...wrong,
      `/c/${token.slice(0, -1)}`,
      `/c/${token}x`,
      `/c/${token}%0d%0aSet-Cookie:%20a=b`,
      `/c/${pixelToken}`,
      `/c/${pixelToken.replace('.gif', '')}`,
      `/o/${token}.gif`,
      `/o/${pixelToken.replace('.gif', '')}`,
      '/c/https://evil.test/',
    ]) {
      const answer = await get(publicUrl + path)
      t.equal(answer.status, 404, path.slice(0, 50))
      t.equal(answer.headers.get('location'), null)
      await answer.arrayBuffer()
    }
    const page = await (await get(`${publicUrl}/c/abc`)).text()
    t.match(page, 'This link is not complete, or it was not made by this service')
    t.equal((await get(`${publicUrl}/c/${token}`, { method: 'POST' })).status, 405)
  })

  await t.test('readers behind one address are never too many, guessers are', async (t) => {
    const many = (url: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const answer = await get(url)
          await answer.arrayBuffer()
          return answer.status
        }),
      )
    const statuses = await many(c.pixel, 700)
    t.ok(statuses.every((status) => status === 200))
    const guesses = await many(`${publicUrl}/c/guess`, 700)
    t.ok(guesses.includes(429))
    t.equal((await get(c.pixel)).status, 200)
    await get(c.pixel, { headers: { 'sec-purpose': 'prefetch;prerender' } })
    t.match(await posthorn.until(id, ({ opensCount }) => opensCount === 702), {
      opensCount: 702,
    })
  })

  await t.test('links of our own are left alone, whatever the mail is for', async (t) => {
    const own = `<a href="${publicUrl}/unsubscribe/abc">leave</a><a href="https://shop.test/">shop</a>`
    const plans = loadPlans(packageFile('config/plans.toml'))
    const plan = findPlan(plans.marketing, 'Marketing Plus')
    await store.write((tx) => setMarketingPlan(tx, posthorn.accountId, plan))
    const marketing = await send({ type: 'marketing', html: own, to: 'd@one.test' })
    const copy = (await received(posthorn, marketing)).get('d@one.test')
    t.match(copy?.html, `<a href="${publicUrl}/unsubscribe/abc">`)
    t.equal(copy?.clicks.length, 1)
    t.match(copy?.html, /<a href="[^"]+\/unsubscribe\/[\w-]{60,}"/, 'the footer too')
  })

  await t.test('a clean stop loses no hit', async (t) => {
    const before = await posthorn.email(id)
    await Promise.all([get(c.clicks[0] ?? ''), get(c.pixel)])
    await posthorn.appliance.close()
    const row = await store.read
      .selectFrom('emails')
      .select(['opens', 'clicks'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    t.same(row, { opens: before.opensCount + 1, clicks: before.clicksCount + 1 })
  })
})
