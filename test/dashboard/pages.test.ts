import t from 'tap'
import { mail, startDashboard } from './start.js'

t.test('the front page says that it runs and leads to the inbox', async (t) => {
  const { get } = await startDashboard(t)
  const { status, headers, text } = await get('/')
  t.equal(status, 200)
  t.match(headers.get('content-security-policy'), /default-src 'self'/)
  t.match(text, /Posthorn is running/)
  t.match(text, /href="\/sandbox"/)
  t.match(text, /0 messages/)
})

t.test('the front page tells of mail that is held back', async (t) => {
  const { get, store } = await startDashboard(t)
  t.notMatch((await get('/')).text, /Held back/)
  const row = { email_id: 'e', account_id: 'a', lane: 'one.test', class: 0 as const, due_at: 1 }
  const rest = { lease: null, attempts: 0, expires_at: 2, last_attempt_at: null, last_reply: null }
  const queued = (id: number) => ({
    id,
    recipient: `r${id}@one.test`,
    ...row,
    ...rest,
    last_transcript: null,
    held_at: id === 1 ? 1 : null,
  })
  const add = (ids: number[]) =>
    store.write((tx) => tx.insertInto('queue').values(ids.map(queued)).execute())
  await add([1, 2])
  const { text } = await get('/')
  t.match(text, /Held back: 1 mail\. .+<code>posthorn queue held<\/code>/)
  t.match(text, /2 mails/, 'it waits too')
  await add(Array.from({ length: 1_000 }, (_, more) => more + 3))
  t.match((await get('/')).text, 'more than 1,000 mails', 'anybody may ask: it is not counted on')
})

t.test('outside sandbox mode there is no inbox', async (t) => {
  const { get } = await startDashboard(t, { sandbox: false })
  const home = await get('/')
  t.equal(home.status, 200)
  t.notMatch(home.text, /\/sandbox/)
  t.equal((await get('/sandbox')).status, 404)
  t.equal((await get('/sandbox.json')).status, 404)
})

t.test('style, script and icon come from the package', async (t) => {
  const { get } = await startDashboard(t)
  for (const [path, type] of [
    ['/static/posthorn.css', 'text/css; charset=utf-8'],
    ['/static/refresh.js', 'text/javascript; charset=utf-8'],
    ['/static/icon.svg', 'image/svg+xml'],
  ] as const) {
    const { status, headers, text } = await get(path)
    t.equal(status, 200)
    t.equal(headers.get('content-type'), type)
    t.ok(text.length > 100)
  }
  t.equal((await get('/static/..%2froutes.ts')).status, 404)
})

t.test('an empty inbox shows how to send a first mail from a verified domain', async (t) => {
  const { store, get, url } = await startDashboard(t)
  t.match((await get('/sandbox')).text, /hello@your-domain\.example/)
  await store.write(async (tx) => {
    const row = { id: 'a', name: 'Shop', created_at: 0 }
    await tx.insertInto('accounts').values(row).execute()
    await tx
      .insertInto('domains')
      .values({
        id: 'd',
        account_id: 'a',
        name: 'shop.test',
        status: 'verified',
        trusted: 1,
        return_path: 0,
        created_at: 0,
        verified_at: 0,
        checked_at: null,
      })
      .execute()
  })
  const { text } = await get('/sandbox')
  t.match(text, /No mail yet/)
  t.match(text, `curl ${url}/v1/emails/send`)
  t.match(text, /hello@shop\.test/)
})

t.test('the list has sender, recipients, subject, times and verdicts, newest first', async (t) => {
  const { receive, get } = await startDashboard(t)
  await receive(mail({ subject: 'First' }))
  const id = await receive(
    mail({ from: '=?utf-8?q?Zo=C3=AB?= <zoe@example.test>', subject: '=?utf-8?b?R3LDvMOfZQ==?=' }),
    ['a@x.test', 'b@x.test', 'c@x.test', 'd@x.test', 'e@x.test'],
  )
  const { text } = await get('/sandbox')
  t.match(text, /2 messages/)
  t.match(text, /Zoë &lt;zoe@example\.test&gt;/)
  t.match(text, 'Grüße')
  t.match(text, `href="/sandbox/${id}"`)
  t.match(text, /to a@x\.test, b@x\.test, c@x\.test and 2 more/)
  t.match(text, /<time datetime="\d{4}-\d\d-\d\dT[^"]+Z" title="[^"]+UTC">just now<\/time>/)
  t.match(text, /<b>DKIM<\/b> none/)
  t.match(text, /<b>SPF<\/b> none/)
  t.ok(text.indexOf('Grüße') < text.indexOf('First'))
})

