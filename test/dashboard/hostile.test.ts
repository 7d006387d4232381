import t from 'tap'
import { mail, startDashboard } from './start.js'

// Each of these would run, or break out of its place, if it were written unescaped.
const payloads = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title><svg onload=alert(1)>',
  '</pre><iframe srcdoc="<script>alert(1)</script>">',
  '<%= process.exit() %>',
  '`-alert(1)-`',
  '--><script>alert(1)</script><!--',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
]

const views = ['html', 'text', 'headers', 'source', 'attachments', 'checks', 'clients', 'links']

t.test('nothing in a mail becomes markup of ours', async (t) => {
  const { receive, get } = await startDashboard(t)
  for (const payload of payloads) {
    const quoted = payload.replace(/["\\]/g, '\\$&')
    const id = await receive(
      mail({
        from: `"${quoted}" <zoe@example.test>`,
        to: payload,
        subject: payload,
        text: payload,
        more: `X-${'Odd'}: ${payload}\r\nDKIM-Signature: v=1; a=${payload}; d=${payload}; s=${payload}; bh=x; b=y; h=from`,
      }),
    )
    for (const path of [
      ...views.map((view) => `/sandbox/${id}?view=${view}`),
      '/sandbox',
      `/sandbox?q=${encodeURIComponent(payload)}`,
    ]) {
      const { status, text } = await get(path)
      t.equal(status, 200)
      const ours = text
        .replace(/<script (?:type="module" )?src="\/static\/[\w.-]+"(?: defer)?><\/script>/g, '')
        .replace(/<span class="mark" aria-hidden="true">.*?<\/span>/s, '')
      t.notMatch(ours, /<script|<svg|<img src=x|srcdoc="|on(?:error|load|mouseover)=['"]/i, path)
      t.ok(ours.includes(escaped(payload)), `${path} shows ${payload}`)
    }
    const json = await get(`/sandbox/${id}.json`)
    t.equal(json.headers.get('content-type'), 'application/json; charset=utf-8')
    t.equal(json.headers.get('x-content-type-options'), 'nosniff')
    t.equal(JSON.parse(json.text).subject, payload)
  }
})

t.test('the source of a mail is never taken for a page', async (t) => {
  const { receive, get } = await startDashboard(t)
  const id = await receive('<html><script>alert(1)</script>\r\n\r\n<script>alert(1)</script>\r\n')
  for (const path of [`/sandbox/${id}/source`, `/sandbox/${id}/download`]) {
    const { headers } = await get(path)
    t.notMatch(headers.get('content-type'), /html/)
    t.equal(headers.get('x-content-type-options'), 'nosniff')
    t.match(headers.get('content-security-policy'), /sandbox/)
  }
})

t.test('a huge mail makes a page of bounded size', async (t) => {
  const { receive, get } = await startDashboard(t)
  const headers = Array.from({ length: 3_000 }, (_, i) => `X-${i}: ${'y'.repeat(200)}`).join('\r\n')
  const recipients = Array.from({ length: 100 }, (_, i) => `r${i}@${'d'.repeat(60)}.test`)
  const text = `${'word '.repeat(15)}\r\n`.repeat(40_000)
  const id = await receive(
    mail({ more: headers, text, subject: 's'.repeat(20_000), html: '<b>'.repeat(100_000) }),
    recipients,
  )
  for (const view of views) {
    const page = await get(`/sandbox/${id}?view=${view}`)
    t.equal(page.status, 200)
    t.ok(page.text.length < 60_000, `${view}: ${page.text.length} characters`)
  }
  const list = await get('/sandbox')
  t.ok(list.text.length < 20_000, `${list.text.length} characters`)
  t.ok((await get(`/sandbox/${id}/html`)).text.length < 2_000_000)
})

t.test('a mail of nothing but tags that never end is looked at as fast as others', async (t) => {
  const { receive, get } = await startDashboard(t)
  const line = '<'.repeat(900)
  const id = await receive(mail({ html: `${line}\r\n`.repeat(1_100) }))
  const { user } = process.cpuUsage()
  for (const view of views) t.equal((await get(`/sandbox/${id}?view=${view}`)).status, 200)
  // Each view took nine seconds, for 5,000 steps at each of a million '<'.
  const seconds = (process.cpuUsage().user - user) / 1e6
  t.ok(seconds < 20, `${seconds} s`)
})

t.test('mails without structure still have their page', async (t) => {
  const { receive, get } = await startDashboard(t)
  for (const raw of [
    '\r\n',
    'no header at all\r\n',
    'Subject:\r\n\r\n',
    Buffer.from([0x46, 0x3a, 0xff, 0xfe, 0x00, 0x0d, 0x0a, 0x0d, 0x0a, 0x80, 0x0d, 0x0a]),
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n'.repeat(500)}`,
  ]) {
    const id = await receive(raw)
    for (const view of views) t.equal((await get(`/sandbox/${id}?view=${view}`)).status, 200)
    t.equal((await get(`/sandbox/${id}/checks.json`)).status, 200)
    t.equal((await get(`/sandbox/${id}/html`)).status, 200)
    t.equal((await get('/sandbox')).status, 200)
  }
})

/** As pages escape. */
function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