t.test('a long list goes on from page to page, and searching it finds', async (t) => {
  const { store, get } = await startDashboard(t)
  await store.write(async (tx) => {
    for (let id = 1; id <= 120; id++) {
      await tx
        .insertInto('sandbox_messages')
        .values({
          id,
          received_at: id,
          mail_from: '',
          rcpt_to: '["a@b.test"]',
          subject: `Number ${id}.`,
          header_from: 'x@y.test',
          remote_address: '127.0.0.1',
          helo: 'here',
          tls: 0,
          size_bytes: 1,
          verdicts: null,
        })
        .execute()
    }
  })
  const first = await get('/sandbox')
  t.match(first.text, /120 messages/)
  t.match(first.text, /Number 120\./)
  t.match(first.text, /Number 71\./)
  t.notMatch(first.text, /Number 70\./)
  t.match(first.text, /checking…/)
  t.match(first.text, 'href="/sandbox?before=71"')
  const last = await get('/sandbox?before=21')
  t.match(last.text, /Number 20\./)
  t.match(last.text, /Number 1\./)
  t.notMatch(last.text, />Older</)
  t.match(last.text, '<a class="button" href="/sandbox">Newest</a>')

  const found = await get('/sandbox?q=Number+7')
  t.match(found.text, /11 messages match/)
  t.match(found.text, /Number 7\./)
  t.notMatch(found.text, /Number 8\./)
  t.match((await get('/sandbox?q=%25')).text, /Nothing found/)

  const json = JSON.parse((await get('/sandbox.json?limit=2&before=100')).text)
  t.same(
    json.messages.map(({ id }: { id: number }) => id),
    [99, 98],
  )
  t.equal(json.nextBefore, 98)
  t.equal(JSON.parse((await get('/sandbox.json?limit=9999&q=Number+12')).text).nextBefore, null)
})

t.test('what an address asks for and cannot be read changes nothing', async (t) => {
  const { receive, get } = await startDashboard(t)
  await receive(mail({}))
  for (const query of [
    'before=x',
    'before=-1',
    'before=99999999999999999999',
    'q=%00',
    'limit=0',
  ]) {
    t.equal((await get(`/sandbox?${query}`)).status, 200, query)
    t.equal((await get(`/sandbox.json?${query}`)).status, 200, query)
  }
})

t.test('a message shows its HTML, and its source byte by byte', async (t) => {
  const { receive, get } = await startDashboard(t)
  const raw = mail({ subject: 'Parts', text: 'Only <text>', html: '<p>Only html</p>' })
  const id = await receive(raw)
  const { status, text } = await get(`/sandbox/${id}`)
  t.equal(status, 200)
  t.match(text, /<h1>Parts<\/h1>/)
  t.match(text, `src="/sandbox/${id}/html" sandbox="allow-popups allow-popups-to-escape-sandbox"`)
  t.notMatch(text, /refresh\.js/)

  const source = await get(`/sandbox/${id}/source`)
  t.equal(source.headers.get('content-type'), 'text/plain; charset=utf-8')
  // The line end before the final dot belongs to the mail (RFC 5321 §4.1.1.4).
  t.equal(source.text, `${raw}\r\n`)
  const download = await get(`/sandbox/${id}/download`)
  t.equal(download.headers.get('content-disposition'), `attachment; filename="message-${id}.eml"`)
  t.equal(download.text, source.text)

  const json = JSON.parse((await get(`/sandbox/${id}.json`)).text)
  t.match(json, {
    id,
    from: 'Zoe <zoe@example.test>',
    subject: 'Parts',
    text: /Only <text>/,
    html: /Only html/,
    attachments: [],
    incomplete: null,
    verdicts: { dkim: [{ result: 'none' }], spf: { result: 'none' }, dmarc: { result: 'none' } },
  })
  const list = JSON.parse((await get('/sandbox.json')).text)
  t.match(list.messages, [{ id, subject: 'Parts', receivedAt: /^\d{4}-.*Z$/ }])
})

t.test('an attachment is saved from the page, whatever it says it is', async (t) => {
  const { receive, get } = await startDashboard(t)
  const part = (type: string, name: string) =>
    `--b\r\nContent-Type: ${type}\r\nContent-Disposition: attachment; filename="${name}"\r\n\r\n<script>alert(1)</script>\r\n`
  const id = await receive(
    'Subject: Files\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n' +
      part('text/html', '../a";b<i>.html') +
      part('image/svg+xml', '=?utf-8?q?r=C3=A9sum=C3=A9.svg?=') +
      `${part('text/html; x=y', '')}--b--\r\n`,
  )
  const page = await get(`/sandbox/${id}?view=attachments`)
  t.match(page.text, `href="/sandbox/${id}/attachments/1" download>résumé.svg</a>`)
  t.notMatch(page.text, '<i>')
  for (const [index, name] of [
    'attachment',
    "filename*=UTF-8''r%C3%A9sum%C3%A9.svg",
    'unnamed',
  ].entries()) {
    const { status, headers, text } = await get(`/sandbox/${id}/attachments/${index}`)
    t.equal(status, 200)
    t.match(text, '<script>alert(1)</script>')
    t.equal(headers.get('content-type'), 'application/octet-stream')
    t.equal(headers.get('cross-origin-resource-policy'), 'same-origin')
    t.equal(headers.get('x-content-type-options'), 'nosniff')
    t.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox")
    const disposition = headers.get('content-disposition') ?? ''
    t.match(disposition, /^attachment; filename="[\w. -]+"; filename\*=UTF-8''[\w.%-]+$/)
    t.match(disposition, name)
    t.notMatch(disposition, '..')
  }
})

t.test('the HTML is served for a frame that runs nothing and loads nothing', async (t) => {
  const { receive, get } = await startDashboard(t)
  const id = await receive(mail({ html: '<p>Hi</p><link rel=preconnect href=//a.test>' }))
  const { headers, text } = await get(`/sandbox/${id}/html`)
  t.match(text, '<x-link rel=preconnect')
  const policy = headers.get('content-security-policy') ?? ''
  t.match(policy, /^default-src 'none'; style-src 'unsafe-inline'; img-src data:/)
  t.match(policy, /; sandbox allow-popups allow-popups-to-escape-sandbox$/)
  t.notMatch(policy, /allow-scripts|allow-same-origin|allow-forms/)
  t.equal(headers.get('x-content-type-options'), 'nosniff')
  t.match(
    text,
    /^<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><base target="_blank"><p>Hi<\/p>/,
  )
})

t.test('a message still being checked says so and looks again', async (t) => {
  const { receive, store, get } = await startDashboard(t)
  const id = await receive(mail({}))
  await store.write((tx) => tx.updateTable('sandbox_messages').set({ verdicts: null }).execute())
  const { text } = await get(`/sandbox/${id}?view=checks`)
  t.match(text, /The checks are under way/)
  t.match(text, /refresh\.js/)
  t.equal(JSON.parse((await get(`/sandbox/${id}.json`)).text).verdicts, null)
})

t.test('a message that is not there is a page not found', async (t) => {
  const { get } = await startDashboard(t)
  const paths = ['/sandbox/1', '/sandbox/x', '/sandbox/1.json', '/sandbox/99999999999999999999']
  for (const path of [...paths, '/sandbox/1/html', '/sandbox/1/source', '/sandbox/-1/download']) {
    t.equal((await get(path)).status, 404, path)
  }
})

t.test('only our own page can clear the inbox', async (t) => {
  const { receive, sandbox, url, get } = await startDashboard(t)
  await receive(mail({}))
  const clear = (headers: Record<string, string>) =>
    fetch(`${url}/sandbox/clear`, { method: 'POST', headers, redirect: 'manual' })
  t.equal((await clear({ 'sec-fetch-site': 'cross-site' })).status, 403)
  t.equal((await clear({ 'sec-fetch-site': 'same-site' })).status, 403)
  t.equal((await clear({ origin: 'https://evil.test' })).status, 403)
  t.equal((await get('/sandbox/clear')).status, 405)
  t.equal((await sandbox.checked(1)).length, 1)

  const done = await clear({ 'sec-fetch-site': 'same-origin', origin: url })
  t.equal(done.status, 303)
  t.equal(done.headers.get('location'), '/sandbox')
  t.match((await get('/sandbox')).text, /No mail yet/)
})
